#include "laps.h"

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

static void begin(ingot_laps *laps, int (*body)(void *args, int64_t begin, int64_t end), int64_t count) {
  laps->body = body;
  laps->count = count;
  laps->loops = laps->time = 0;
  laps->loopsHash = 0;
  laps->way = laps->step == TRY_OTHER ? !laps->kept : laps->kept;
}

static void enter(ingot_laps *laps, int step, int left) {
  laps->step = step;
  laps->left = left;
}

static void learn(ingot_laps *laps, uint64_t hash) {
  laps->known = hash;
  laps->knownLoops = laps->loops;
  laps->strangers = 0;
  laps->kept = INGOT_SHARED;
  laps->best[INGOT_SHARED] = laps->best[INGOT_ALONE] = INT64_MAX;
  enter(laps, TRY_KEPT, LAPS_OF_TRIAL);
}

/* Chooses the way to keep. Where the other way was not tried, all threads are good enough. */
static void choose(ingot_laps *laps) {
  int other = laps->step == TRY_OTHER;
  int64_t shared = laps->best[INGOT_SHARED], alone = laps->best[INGOT_ALONE];
  int64_t less = shared < alone ? shared : alone, more = shared < alone ? alone : shared;
  int near = other && more - less < less / 4, wasShared = laps->kept == INGOT_SHARED;
  laps->kept = other && alone < shared ? INGOT_ALONE : INGOT_SHARED;
  laps->best[INGOT_SHARED] = laps->best[INGOT_ALONE] = INT64_MAX;
  enter(laps, KEEP, wasShared && laps->kept == INGOT_ALONE ? LAPS_TO_CONFIRM : near ? LAPS_KEPT_NEAR : LAPS_KEPT_FAR);
}

static void endLap(ingot_laps *laps) {
  uint64_t hash = laps->loopsHash | 1;
  if (hash != laps->known) {
    if (!laps->known || ++laps->strangers > MOST_STRANGERS) {
      learn(laps, hash);
    }
    return;
  }
  laps->strangers = 0;
  if (laps->step != KEEP && laps->left < LAPS_OF_TRIAL && laps->time < laps->best[laps->way]) {
    laps->best[laps->way] = laps->time;
  }
  if (--laps->left > 0) {
    return;
  }
  if (laps->step == KEEP) {
    enter(laps, TRY_KEPT, LAPS_OF_TRIAL);
  } else if (laps->step == TRY_KEPT && laps->best[laps->kept] < longLap) {
    enter(laps, TRY_OTHER, LAPS_OF_TRIAL);
  } else {
    choose(laps);
  }
}

int ingot_laps_way(ingot_laps *laps, int (*body)(void *args, int64_t begin, int64_t end), int64_t count, int64_t now) {
  int64_t between = now - laps->seen;
  laps->time += between < mostBetween ? between : mostBetween;
  laps->seen = now;
  if (laps->body == body && laps->count == count) {
    endLap(laps);
    begin(laps, body, count);
  } else if (!laps->body || laps->loops >= (laps->known ? 2 * laps->knownLoops : MOST_LOOPS)) {
    /* Another loop begins laps from here on: the caller runs another model, or this is its first loop. */
    laps->known = 0;
    laps->kept = INGOT_SHARED;
    enter(laps, KEEP, 0);
    begin(laps, body, count);
  }
  ++laps->loops;
  laps->loopsHash =
      (laps->loopsHash ^ (uint64_t)(uintptr_t)body ^ ((uint64_t)count << 48)) * UINT64_C(0x9e3779b97f4a7c15);
  return laps->way;
}

void ingot_laps_end(ingot_laps *laps, int64_t now) {
  laps->time += now - laps->seen;
  laps->seen = now;
}
