/* How long a word takes from one processor to another and back: some 50 ns where they share a cache, 300 and more where
 * they do not. What two threads hand each other is as slow, so that a figure of several threads means little without
 * it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { TURNS = 20000 };

static _Alignas(128) atomic_int word, ready;

static void stayOn(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static void *answer(void *argument) {
  (void)argument;
  stayOn(1);
  atomic_store(&ready, 1);
  for (int i = 0; i < TURNS; ++i) {
    while (atomic_load(&word) == 0) {
    }
    atomic_store(&word, 0);
  }
  return 0;
}

int main(void) {
  pthread_t other;
  struct timespec begin, end;
  if (pthread_create(&other, 0, answer, 0) != 0) {
    return 1;
  }
  while (!atomic_load(&ready)) {
    sched_yield();
  }
  stayOn(0);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < TURNS; ++i) {
    atomic_store(&word, 1);
    while (atomic_load(&word) == 1) {
    }
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  pthread_join(other, 0);
  printf("%.0f\n", ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / TURNS);
  return 0;
}
