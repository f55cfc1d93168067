#include "thread_trials.h"

enum {
  MOST_LOOPS = 5000,  /* the most loops of a lap; a model with more of them takes long enough to be shared */
  MOST_STRANGERS = 8, /* laps of other loops before these are looked at instead */
  LAPS_OF_TRIAL = 4,  /* laps of each way; the first is not measured, because caches are cold and workers sleep */
  /* Laps until a change from shared to alone is tried again: another program may have slowed the trial. */
  LAPS_TO_CONFIRM = 16,
  LAPS_KEPT_NEAR = 256, /* laps between trials where one way takes less than a quarter longer than the other */
  LAPS_KEPT_FAR = 2048, /* laps between trials where it takes more */
};
/* The most nanoseconds that count from the end of a loop to the next one; a caller that does something else for
 * longer does so in both ways. From `longLap` nanoseconds on a lap is always shared. */
static const int64_t mostBetween = 1000000;
static const int64_t longLap = 5000000;

enum { TRY_KEPT, TRY_OTHER, KEEP };

static void begin(ingot_thread_trials *trials, int (*body)(void *args, int64_t begin, int64_t end), int64_t count) {
  trials->body = body;
  trials->count = count;
  trials->loops = trials->time = 0;
  trials->loopsHash = 0;
  trials->way = trials->step == TRY_OTHER ? !trials->kept : trials->kept;
}

static void enter(ingot_thread_trials *trials, int step, int left) {
  trials->step = step;
  trials->left = left;
}

static void learn(ingot_thread_trials *trials, uint64_t hash) {
  trials->known = hash;
  trials->knownLoops = trials->loops;
  trials->strangers = 0;
  trials->kept = INGOT_SHARED;
  trials->best[INGOT_SHARED] = trials->best[INGOT_ALONE] = INT64_MAX;
  enter(trials, TRY_KEPT, LAPS_OF_TRIAL);
}

/* Chooses the way to keep. Where the other way was not tried, all threads are good enough. */
static void choose(ingot_thread_trials *trials) {
  int other = trials->step == TRY_OTHER;
  int64_t shared = trials->best[INGOT_SHARED], alone = trials->best[INGOT_ALONE];
  int64_t less = shared < alone ? shared : alone, more = shared < alone ? alone : shared;
  int near = other && more - less < less / 4, wasShared = trials->kept == INGOT_SHARED;
  trials->kept = other && alone < shared ? INGOT_ALONE : INGOT_SHARED;
  trials->best[INGOT_SHARED] = trials->best[INGOT_ALONE] = INT64_MAX;
  enter(trials, KEEP,
        wasShared && trials->kept == INGOT_ALONE ? LAPS_TO_CONFIRM
        : near                                   ? LAPS_KEPT_NEAR
                                                 : LAPS_KEPT_FAR);
}

static void endLap(ingot_thread_trials *trials) {
  uint64_t hash = trials->loopsHash | 1;
  if (hash != trials->known) {
    if (!trials->known || ++trials->strangers > MOST_STRANGERS) {
      learn(trials, hash);
    }
    return;
  }
  trials->strangers = 0;
  if (trials->step != KEEP && trials->left < LAPS_OF_TRIAL && trials->time < trials->best[trials->way]) {
    trials->best[trials->way] = trials->time;
  }
  if (--trials->left > 0) {
    return;
  }
  if (trials->step == KEEP) {
    enter(trials, TRY_KEPT, LAPS_OF_TRIAL);
  } else if (trials->step == TRY_KEPT && trials->best[trials->kept] < longLap) {
    enter(trials, TRY_OTHER, LAPS_OF_TRIAL);
  } else {
    choose(trials);
  }
}

int ingot_thread_trials_way(ingot_thread_trials *trials, int (*body)(void *args, int64_t begin, int64_t end),
                            int64_t count, int64_t now) {
  int64_t between = now - trials->seen;
  trials->time += between < mostBetween ? between : mostBetween;
  trials->seen = now;
  if (trials->body == body && trials->count == count) {
    endLap(trials);
    begin(trials, body, count);
  } else if (!trials->body || trials->loops >= (trials->known ? 2 * trials->knownLoops : MOST_LOOPS)) {
    /* Another loop begins laps from here on: the caller runs another model, or this is its first loop. */
    trials->known = 0;
    trials->kept = INGOT_SHARED;
    enter(trials, KEEP, 0);
    begin(trials, body, count);
  }
  ++trials->loops;
  trials->loopsHash =
      (trials->loopsHash ^ (uint64_t)(uintptr_t)body ^ ((uint64_t)count << 48)) * UINT64_C(0x9e3779b97f4a7c15);
  return trials->way;
}

void ingot_thread_trials_end(ingot_thread_trials *trials, int64_t now) {
  trials->time += now - trials->seen;
  trials->seen = now;
}
