/* Whether the loops of a caller are worth sharing out. Where processors share no cache, what one thread wrote comes so
 * slowly to another that a small model is slower with two threads than with one. Which it is depends on the model, on
 * the machine, and in a virtual machine on the minute: so it is tried.
 *
 * A caller that runs a model again and again begins the same loops in the same order. A lap goes from one loop to the
 * next that has the same body and length; laps of the same loops are compared by their times. Some laps are shared out
 * and some are the caller's alone, and then the faster way is kept for some hundred laps, before both are tried again
 * (soon, where laps that were shared seem to be faster alone: another program may have been in the way).
 * What is longer than a few milliseconds is shared out always: there a second thread pays. */
#ifndef INGOT_HOSTED_LAPS_H
#define INGOT_HOSTED_LAPS_H
#include <stdint.h>

enum { INGOT_SHARED, INGOT_ALONE };

/* Of one caller. All zero at the beginning. */
typedef struct ingot_laps {
  /* The lap that goes on. */
  int (*body)(void *args, int64_t begin, int64_t end); /* its first loop's */
  int64_t count;                                       /* and its length */
  int64_t loops, seen, time; /* loops so far; when the last one began or ended; nanoseconds up to it */
  uint64_t loopsHash;
  int way;
  /* What is known of laps with these loops. */
  uint64_t known; /* their hash; 0: not chosen yet */
  int64_t knownLoops;
  int strangers;   /* laps of other loops, one after the other */
  int64_t best[2]; /* the shortest time of each way in this trial */
  int kept, left;  /* the way that is kept between trials; laps until the next step */
  int step;
} ingot_laps;

/* To be called where a loop begins that is in no other one, at `now` nanoseconds: INGOT_SHARED or INGOT_ALONE. */
int ingot_laps_way(ingot_laps *laps, int (*body)(void *args, int64_t begin, int64_t end), int64_t count, int64_t now);
/* To be called where such a loop ends. */
void ingot_laps_end(ingot_laps *laps, int64_t now);

#endif
