/* The threads of a WebAssembly module whose memory several workers share (`ingot package --for npm`). Each worker has
 * an instance of the module with a stack of its own. One runs the model; the others are in ingot_module_help until
 * their page ends them. A loop is cut into parts, which all take in turns; the caller waits until the helpers have left
 * it. */
#include "ingot.h"

enum { PARTS_OF_THREAD = 4, SPINS = 2000 };

static struct {
  int32_t turn;    /* counts loops; helpers wait until it changes */
  int32_t isBusy;  /* a loop that is called from within one runs on its caller alone */
  int32_t next;    /* the first part that nobody has taken */
  int32_t helpers; /* those that have not left the loop */
  int32_t status;  /* of a part that failed */
  int32_t parts;
  int64_t count;
  int (*body)(void *args, int64_t begin, int64_t end);
  void *args;
} loop;

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

/* Waits until a number is no longer `was`, at first without sleeping: a model's loops follow each other closely. */
static int32_t waitForOther(int32_t *number, int32_t was) {
  int32_t now = was;
  for (int i = 0; i < SPINS && now == was; ++i) {
    now = __atomic_load_n(number, __ATOMIC_SEQ_CST);
  }
  while (now == was) {
    __builtin_wasm_memory_atomic_wait32(number, was, -1);
    now = __atomic_load_n(number, __ATOMIC_SEQ_CST);
  }
  return now;
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
  loop.helpers = threadsOfModule - 1;
  __atomic_fetch_add(&loop.turn, 1, __ATOMIC_SEQ_CST);
  __builtin_wasm_memory_atomic_notify(&loop.turn, (unsigned)threadsOfModule);
  work();
  for (int32_t left = __atomic_load_n(&loop.helpers, __ATOMIC_SEQ_CST); left > 0;) {
    left = waitForOther(&loop.helpers, left);
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

/* Works on the loops of another instance, and never returns. It is called before the first of them begins. */
void ingot_module_help(void) {
  for (int32_t turn = 0;;) {
    turn = waitForOther(&loop.turn, turn);
    work();
    __atomic_fetch_sub(&loop.helpers, 1, __ATOMIC_SEQ_CST);
    __builtin_wasm_memory_atomic_notify(&loop.helpers, 1);
  }
}
