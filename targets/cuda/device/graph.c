/* Makes the graph of a piece. A launch waits for those before it that it has to follow: where both use the same bytes
 * of memory, and one of them writes there. What does not wait may run at once, so that branches of a model that do not
 * need each other do. Memory is compared as it lies there: where the arena gives two branches the same place, one of
 * them waits.
 *
 * Launches are walked in their order. `behind` has for each launch a bit for each one before it that ends before it
 * begins, so that it waits only for those that nothing else makes it wait for. */
#include "device.h"
#include <stdlib.h>
#include <string.h>

/* What is known of the piece while its graph is made. */
typedef struct Maker {
  ingot_cuda *gpu;
  size_t count, words; /* launches, and words of 64 bits that have a bit for each */
  ingot_cuda_record *launches;
  char **arguments; /* of each launch */
  uint64_t *behind; /* for each launch, `words` of them */
  cuda_graph_node *nodes, *after;
  cuda_graph graph;
} Maker;

/* Returns argument `i` of a launch, an address. */
static uint64_t addressOf(const Maker *made, size_t launch, uint64_t i) {
  uint64_t address;
  memcpy(&address, made->arguments[launch] + 8 * i, sizeof address);
  return address;
}

/* Whether the later of two launches has to wait for the other one. */
static int mustFollow(const Maker *made, size_t earlier, size_t later) {
  const uint64_t *a = made->launches[earlier].uses, *b = made->launches[later].uses;
  if (!a || !b || 8 * a[0] > made->launches[earlier].argumentBytes || 8 * b[0] > made->launches[later].argumentBytes) {
    return 1;
  }
  for (uint64_t i = 1; i <= a[0]; ++i) {
    for (uint64_t k = 1; k <= b[0]; ++k) {
      uint64_t beginA = addressOf(made, earlier, i - 1), beginB = addressOf(made, later, k - 1);
      /* Differences, since the end of what has no known size is none. */
      uint64_t bytesA = a[i] / 2, bytesB = b[k] / 2;
      int overlap = beginA < beginB ? beginB - beginA < bytesA : beginA - beginB < bytesB;
      if (overlap && ((a[i] | b[k]) & 1)) {
        return 1;
      }
    }
  }
  return 0;
}

static int addLaunch(Maker *made, size_t number) {
  uint64_t *behind = made->behind + number * made->words;
  size_t waits = 0;
  for (size_t before = number; before-- > 0;) {
    if (!(behind[before / 64] >> before % 64 & 1) && mustFollow(made, before, number)) {
      made->after[waits++] = made->nodes[before];
      behind[before / 64] |= (uint64_t)1 << before % 64;
      for (size_t i = 0; i < made->words; ++i) {
        behind[i] |= made->behind[before * made->words + i];
      }
    }
  }
  const ingot_cuda_record *launch = &made->launches[number];
  size_t bytes = launch->argumentBytes;
  void *extra[] = {(void *)CUDA_ARGUMENTS, made->arguments[number], (void *)CUDA_ARGUMENT_BYTES, &bytes,
                   (void *)CUDA_ARGUMENTS_END};
  cuda_kernel_node node = {launch->function,
                           {launch->grid[0], launch->grid[1], launch->grid[2]},
                           {launch->block[0], launch->block[1], launch->block[2]},
                           launch->sharedBytes,
                           NULL,
                           extra};
  const cuda_driver *driver = &made->gpu->driver;
  return ingot_cuda_check(made->gpu, "a launch cannot be put into a graph",
                          driver->graphAddKernel(&made->nodes[number], made->graph, made->after, waits, &node));
}

/* Finds the launches in the records. */
static void readRecords(Maker *made, const ingot_cuda_piece *piece) {
  char *at = piece->records;
  for (size_t i = 0; i < made->count; ++i) {
    memcpy(&made->launches[i], at, sizeof *made->launches);
    made->arguments[i] = at + sizeof *made->launches;
    at = made->arguments[i] + made->launches[i].argumentBytes;
  }
}

int ingot_cuda_make_graph(ingot_cuda *gpu, ingot_cuda_piece *piece) {
  size_t count = (size_t)piece->launches, words = (count + 63) / 64;
  Maker made = {gpu,
                count,
                words,
                malloc(count * sizeof *made.launches),
                malloc(count * sizeof *made.arguments),
                calloc(count * words, sizeof *made.behind),
                calloc(count, sizeof *made.nodes),
                malloc(count * sizeof *made.after),
                NULL};
  int status = 0;
  if (!made.launches || !made.arguments || !made.behind || !made.nodes || !made.after) {
    status = ingot_cuda_fail(gpu, "the host has no memory left for a graph of %d launches", piece->launches);
  } else {
    readRecords(&made, piece);
    status = ingot_cuda_check(gpu, "no graph can be made", gpu->driver.graphCreate(&made.graph, 0));
  }
  for (size_t i = 0; !status && i < count; ++i) {
    status = addLaunch(&made, i);
  }
  status = status ? status
                  : ingot_cuda_check(gpu, "a graph cannot be made ready",
                                     gpu->driver.graphInstantiate(&piece->graph, made.graph, 0));
  if (made.graph) {
    cuda_result destroyed = gpu->driver.graphDestroy(made.graph);
    status = status ? status : ingot_cuda_check(gpu, "a graph cannot be destroyed", destroyed);
  }
  free(made.launches);
  free(made.arguments);
  free(made.behind);
  free(made.nodes);
  free(made.after);
  return status;
}
