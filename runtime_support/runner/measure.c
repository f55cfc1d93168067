#include "measure.h"
#include "clock.h"
#include <stdlib.h>

static const double shortestSample = 5e-6;
static const size_t mostSamples = (size_t)4 << 20, leastSamples = 5;

/* Runs until the model is warm. Returns the status of a failed run, or 0, and sets `one` to the time of a run when
 * warm. */
static int warmUp(int (*run)(void *), void *context, double seconds, double *one) {
  double start = now();
  *one = 1e30;
  for (int runs = 0; runs < 3 || now() - start < seconds / 10; ++runs) {
    double begin = now();
    int status = run(context);
    if (status) {
      return status;
    }
    double sample = now() - begin;
    *one = sample < *one ? sample : *one;
  }
  return 0;
}

static int batchFor(double one) {
  double batch = shortestSample / (one > 1e-9 ? one : 1e-9);
  return batch < 1 ? 1 : batch > 1000 ? 1000 : (int)batch;
}

/* Makes room for one more sample; returns whether there is memory. */
static int grow(ingot_samples *samples, size_t *room) {
  if (samples->count < *room) {
    return 1;
  }
  *room = *room ? 2 * *room : 1024;
  double *more = realloc(samples->seconds, *room * sizeof *more);
  samples->seconds = more ? more : samples->seconds;
  return more != NULL;
}

int ingot_measure(int (*run)(void *context), void *context, double seconds, ingot_samples *samples) {
  double one, total = 0;
  size_t room = 0;
  *samples = (ingot_samples){NULL, 0, 1};
  int status = warmUp(run, context, seconds, &one);
  if (status) {
    return status;
  }
  samples->batch = batchFor(one);
  while (samples->count < mostSamples && (total < seconds || samples->count < leastSamples)) {
    if (!grow(samples, &room)) {
      return -1;
    }
    double begin = now();
    for (int i = 0; i < samples->batch; ++i) {
      run(context);
    }
    double sample = now() - begin;
    total += sample;
    samples->seconds[samples->count++] = sample / samples->batch;
  }
  return 0;
}
