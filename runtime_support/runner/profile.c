#include "profile.h"
#include "clock.h"
#include <stdlib.h>
#include <string.h>

static int threadsOf(void *context) {
  const ingot_exec *inner = ((const ingot_profile *)context)->inner;
  return inner->threads(inner->context);
}

static int parallelFor(void *context, int (*body)(void *args, int64_t begin, int64_t end), void *args, int64_t count) {
  const ingot_exec *inner = ((const ingot_profile *)context)->inner;
  return inner->parallel_for(inner->context, body, args, count);
}

/* Returns more room, zeroed behind what is there; the old one when there is no memory. */
static void *grown(void *old, size_t before, size_t after, int *failed) {
  char *more = realloc(old, after);
  *failed |= !more;
  if (more) {
    memset(more + before, 0, after - before);
  }
  return more ? more : old;
}

static int makeRoom(ingot_profile *profile, int32_t launch) {
  if (launch >= profile->room) {
    size_t before = (size_t)profile->room, after = 2 * (size_t)launch + 16;
    profile->begun = grown(profile->begun, before * sizeof(double), after * sizeof(double), &profile->failed);
    profile->current = grown(profile->current, before * sizeof(double), after * sizeof(double), &profile->failed);
    profile->calls = grown(profile->calls, before * sizeof(int64_t), after * sizeof(int64_t), &profile->failed);
    profile->room = profile->failed ? profile->room : (int32_t)after;
  }
  return !profile->failed;
}

/* Kernels in bodies of loops are not inside one another. */
static void note(void *context, int32_t launch, int32_t ended) {
  ingot_profile *profile = context;
  double time = now();
  if (!makeRoom(profile, launch)) {
    return;
  }
  profile->launches = launch >= profile->launches ? launch + 1 : profile->launches;
  if (ended) {
    ++profile->calls[launch];
    profile->current[launch] += time - profile->begun[launch];
  } else {
    profile->begun[launch] = now();
  }
}

void ingot_profile_begin(ingot_profile *profile, const ingot_exec *inner) {
  *profile = (ingot_profile){.inner = inner, .exec = *inner};
  profile->exec.context = profile;
  profile->exec.profile = note;
  if (inner->parallel_for) {
    profile->exec.threads = threadsOf;
    profile->exec.parallel_for = parallelFor;
  }
}

/* Makes room for one more run, of `launches` launches. */
static int makeRunRoom(ingot_profile *profile, int32_t launches) {
  if (profile->runs == profile->run_room) {
    size_t before = (size_t)profile->run_room, after = 2 * before + 64, row = sizeof(double) * (size_t)launches;
    profile->run_seconds =
        grown(profile->run_seconds, before * sizeof(double), after * sizeof(double), &profile->failed);
    profile->launch_seconds = grown(profile->launch_seconds, before * row, after * row + 1, &profile->failed);
    profile->run_room = profile->failed ? profile->run_room : (int64_t)after;
  }
  return !profile->failed;
}

int ingot_profile_measure(ingot_profile *profile, int (*run)(void *context), void *context, double seconds) {
  const int64_t least = 3, most = 10000;
  int status = run(context); /* warms up, and shows which launches there are */
  if (status) {
    return status;
  }
  int32_t launches = profile->launches;
  for (int32_t i = 0; i < launches; ++i) {
    profile->calls[i] = 0, profile->current[i] = 0;
  }
  for (double total = 0; profile->runs < least || (total < seconds && profile->runs < most);) {
    double begin = now();
    status = run(context);
    double time = now() - begin;
    if (status || profile->failed || !makeRunRoom(profile, launches)) {
      return status ? status : -1;
    }
    double *row = profile->launch_seconds + profile->runs * launches;
    for (int32_t i = 0; i < launches; ++i) {
      row[i] = profile->current[i];
      profile->current[i] = 0;
    }
    profile->run_seconds[profile->runs++] = time;
    total += time;
  }
  profile->launches = launches;
  return 0;
}

void ingot_profile_end(ingot_profile *profile) {
  free(profile->run_seconds), free(profile->launch_seconds), free(profile->calls);
  free(profile->begun), free(profile->current);
}
