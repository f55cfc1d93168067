/* Launches. A model's run launches the same kernels with the same arguments each time, as long as its sizes and memory
 * are the same. Launches between two copies or waits are a piece. The first time each goes to the driver at once. What
 * begins like a piece that has been before is held back until it ends: where it was that piece all along, a graph of it
 * is launched (made the second time); where it goes on differently, what was held back goes to the driver one by one,
 * and so does the rest.
 *
 *   bytes of `now`  |  issued: the driver knows  |  held back, equal to the beginning of each of `candidates`  |
 */
#include "device.h"
#include <stdlib.h>
#include <string.h>

static size_t bytesOf(const ingot_cuda_record *launch) { return sizeof *launch + launch->argumentBytes; }

static int issue(ingot_cuda *gpu, char *at) {
  ingot_cuda_record launch;
  memcpy(&launch, at, sizeof launch);
  size_t bytes = launch.argumentBytes;
  /* Parameters lie at multiples of their sizes, which are 8 bytes, but for some of 4: each begins with its word. */
  void *arguments[] = {(void *)CUDA_ARGUMENTS, at + sizeof launch, (void *)CUDA_ARGUMENT_BYTES, &bytes,
                       (void *)CUDA_ARGUMENTS_END};
  return ingot_cuda_check(gpu, "a kernel cannot be launched",
                          gpu->driver.launch(launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                             launch.block[0], launch.block[1], launch.block[2], launch.sharedBytes,
                                             gpu->stream, NULL, arguments));
}

/* Issues what has been held back. */
static int issueHeld(ingot_cuda *gpu) {
  int status = 0;
  for (ingot_cuda_record launch; !status && gpu->issued < gpu->now.bytes; gpu->issued += bytesOf(&launch)) {
    memcpy(&launch, gpu->now.records + gpu->issued, sizeof launch);
    status = issue(gpu, gpu->now.records + gpu->issued);
  }
  gpu->issued = gpu->now.bytes;
  return status;
}

static int append(ingot_cuda *gpu, const ingot_cuda_record *launch, const void *args) {
  ingot_cuda_piece *now = &gpu->now;
  size_t bytes = bytesOf(launch);
  if (now->bytes + bytes > now->room) {
    size_t room = 2 * (now->bytes + bytes);
    char *larger = realloc(now->records, room);
    if (!larger) {
      return ingot_cuda_fail(gpu, "the host has no memory left for a launch");
    }
    now->records = larger;
    now->room = room;
  }
  memcpy(now->records + now->bytes, launch, sizeof *launch);
  memcpy(now->records + now->bytes + sizeof *launch, args, bytes - sizeof *launch);
  now->bytes += bytes;
  ++now->launches;
  return 0;
}

/* Drops the candidates that differ from the piece behind byte `from`. */
static void compare(ingot_cuda *gpu, size_t from) {
  const ingot_cuda_piece *now = &gpu->now;
  for (int i = 0; i < INGOT_CUDA_MOST_PIECES; ++i) {
    const ingot_cuda_piece *piece = &gpu->pieces[i];
    if ((gpu->candidates >> i & 1) &&
        (piece->bytes < now->bytes || memcmp(piece->records + from, now->records + from, now->bytes - from) != 0)) {
      gpu->candidates &= ~((uint64_t)1 << i);
    }
  }
}

static int launchRecord(ingot_cuda *gpu, const ingot_cuda_record *launch, const void *args) {
  ingot_cuda_piece *now = &gpu->now;
  if (now->bytes == 0) {
    gpu->candidates = gpu->flags & INGOT_CUDA_NO_GRAPHS ? 0 : ~(uint64_t)0;
  } else if (now->bytes + bytesOf(launch) > INGOT_CUDA_MOST_PIECE_BYTES) {
    int status = ingot_cuda_flush(gpu); /* what follows is a piece of its own */
    return status ? status : launchRecord(gpu, launch, args);
  }
  size_t from = now->bytes;
  int status = append(gpu, launch, args);
  if (status) {
    return status;
  }
  compare(gpu, from);
  if (gpu->candidates) {
    return 0;
  }
  status = ingot_cuda_enter(gpu);
  return status ? status : ingot_cuda_leave(gpu, issueHeld(gpu));
}

int ingot_cuda_launch(void *context, const ingot_launch *launch) {
  ingot_cuda *gpu = context;
  enum { MOST_X = 0x7fffffff, MOST_YZ = 0xffff };
  const ingot_cuda_code *code = launch->code;
  const int32_t *threads = launch->kernel->threads;
  int64_t x = launch->blocks[0], y = launch->blocks[1], z = launch->blocks[2];
  int areItems = threads[0] == 0;
  if (areItems) {
    x = (x + INGOT_CUDA_ITEM_THREADS - 1) / INGOT_CUDA_ITEM_THREADS;
  }
  if (x > MOST_X || y > MOST_YZ || z > MOST_YZ) {
    return ingot_cuda_fail(gpu, "kernel %s would have %lld x %lld x %lld blocks, and a launch takes %d x %d x %d",
                           launch->kernel->name, (long long)x, (long long)y, (long long)z, MOST_X, MOST_YZ, MOST_YZ);
  }
  if (launch->bytes > INGOT_CUDA_MOST_ARGUMENT_BYTES) {
    return ingot_cuda_fail(gpu, "kernel %s has %lld bytes of arguments, and a launch takes %d", launch->kernel->name,
                           (long long)launch->bytes, INGOT_CUDA_MOST_ARGUMENT_BYTES);
  }
  ingot_cuda_record record = {code->functions[launch->number].function,
                              code->functions[launch->number].uses,
                              (size_t)launch->bytes,
                              {(uint32_t)x, (uint32_t)y, (uint32_t)z},
                              {areItems ? INGOT_CUDA_ITEM_THREADS : (uint32_t)threads[0],
                               areItems ? 1 : (uint32_t)threads[1], areItems ? 1 : (uint32_t)threads[2]},
                              (uint32_t)launch->kernel->shared_bytes,
                              0};
  return launchRecord(gpu, &record, launch->args);
}

static int forget(ingot_cuda *gpu, ingot_cuda_piece *piece) {
  int status = 0;
  if (piece->graph) { /* it may be running */
    status = ingot_cuda_check(gpu, "work of the GPU failed", gpu->driver.streamSynchronize(gpu->stream));
    int destroyed = ingot_cuda_check(gpu, "a graph cannot be destroyed", gpu->driver.graphExecDestroy(piece->graph));
    status = status ? status : destroyed;
  }
  free(piece->records);
  memset(piece, 0, sizeof *piece);
  return status;
}

/* Remembers the piece that has ended, in the place of the one that was not used for the longest time. */
static int remember(ingot_cuda *gpu) {
  ingot_cuda_piece *oldest = &gpu->pieces[0];
  for (int i = 1; i < INGOT_CUDA_MOST_PIECES; ++i) {
    oldest = gpu->pieces[i].used < oldest->used ? &gpu->pieces[i] : oldest;
  }
  int status = forget(gpu, oldest);
  if (!status) {
    *oldest = gpu->now;
    oldest->used = ++gpu->clock;
    memset(&gpu->now, 0, sizeof gpu->now);
  }
  return status;
}

/* Launches the piece that has ended: as a graph, or what of it has been held back. */
static int end(ingot_cuda *gpu) {
  for (int i = 0; i < INGOT_CUDA_MOST_PIECES; ++i) {
    ingot_cuda_piece *piece = &gpu->pieces[i];
    if ((gpu->candidates >> i & 1) && piece->bytes == gpu->now.bytes) {
      piece->used = ++gpu->clock;
      int status = piece->graph ? 0 : ingot_cuda_make_graph(gpu, piece);
      return status ? status
                    : ingot_cuda_check(gpu, "a graph cannot be launched",
                                       gpu->driver.graphLaunch(piece->graph, gpu->stream));
    }
  }
  int status = issueHeld(gpu);
  /* A graph of one launch would gain nothing. */
  if (!status && !(gpu->flags & INGOT_CUDA_NO_GRAPHS) && gpu->now.launches > 1) {
    status = remember(gpu);
  }
  return status;
}

int ingot_cuda_flush(ingot_cuda *gpu) {
  int status = gpu->now.bytes ? ingot_cuda_enter(gpu) : 0;
  if (!status && gpu->now.bytes) {
    status = ingot_cuda_leave(gpu, end(gpu));
  }
  gpu->now.bytes = gpu->issued = 0;
  gpu->now.launches = 0;
  return status;
}

void ingot_cuda_release_pieces(ingot_cuda *gpu) {
  for (int i = 0; i < INGOT_CUDA_MOST_PIECES; ++i) {
    (void)forget(gpu, &gpu->pieces[i]);
  }
  free(gpu->now.records);
  memset(&gpu->now, 0, sizeof gpu->now);
}
