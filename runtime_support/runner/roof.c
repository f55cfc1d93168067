/* Measures what a thread can do. For multiplications it has twelve sums that do not depend on each other, so that
 * the latency of a multiply-add is hidden. For bytes it sums over an array, in eight streams. */
#include "roof.h"

enum { STREAMS = 8 };

static volatile float kept; /* results are stored here, or the compiler would not compute them */

#define LOOPS(name, width, features)                                                                                   \
  typedef float vector_##name __attribute__((vector_size(width), may_alias));                                          \
  features static void multiply_##name(int64_t iterations) {                                                           \
    vector_##name sums[ingot_roof_sums], a = {0}, b = {0};                                                             \
    a += 0.999f + kept, b += 1e-6f;                                                                                    \
    for (int i = 0; i < ingot_roof_sums; ++i) {                                                                        \
      sums[i] = b * (float)i;                                                                                          \
    }                                                                                                                  \
    for (int64_t iteration = 0; iteration < iterations; ++iteration) {                                                 \
      UNROLLED                                                                                                         \
      for (int i = 0; i < ingot_roof_sums; ++i) {                                                                      \
        sums[i] = sums[i] * a + b;                                                                                     \
      }                                                                                                                \
      __asm__ volatile("" ::: "memory");                                                                               \
    }                                                                                                                  \
    for (int i = 1; i < ingot_roof_sums; ++i) {                                                                        \
      sums[0] += sums[i];                                                                                              \
    }                                                                                                                  \
    kept = sums[0][0] * 0;                                                                                             \
  }                                                                                                                    \
  features static void read_##name(const char *memory, size_t bytes) {                                                 \
    vector_##name sums[STREAMS] = {{0}};                                                                               \
    size_t part = bytes / STREAMS / width * width;                                                                     \
    for (size_t at = 0; at < part; at += width) {                                                                      \
      UNROLLED                                                                                                         \
      for (size_t i = 0; i < STREAMS; ++i) {                                                                           \
        sums[i] += *(const vector_##name *)(const void *)(memory + i * part + at);                                     \
      }                                                                                                                \
    }                                                                                                                  \
    __asm__ volatile("" ::: "memory");                                                                                 \
    for (int i = 1; i < STREAMS; ++i) {                                                                                \
      sums[0] += sums[i];                                                                                              \
    }                                                                                                                  \
    kept = sums[0][0] * 0;                                                                                             \
  }

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

LOOPS(4, 16, )
#if defined(__x86_64__)
LOOPS(8, 32, __attribute__((target("avx2,fma"))))
LOOPS(16, 64, __attribute__((target("avx512f"))))
#endif

const ingot_roof_loops *ingot_roof_loops_for(int64_t lanes) {
  static const ingot_roof_loops all[] = {
#if defined(__x86_64__)
      {16, multiply_16, read_16},
      {8, multiply_8, read_8},
#endif
      {4, multiply_4, read_4},
  };
  const ingot_roof_loops *last = all + sizeof all / sizeof *all - 1, *loops = all;
  while (loops != last && loops->lanes > lanes) {
    ++loops;
  }
  return loops;
}
