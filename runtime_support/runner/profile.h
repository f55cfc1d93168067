/* Measures the time of each kernel of models compiled with --profile: what `ingot bench --profile` does on this
 * machine and on another. It measures runs on one thread at a time. */
#ifndef INGOT_RUNNER_PROFILE_H
#define INGOT_RUNNER_PROFILE_H

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ingot_profile {
  const ingot_exec *inner; /* the host that runs the threads */
  ingot_exec exec;         /* that host with a clock, for the runs that are measured */

  int32_t launches; /* 1 + the largest number of a launch that ever ran */
  int64_t runs;
  double *run_seconds;    /* seconds of each run */
  double *launch_seconds; /* seconds of each launch in each run: [run][launch] */
  int64_t *calls;         /* calls of each launch, in all runs */

  double *begun, *current; /* when each launch began, and its seconds, in the present run */
  int32_t room;            /* launches for which there is room */
  int64_t run_room;
  int failed; /* whether there was no memory */
} ingot_profile;

void ingot_profile_begin(ingot_profile *profile, const ingot_exec *inner);

/* Measures for about so many seconds, and three runs at least, after one run to be warm. Returns the status of a
 * failed run, or 0; -1 when there is no memory. */
int ingot_profile_measure(ingot_profile *profile, int (*run)(void *context), void *context, double seconds);

void ingot_profile_end(ingot_profile *profile);

#ifdef __cplusplus
}
#endif

#endif
