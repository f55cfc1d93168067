// How fast AMX multiplies tiles of bfloat16 that are zero, and tiles that are not, as six products of a split float32
// factor need them: measured in bench/notebook.md, "Split floats".
//
//   clang-22 -O2 -march=sapphirerapids bench/tile_rate.c -o /tmp/tile_rate && taskset -c 1 /tmp/tile_rate
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { steps = 24, parts = 3, tile = 1024, rowBytes = (steps * 64 * parts) | 64 };
static char left[32 * rowBytes] __attribute__((aligned(64))),
    right[steps * parts * 2 * tile] __attribute__((aligned(64)));
static char sums[tile] __attribute__((aligned(64)));

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A block of two by two tiles of sums, in the order of TileBlock::step.
static void block(void) {
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3);
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < parts; ++i) {
      const char *rows = left + 64 * (i * steps + step);
      _tile_loadd(4, rows, rowBytes);
      _tile_loadd(5, rows + 16 * rowBytes, rowBytes);
      for (int j = 0; i + j < parts; ++j) {
        const char *columns = right + 2 * tile * (parts * step + j);
        _tile_loadd(6, columns, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(2, 5, 6);
        _tile_loadd(7, columns + tile, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(3, 5, 7);
      }
    }
    if (step % 2) { // tile_store.c says why
      _tile_stored(7, sums, 64);
    }
  }
}

static void measure(const char *what) {
  double best = 1;
  enum { blocks = 2000 };
  for (int round = 0; round < 9; ++round) {
    double begin = seconds();
    for (int i = 0; i < blocks; ++i) {
      block();
    }
    double each = (seconds() - begin) / (blocks * steps * parts * (parts + 1) / 2 * 4);
    best = each < best ? each : best;
  }
  printf("%-8s %.1f ns for a product of tiles: %.0f GFLOP/s of float32\n", what, 1e9 * best,
         2e-9 * 16 * 16 * 32 / (best * parts * (parts + 1) / 2));
}

int main(void) {
  syscall(SYS_arch_prctl, 0x1023, 18);
  struct {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } sizes = {.palette = 1};
  for (int i = 0; i < 8; ++i) {
    sizes.bytes[i] = 64, sizes.rows[i] = 16;
  }
  _tile_loadconfig(&sizes);
  measure("zeros");
  for (size_t i = 0; i < sizeof left + sizeof right; i += 2) {
    float value = (float)rand() / (float)RAND_MAX - 0.5F;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t half = (uint16_t)(bits >> 16);
    memcpy(i < sizeof left ? left + i : right + (i - sizeof left), &half, sizeof half);
  }
  measure("numbers");
  _tile_release();
  return 0;
}
