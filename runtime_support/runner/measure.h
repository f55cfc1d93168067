/* Measures the time of single runs, after a warm-up: what `ingot bench` does on this machine and on another. */
#ifndef INGOT_RUNNER_MEASURE_H
#define INGOT_RUNNER_MEASURE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The times of runs. Runs that are too short for the clock are timed in batches, and a batch counts with its mean. */
typedef struct ingot_samples {
  double *seconds; /* seconds of one run, a number for each batch, in the order of time; on the heap */
  size_t count;
  int batch; /* runs of each batch */
} ingot_samples;

/* Measures for about so many seconds, after three runs and a tenth of the time. Returns the status of a failed run,
 * or 0; -1 when there is no memory. `samples` is to be freed in any case. */
int ingot_measure(int (*run)(void *context), void *context, double seconds, ingot_samples *samples);

#ifdef __cplusplus
}
#endif

#endif
