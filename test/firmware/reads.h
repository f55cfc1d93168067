/* Watches the reads of a model that streams its weights (--weights stream), which is compiled with --profile. The model
 * runs with a read that fails, for every read, and then with none that does:
 *
 *   static int run(const ingot_exec *exec) { return net_run(x, y, workspace, exec); }
 *   watch_all(run, reader, reads, overlaps)
 */
#include "ingot.h"

enum { WATCH_MARK = 0x5a, WATCH_FAILS = 7 };

typedef struct Watch {
  const ingot_reader *under; /* what really reads */
  int failing, late;         /* the number of the read that fails, where it begins or where it ends; -1: none */
  int begun, finished, is_open, wrong;
  int started, ended; /* kernels so far */
  int before;         /* kernels that had started when the present read began */
  int overlaps;       /* reads during which a kernel ran from its beginning to its end */
  int in_order;       /* reads that began where the one before ended */
  int64_t next;
} Watch;

static int watch_begin(void *context, int64_t offset, void *to, int64_t bytes) {
  Watch *watch = (Watch *)context;
  watch->wrong |= watch->is_open || offset % 16 || bytes % 16 || (uintptr_t)to % 16 || bytes <= 0;
  watch->in_order += offset == watch->next;
  watch->next = offset + bytes;
  if (watch->begun++ == watch->failing && !watch->late) {
    return WATCH_FAILS;
  }
  watch->is_open = 1;
  watch->before = watch->started;
  for (int64_t i = 0; i < bytes; ++i) { /* whoever has something there, or looks too early, has other bits */
    ((volatile char *)to)[i] = WATCH_MARK;
  }
  return watch->under->begin(watch->under->context, offset, to, bytes);
}

static int watch_finish(void *context) {
  Watch *watch = (Watch *)context;
  watch->wrong |= !watch->is_open;
  watch->is_open = 0;
  watch->overlaps += watch->ended > watch->before;
  int status = watch->under->finish ? watch->under->finish(watch->under->context) : 0;
  return watch->finished++ == watch->failing && watch->late ? WATCH_FAILS : status;
}

static void watch_kernel(void *context, int32_t launch, int32_t ended) {
  Watch *watch = (Watch *)context;
  (void)launch;
  ++*(ended ? &watch->ended : &watch->started);
}

static int watch_run(int (*run)(const ingot_exec *exec), Watch *watch) {
  ingot_reader reader;
  reader.context = watch, reader.begin = watch_begin, reader.finish = watch_finish;
  volatile ingot_exec exec; /* no call of memset */
  for (unsigned i = 0; i < sizeof exec; ++i) {
    ((volatile char *)&exec)[i] = 0;
  }
  exec.context = watch, exec.profile = watch_kernel, exec.weights = &reader;
  return run((const ingot_exec *)&exec);
}

static void watch_clear(Watch *watch, const ingot_reader *under, int failing, int late) {
  for (unsigned i = 0; i < sizeof *watch; ++i) {
    ((volatile char *)watch)[i] = 0;
  }
  watch->under = under, watch->failing = failing, watch->late = late;
}

/* Returns 0, or a number that says what is wrong. `reads` and `overlaps` are what the run has; -1: nobody knows. */
static int watch_all(int (*run)(const ingot_exec *exec), const ingot_reader *under, int reads, int overlaps) {
  Watch watch;
  watch_clear(&watch, under, -1, 0);
  int status = watch_run(run, &watch);
  if (status || watch.wrong || watch.is_open || watch.begun != watch.finished) {
    return status ? status : 101;
  }
  if (reads >= 0 && (watch.begun != reads || watch.in_order != reads)) {
    return 102;
  }
  if (overlaps >= 0 && watch.overlaps != overlaps) {
    return 103;
  }
  int all = watch.begun;
  for (int n = 0; n < 2 * all; ++n) {
    watch_clear(&watch, under, n / 2, n % 2);
    status = watch_run(run, &watch);
    if (INGOT_STATUS_KIND(status) != INGOT_ERROR_READ || INGOT_STATUS_NUMBER(status) < 0 || watch.wrong ||
        watch.is_open || watch.begun != n / 2 + 1 || watch.finished != n / 2 + n % 2) {
      return 104;
    }
  }
  watch_clear(&watch, under, -1, 0);
  return watch_run(run, &watch);
}
