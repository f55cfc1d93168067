// What a store of an AMX tile takes some time after the last one: measured in bench/notebook.md, "Matrix
// registers".
//
//   clang-22 -O2 -march=sapphirerapids bench/tile_store.c -o /tmp/tile_store && taskset -c 1 /tmp/tile_store
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static char rows[16 * 64] __attribute__((aligned(64)));

// Returns the ticks of the time stamp counter, with nothing before or behind it under way.
static uint64_t ticks(void) {
  _mm_lfence();
  uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
}

int main(void) {
  enum { requestPermission = 0x1023, tileData = 18, rounds = 2000, unmeasured = 100 };
  if (syscall(SYS_arch_prctl, requestPermission, tileData)) {
    puts("no AMX");
    return 1;
  }
  struct {
    uint8_t palette, start, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } config = {1, 0, {0}, {64, 64}, {16, 16}};
  _tile_loadconfig(&config);
  for (int between = 25; between <= 400; between *= 2) {
    uint64_t waited = 0, stored = 0;
    for (int i = 0; i < rounds; ++i) {
      uint64_t begin = ticks();
      for (int k = 0; k < between; ++k) {
        _tile_loadd(1, rows, 64);
      }
      uint64_t loaded = ticks();
      _tile_stored(0, rows, 64);
      uint64_t end = ticks();
      waited += i < unmeasured ? 0 : loaded - begin, stored += i < unmeasured ? 0 : end - loaded;
    }
    printf("%4d loads of tiles: %5.0f ticks, then a store: %4.0f\n", between, (double)waited / (rounds - unmeasured),
           (double)stored / (rounds - unmeasured));
  }
  _tile_release();
}
