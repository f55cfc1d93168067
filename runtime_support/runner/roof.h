/* Declares the loops with which `ingot bench --profile` measures what one thread of a machine can do at most. */
#ifndef INGOT_RUNNER_ROOF_H
#define INGOT_RUNNER_ROOF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The loops for vectors of so many floats. */
typedef struct ingot_roof_loops {
  int lanes;
  void (*multiply)(
      int64_t iterations); /* each iteration does ingot_roof_sums multiplications and additions of vectors */
  void (*read)(const char *memory, size_t bytes); /* reads the memory once, from a multiple of 64 on */
} ingot_roof_loops;

enum { ingot_roof_sums = 12 };

/* Returns the loops with the longest vectors of at most so many lanes. The caller makes sure that the processor has
 * such vectors. */
const ingot_roof_loops *ingot_roof_loops_for(int64_t lanes);

#ifdef __cplusplus
}
#endif

#endif
