/* What the machine can do at most, one thread: multiplications and additions from registers, and bytes read from each
 * level of its memory. The other half of a roofline (bench/pictures.py).
 *
 *     cc -O2 -march=native -ffp-contract=fast bench/machine.c -o machine && ./machine > machine.json
 *
 * GFLOP/s: twelve independent sums, so that the latency of an fma is hidden. GB/s: sums over as many bytes as fit a
 * level, eight streams of one array each. Each figure is the best of many short runs: what others on the machine take
 * away is not counted. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
typedef float vector __attribute__((vector_size(WIDTH)));
enum { LANES = WIDTH / 4, SUMS = 12 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile float keep; /* what would otherwise not be computed */

static double gflops(void) {
  double best = 1e9;
  const int turns = 20000;
  for (int attempt = 0; attempt < 200; ++attempt) {
    vector sums[SUMS], a, b;
    for (int k = 0; k < LANES; ++k) {
      a[k] = 0.999f + keep, b[k] = 1e-6f;
    }
    for (int i = 0; i < SUMS; ++i) {
      sums[i] = b * (float)i;
    }
    double begin = now();
    for (int turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
      for (int i = 0; i < SUMS; ++i) {
        sums[i] = sums[i] * a + b;
      }
      __asm__ volatile("" ::: "memory");
    }
    double seconds = now() - begin;
    best = seconds < best ? seconds : best;
    for (int i = 0; i < SUMS; ++i) {
      keep = sums[i][0] * 0;
    }
  }
  return 2e-9 * LANES * SUMS * turns / best;
}

static double gbytes(const char *memory, size_t bytes) {
  enum { STREAMS = 8 };
  size_t part = bytes / STREAMS / WIDTH * WIDTH, repeats = ((size_t)1 << 24) / bytes + 1;
  double best = 1e9, end = now() + 0.5;
  while (now() < end) {
    vector sums[STREAMS] = {0};
    double begin = now();
    for (size_t repeat = 0; repeat < repeats; ++repeat) {
      for (size_t at = 0; at < part; at += WIDTH) {
#pragma GCC unroll 8
        for (size_t stream = 0; stream < STREAMS; ++stream) {
          sums[stream] += *(const vector *)(memory + stream * part + at);
        }
      }
      __asm__ volatile("" ::: "memory");
    }
    double seconds = now() - begin;
    best = seconds < best ? seconds : best;
    for (int i = 0; i < STREAMS; ++i) {
      keep = sums[i][0] * 0;
    }
  }
  return 1e-9 * (double)(part * STREAMS * repeats) / best;
}

/* Of a data cache, from Linux; 0 where it does not say. */
static size_t cacheBytes(int level) {
  for (int index = 0; index < 8; ++index) {
    char path[128], type[32] = "";
    int found = 0;
    long kilobytes = 0;
    const char *names[] = {"level", "type", "size"};
    for (int i = 0; i < 3; ++i) {
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, names[i]);
      FILE *file = fopen(path, "r");
      if (!file) {
        return 0;
      }
      int read = i == 0   ? fscanf(file, "%d", &found)
                 : i == 1 ? fscanf(file, "%31s", type)
                          : fscanf(file, "%ldK", &kilobytes);
      fclose(file);
      if (read != 1) {
        return 0;
      }
    }
    if (found == level && type[0] != 'I') {
      return (size_t)kilobytes * 1024;
    }
  }
  return 0;
}

int main(void) {
  size_t most = (size_t)256 << 20;
  char *memory = aligned_alloc(4096, most);
  if (!memory) {
    return 1;
  }
  for (size_t i = 0; i < most; ++i) {
    memory[i] = 0;
  }
  printf("{\"gflops\": %.1f, \"levels\": [", gflops());
  for (int level = 1; level <= 3; ++level) {
    size_t bytes = cacheBytes(level);
    if (bytes) { /* half of it: other data and the other half of a shared one are there, too */
      printf("{\"name\": \"L%d\", \"bytes\": %zu, \"gbytes\": %.1f}, ", level, bytes,
             gbytes(memory, bytes / 2 < most ? bytes / 2 : most));
    }
  }
  printf("{\"name\": \"DRAM\", \"bytes\": 0, \"gbytes\": %.1f}]}\n", gbytes(memory, most));
  free(memory);
  return 0;
}
