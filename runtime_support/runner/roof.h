/* What one thread can do at most: the loops that `ingot bench --profile` measures a machine with. */
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
  void (*multiply)(int64_t turns); /* each turn has ingot_roof_sums multiplications and additions of vectors */
  void (*read)(const char *memory, size_t bytes); /* once, from a multiple of 64 on */
} ingot_roof_loops;

enum { ingot_roof_sums = 12 };

/* Those with the longest vectors of at most so many lanes. The processor must have such vectors: nobody looks. */
const ingot_roof_loops *ingot_roof_loops_for(int64_t lanes);

#ifdef __cplusplus
}
#endif

#endif
