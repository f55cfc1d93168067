/* Decides whether the loops of a caller are worth sharing out. Where processors share no cache, what one thread
 * wrote comes so slowly to another that a small model is slower with two threads than with one. Which way is faster
 * depends on the model, on the machine, and in a virtual machine on the minute, so both are tried.
 *
 * A caller that runs a model again and again begins the same loops in the same order. A lap goes from one loop to
 * the next that has the same body and length; laps of the same loops are compared by their times. Some laps are
 * shared out and some are the caller's alone, and then the faster way is kept for some hundred laps before both are
 * tried again (soon, where laps that were shared seem to be faster alone: another program may have been in the way).
 * A lap that is longer than a few milliseconds is always shared out: there a second thread pays. */
#ifndef INGOT_HOSTED_THREAD_TRIALS_H
#define INGOT_HOSTED_THREAD_TRIALS_H
#include <stdint.h>

enum { INGOT_SHARED, INGOT_ALONE };

/* The laps of one caller; all zero at the beginning. */
typedef struct ingot_thread_trials {
  /* The present lap. */
  int (*body)(void *args, int64_t begin, int64_t end); /* the body of its first loop */
  int64_t count;                                       /* the length of that loop */
  int64_t loops, seen, time; /* loops so far; when the last one began or ended; nanoseconds in the lap up to then */
  uint64_t loopsHash;
  int way;
  /* Laps with these loops, so far. */
  uint64_t known; /* the hash of their loops; 0: none are chosen yet */
  int64_t knownLoops;
  int strangers;   /* consecutive laps of other loops */
  int64_t best[2]; /* the shortest time of each way in this trial */
  int kept, left;  /* the way that is kept between trials; laps until the next step */
  int step;
} ingot_thread_trials;

/* Call this where a loop begins that is in no other one, at `now` nanoseconds. Returns INGOT_SHARED or INGOT_ALONE. */
int ingot_thread_trials_way(ingot_thread_trials *trials, int (*body)(void *args, int64_t begin, int64_t end),
                            int64_t count, int64_t now);
/* Call this where such a loop ends. */
void ingot_thread_trials_end(ingot_thread_trials *trials, int64_t now);

#endif
