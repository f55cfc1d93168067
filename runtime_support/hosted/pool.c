/* A thread pool behind ingot_exec.
 *
 * A parallel loop takes a free slot of a small table, opens it, and works on it like everybody else. Each thread first
 * takes the chunks that it takes in every loop, so that it works on what it has in its caches, then what others have
 * not begun. Workers look for open slots, spin for a while when there is none (a model's loops follow each other within
 * microseconds, or behind a kernel that has one thread only), then sleep. Nothing is locked unless somebody sleeps. A
 * worker that finds itself on its caller's processor, where a scheduler may leave both for many milliseconds, moves to
 * another. A loop whose caller finds no free slot runs on the caller alone, so that nesting and any number of callers
 * are safe: a caller only ever waits for chunks that are being worked on. So does one whose caller is faster without
 * the others (thread_trials.h).
 *
 * A slot is reused, never freed, and its fields are stable while it is open. A worker announces itself in `helpers`
 * before it looks at the state; the caller closes the slot before it looks at `helpers`. Both are sequentially
 * consistent, so that either the caller sees the worker and waits, or the worker sees the slot closed and leaves it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "ingot.h"
#include "thread_trials.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 16, MAX_THREADS = 1024, CHUNKS_OF_THREAD = 2, WORD_BITS = 64 };
/* How long a thread spins. Waking a worker costs the caller some ten microseconds, and the worker comes some thirty
 * later, so a kernel for one thread in the middle of a model must not send workers to sleep. */
enum { NANOSECONDS_SPUN = 500000, SPINS_BETWEEN_LOOKS = 64 };

enum { FREE, CLAIMED, OPEN, CLOSED, CLOSED_AND_WAITING };

#define NO_FAILURE UINT64_MAX

typedef struct Loop { /* what all threads write is in one cache line where threads are few */
  _Alignas(64) atomic_int state;
  atomic_int helpers;
  int (*body)(void *args, int64_t begin, int64_t end);
  void *args;
  int64_t count, threads;   /* items; threads that share them, at most one for each item */
  _Atomic uint64_t failure; /* the lowest failed chunk and its status: chunk << 32 | status */
  /* A bit for each chunk that some thread has taken. */
  _Atomic uint64_t taken[MAX_THREADS * CHUNKS_OF_THREAD / WORD_BITS];
} Loop;

struct ingot_pool {
  Loop loops[SLOTS];
  _Alignas(64) atomic_uint epoch; /* grows with every opened loop */
  /* The processor of the caller that opened the last loop; -1 where workers stay where they are. */
  atomic_int processor;
  atomic_int sleepers;
  atomic_int stop;
  int maySpin; /* not set where spinning would take the processor from a thread with work */
  int threads; /* threads, the caller of a loop included */
  ingot_exec exec;
  pthread_mutex_t mutex;
  pthread_cond_t opened, left;
  atomic_int started; /* workers that know their number */
  pthread_t workers[];
};

static void pauseBriefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

static int64_t nanoseconds(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* How long a thread has been spinning for something. */
typedef struct Spinning {
  int spins;
  int64_t until;
} Spinning;

/* Waits a moment. Returns whether the thread should look again, and not sleep. Whoever else could run on this
 * processor (perhaps the thread that is waited for) runs first. */
static int spin(const ingot_pool *pool, Spinning *spinning) {
  if (!pool->maySpin) {
    return 0;
  }
  pauseBriefly();
  if (++spinning->spins % SPINS_BETWEEN_LOOKS) {
    return 1;
  }
  int64_t now = nanoseconds();
  spinning->until = spinning->until ? spinning->until : now + NANOSECONDS_SPUN;
  sched_yield();
  return now < spinning->until;
}

/* Returns where a part begins if so many items are in equal parts, of which the first ones may be longer by one. */
static int64_t beginOf(int64_t items, int64_t part, int64_t parts) {
  int64_t longer = items % parts;
  return items / parts * part + (part < longer ? part : longer);
}

/* Returns the first item of a chunk. A thread has neighbouring items, of which the last eighth is a chunk of its
 * own: a thread that is ready early takes these from threads that other programs delay. */
static int64_t firstOf(const Loop *loop, int64_t chunk) {
  int64_t thread = chunk / CHUNKS_OF_THREAD, first = beginOf(loop->count, thread, loop->threads);
  if (chunk % CHUNKS_OF_THREAD == 0) {
    return first;
  }
  int64_t next = beginOf(loop->count, thread + 1, loop->threads);
  return next - (next - first) / 8;
}

static int64_t chunksOf(const Loop *loop) { return CHUNKS_OF_THREAD * loop->threads; }

/* Runs a chunk unless it is taken. A failure only stops chunks behind it, so the lowest failing chunk is always run,
 * and the status of a loop is the one that a single thread would have found. Returns whether there was anything to
 * do. */
static int runChunk(Loop *loop, int64_t chunk) {
  uint64_t bit = UINT64_C(1) << chunk % WORD_BITS;
  if (atomic_fetch_or(&loop->taken[chunk / WORD_BITS], bit) & bit) {
    return 0;
  }
  if ((uint64_t)chunk > atomic_load_explicit(&loop->failure, memory_order_relaxed) >> 32) {
    return 1;
  }
  int64_t begin = firstOf(loop, chunk), end = firstOf(loop, chunk + 1);
  int status = begin < end ? loop->body(loop->args, begin, end) : 0;
  if (status) {
    uint64_t mine = (uint64_t)chunk << 32 | (uint32_t)status, lowest = atomic_load(&loop->failure);
    while (mine < lowest && !atomic_compare_exchange_weak(&loop->failure, &lowest, mine)) {
    }
  }
  return 1;
}

/* Runs chunks that nobody has begun: in a word of bits, those whose bits are in `kind`. */
static int runOthers(Loop *loop, int64_t word, uint64_t kind) {
  int worked = 0;
  int64_t left = chunksOf(loop) - word * WORD_BITS;
  kind &= left < WORD_BITS ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
  for (uint64_t open; (open = kind & ~atomic_load_explicit(&loop->taken[word], memory_order_relaxed)) != 0;) {
    worked |= runChunk(loop, word * WORD_BITS + __builtin_ctzll(open));
  }
  return worked;
}

/* Runs the thread's own chunks, then large ones of others, and at last small ones. */
static int work(Loop *loop, int64_t thread) {
  static const uint64_t large = UINT64_C(0x5555555555555555);
  int worked = 0;
  if (thread < loop->threads) {
    worked |= runChunk(loop, CHUNKS_OF_THREAD * thread);
    worked |= runChunk(loop, CHUNKS_OF_THREAD * thread + 1);
  }
  for (int64_t word = 0; word * WORD_BITS < chunksOf(loop); ++word) {
    worked |= runOthers(loop, word, large);
  }
  for (int64_t word = 0; word * WORD_BITS < chunksOf(loop); ++word) {
    worked |= runOthers(loop, word, UINT64_MAX);
  }
  return worked;
}

/* Returns the processor that the calling thread is on; -1 where that is not known. */
static int processorHere(void) {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

/* Moves a worker that is on its caller's processor to another of those that it may use; later it may come back. */
static void leaveCaller(ingot_pool *pool) {
  int processor = atomic_load_explicit(&pool->processor, memory_order_relaxed);
  if (processor < 0 || processor != processorHere()) {
    return;
  }
#ifdef __linux__
  cpu_set_t may, others;
  if (processor < CPU_SETSIZE && sched_getaffinity(0, sizeof may, &may) == 0) {
    others = may;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) {
      sched_setaffinity(0, sizeof may, &may);
    }
  }
#endif
}

static int help(ingot_pool *pool, int64_t thread) {
  int worked = 0;
  for (Loop *loop = pool->loops; loop != pool->loops + SLOTS; ++loop) {
    if (atomic_load_explicit(&loop->state, memory_order_relaxed) != OPEN) {
      continue;
    }
    atomic_fetch_add(&loop->helpers, 1);
    if (atomic_load(&loop->state) == OPEN) {
      worked |= work(loop, thread);
    }
    if (atomic_fetch_sub(&loop->helpers, 1) == 1 && atomic_load(&loop->state) == CLOSED_AND_WAITING) {
      pthread_mutex_lock(&pool->mutex);
      pthread_cond_broadcast(&pool->left);
      pthread_mutex_unlock(&pool->mutex);
    }
  }
  return worked;
}

static void sleepUntilOpened(ingot_pool *pool, unsigned seen) {
  for (Spinning spinning = {0}; spin(pool, &spinning);) {
    if (atomic_load_explicit(&pool->epoch, memory_order_relaxed) != seen) {
      return;
    }
  }
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->sleepers, 1);
  while (atomic_load(&pool->epoch) == seen) {
    pthread_cond_wait(&pool->opened, &pool->mutex);
  }
  atomic_fetch_sub(&pool->sleepers, 1);
  pthread_mutex_unlock(&pool->mutex);
}

/* What a thread knows of the loops that it begins. */
typedef struct Caller {
  const ingot_pool *pool; /* the pool in which it began the last one */
  int isInside;           /* whether the thread is inside a body, as a worker always is */
  ingot_thread_trials trials;
} Caller;

static _Thread_local Caller caller;

static void *runWorker(void *argument) {
  ingot_pool *pool = argument;
  caller.isInside = 1;
  int64_t thread = 1 + atomic_fetch_add(&pool->started, 1); /* workers count from 1, as the caller of a loop is 0 */
  for (;;) {
    /* Read before looking for loops, so that one opened meanwhile is not slept through. */
    unsigned seen = atomic_load(&pool->epoch);
    if (atomic_load(&pool->stop)) {
      return 0;
    }
    if (!help(pool, thread)) {
      leaveCaller(pool);
      sleepUntilOpened(pool, seen);
    }
  }
}

static void wake(ingot_pool *pool) {
  if (pool->maySpin) {
    atomic_store_explicit(&pool->processor, processorHere(), memory_order_relaxed);
  }
  atomic_fetch_add(&pool->epoch, 1);
  if (atomic_load(&pool->sleepers) > 0) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static Loop *claim(ingot_pool *pool) {
  for (Loop *loop = pool->loops; loop != pool->loops + SLOTS; ++loop) {
    int expected = FREE;
    if (atomic_load_explicit(&loop->state, memory_order_relaxed) == FREE &&
        atomic_compare_exchange_strong(&loop->state, &expected, CLAIMED)) {
      return loop;
    }
  }
  return 0;
}

/* Closes a loop that has no chunk left to hand out, and waits for the workers still inside. */
static void finish(ingot_pool *pool, Loop *loop) {
  atomic_store(&loop->state, CLOSED);
  for (Spinning spinning = {0}; atomic_load(&loop->helpers) > 0 && spin(pool, &spinning);) {
  }
  if (atomic_load(&loop->helpers) > 0) {
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&loop->state, CLOSED_AND_WAITING);
    while (atomic_load(&loop->helpers) > 0) {
      pthread_cond_wait(&pool->left, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
  }
}

/* Opens the loop to all threads, and works on it. Returns its status. */
static int share(ingot_pool *pool, Loop *loop) {
  for (int64_t i = 0; i * WORD_BITS < chunksOf(loop); ++i) {
    atomic_store_explicit(&loop->taken[i], 0, memory_order_relaxed);
  }
  atomic_store_explicit(&loop->failure, NO_FAILURE, memory_order_relaxed);
  atomic_store(&loop->state, OPEN);
  wake(pool);
  work(loop, 0);
  finish(pool, loop);
  uint64_t failure = atomic_load(&loop->failure);
  atomic_store(&loop->state, FREE);
  return failure == NO_FAILURE ? 0 : (int)(uint32_t)failure;
}

/* Returns whether a loop that is in no other one is better not shared out. */
static int isAlone(const ingot_pool *pool, int (*body)(void *args, int64_t begin, int64_t end), int64_t count) {
  if (caller.pool != pool) {
    caller = (Caller){.pool = pool};
  }
  return ingot_thread_trials_way(&caller.trials, body, count, nanoseconds()) == INGOT_ALONE;
}

static int parallelFor(void *context, int (*body)(void *args, int64_t begin, int64_t end), void *args, int64_t count) {
  ingot_pool *pool = context;
  if (count <= 0) {
    return 0;
  }
  if (pool->threads == 1 || count == 1) {
    return body(args, 0, count);
  }
  int isInside = caller.isInside;
  Loop *loop = !isInside && isAlone(pool, body, count) ? 0 : claim(pool);
  caller.isInside = 1;
  int status;
  if (loop) {
    loop->body = body;
    loop->args = args;
    loop->count = count;
    loop->threads = pool->threads < count ? pool->threads : count;
    status = share(pool, loop);
  } else {
    status = body(args, 0, count);
  }
  caller.isInside = isInside;
  if (!isInside) {
    ingot_thread_trials_end(&caller.trials, nanoseconds());
  }
  return status;
}

static int threadsOf(void *context) { return ((const ingot_pool *)context)->threads; }

/* Returns the processors that this process may use; containers and taskset lower it. */
static int usableProcessors(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return CPU_COUNT(&set);
  }
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 && online < MAX_THREADS ? (int)online : 1;
}

/* Starts workers. They take no signals: those are the program's, on its own threads. */
static void startWorkers(ingot_pool *pool, int workers) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool->threads - 1 < workers && pthread_create(&pool->workers[pool->threads - 1], 0, runWorker, pool) == 0) {
    ++pool->threads;
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
}

ingot_pool *ingot_pool_create(int threads) {
  int processors = usableProcessors();
  if (threads <= 0) {
    threads = processors;
  }
  threads = threads < MAX_THREADS ? threads : MAX_THREADS;
  size_t bytes = sizeof(ingot_pool) + (size_t)threads * sizeof(pthread_t);
  void *memory;
  if (posix_memalign(&memory, 64, bytes) != 0) {
    return 0;
  }
  ingot_pool *pool = memory;
  for (int i = 0; i < SLOTS; ++i) {
    atomic_init(&pool->loops[i].state, FREE);
    atomic_init(&pool->loops[i].helpers, 0);
  }
  atomic_init(&pool->epoch, 0);
  atomic_init(&pool->processor, -1);
  atomic_init(&pool->sleepers, 0);
  atomic_init(&pool->stop, 0);
  atomic_init(&pool->started, 0);
  pool->maySpin = threads <= processors;
  pool->threads = 1;
  pool->exec = (ingot_exec){.context = pool, .threads = threadsOf, .parallel_for = parallelFor};
  pthread_mutex_init(&pool->mutex, 0);
  pthread_cond_init(&pool->opened, 0);
  pthread_cond_init(&pool->left, 0);
  startWorkers(pool, threads - 1);
  return pool;
}

const ingot_exec *ingot_pool_exec(const ingot_pool *pool) { return pool ? &pool->exec : 0; }

void ingot_pool_destroy(ingot_pool *pool) {
  if (!pool) {
    return;
  }
  atomic_store(&pool->stop, 1);
  wake(pool);
  for (int i = 0; i < pool->threads - 1; ++i) {
    pthread_join(pool->workers[i], 0);
  }
  pthread_cond_destroy(&pool->left);
  pthread_cond_destroy(&pool->opened);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}
