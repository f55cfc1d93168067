/* Reads a clock that never goes backwards. */
#ifndef INGOT_RUNNER_CLOCK_H
#define INGOT_RUNNER_CLOCK_H

#include <time.h>

/* Returns the seconds since some fixed moment. */
static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
