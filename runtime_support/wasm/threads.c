/* The threads of a WebAssembly module whose memory several workers share (`ingot package --for npm`). Each worker has
 * an instance of the module with a stack of its own. One runs the model; the others are in ingot_module_help until
 * their page ends them. A loop is cut into parts, which all take in turns.
 *
 * A helper that sleeps takes longer to wake than many a loop takes. So the caller waits for those alone that have
 * entered the loop: when no part is left it closes the gate, and who comes later goes back to sleep. Nothing of a loop
 * is written while its gate is open or somebody is behind it. */
#include "ingot.h"

enum { PARTS_OF_THREAD = 4, SPINS = 2000, CLOSED = 1 << 30 };

static struct {
  int32_t turn;                        /* counts loops; helpers wait until it changes */
  int32_t helpersAsleep, callerAsleep; /* those that no longer spin while they wait */
  int32_t isBusy;                      /* a loop that is called from within one runs on its caller alone */
  int32_t gate;                        /* helpers in the loop, and CLOSED when no more may enter */
  int32_t next;                        /* the first part that nobody has taken */
  int32_t status;                      /* of a part that failed */
  int32_t parts;
  int64_t count;
  int (*body)(void *args, int64_t begin, int64_t end);
  void *args;
} loop = {.gate = CLOSED};

static int threadsOfModule = 1;

static int threads(void *context) {
  (void)context;
  return threadsOfModule;
}

/* Takes parts of the loop until none is left. */
static void work(void) {
  for (;;) {
    int64_t part = __atomic_fetch_add(&loop.next, 1, __ATOMIC_SEQ_CST);
    if (part >= loop.parts) {
      return;
    }
    int status = loop.body(loop.args, loop.count * part / loop.parts, loop.count * (part + 1) / loop.parts);
    if (status) {
      __atomic_store_n(&loop.status, status, __ATOMIC_SEQ_CST);
    }
  }
}

/* Waits until a number is no longer `was`, at first without sleeping: a model's loops follow each other closely.
 * `asleep` counts those that do sleep. */
static int32_t waitForOther(int32_t *number, int32_t was, int32_t *asleep) {
  int32_t now = was;
  for (int i = 0; i < SPINS && now == was; ++i) {
    now = __atomic_load_n(number, __ATOMIC_SEQ_CST);
  }
  if (now == was) { /* who changes the number after this sees that somebody sleeps */
    __atomic_fetch_add(asleep, 1, __ATOMIC_SEQ_CST);
    for (now = __atomic_load_n(number, __ATOMIC_SEQ_CST); now == was; now = __atomic_load_n(number, __ATOMIC_SEQ_CST)) {
      __builtin_wasm_memory_atomic_wait32(number, was, -1);
    }
    __atomic_fetch_sub(asleep, 1, __ATOMIC_SEQ_CST);
  }
  return now;
}

/* Wakes those who sleep until a number changes. */
static void wake(int32_t *number, int32_t *asleep) {
  if (__atomic_load_n(asleep, __ATOMIC_SEQ_CST) > 0) {
    __builtin_wasm_memory_atomic_notify(number, (unsigned)threadsOfModule);
  }
}

static int parallelFor(void *context, int (*body)(void *args, int64_t begin, int64_t end), void *args, int64_t count) {
  (void)context;
  if (__atomic_exchange_n(&loop.isBusy, 1, __ATOMIC_SEQ_CST)) {
    return body(args, 0, count);
  }
  int64_t parts = (int64_t)threadsOfModule * PARTS_OF_THREAD;
  loop.body = body, loop.args = args, loop.count = count;
  loop.parts = (int32_t)(count < parts ? count : parts);
  loop.next = loop.status = 0;
  __atomic_store_n(&loop.gate, 0, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&loop.turn, 1, __ATOMIC_SEQ_CST);
  wake(&loop.turn, &loop.helpersAsleep);
  work();
  int32_t within = __atomic_or_fetch(&loop.gate, CLOSED, __ATOMIC_SEQ_CST);
  while (within != CLOSED) {
    within = waitForOther(&loop.gate, within, &loop.callerAsleep);
  }
  int status = loop.status;
  __atomic_store_n(&loop.isBusy, 0, __ATOMIC_SEQ_CST);
  return status;
}

/* Gives runs with `exec` as many threads, of which all but the caller's are in ingot_module_help. */
void ingot_module_share(ingot_exec *exec, int count) {
  threadsOfModule = count;
  exec->threads = threads;
  exec->parallel_for = parallelFor;
}

/* Enters the loop, if there is one that is not closed. */
static int enter(void) {
  int32_t within = __atomic_load_n(&loop.gate, __ATOMIC_SEQ_CST);
  while (!(within & CLOSED)) {
    if (__atomic_compare_exchange_n(&loop.gate, &within, within + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      return 1;
    }
  }
  return 0;
}

/* Works on the loops of another instance, and never returns. It is called before the first of them begins. */
void ingot_module_help(void) {
  for (int32_t turn = 0;;) {
    turn = waitForOther(&loop.turn, turn, &loop.helpersAsleep);
    if (enter()) {
      work();
      __atomic_fetch_sub(&loop.gate, 1, __ATOMIC_SEQ_CST);
      wake(&loop.gate, &loop.callerAsleep);
    }
  }
}
