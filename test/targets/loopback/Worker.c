/* The process of a loopback device of another architecture: a program for that one, which an emulator runs.
 *
 *   loopback-ARCH QUEUE STAGING ADDRESS BYTES DELAY
 *
 * works off the queue (a file descriptor), shares BYTES at ADDRESS with the host through the file STAGING, and has
 * nothing else in common with it. Memory of the device is what the host opens, with nothing around it. Threads of a
 * block (compiler/lower/core/Threads.h) are contexts, which take turns at barriers. */
#include "device/Serve.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MOST_THREADS = 64, STACK_BYTES = 1 << 17, SHARED_BYTES = 1 << 16 };

/* The block that runs. */
static struct block {
  loopback_body body;
  const void *args;
  int64_t item;
  int32_t threads[3];
  int running, ended[MOST_THREADS];
  ucontext_t scheduler, contexts[MOST_THREADS];
} block;
static char stacks[MOST_THREADS][STACK_BYTES];
static _Alignas(64) char shared[SHARED_BYTES];

int64_t ingot_thread(int32_t axis) {
  int number = block.running;
  for (int32_t i = 0; i < axis; ++i) {
    number /= block.threads[i];
  }
  return number % block.threads[axis];
}

void ingot_barrier(void) { swapcontext(&block.contexts[block.running], &block.scheduler); }

void *ingot_shared(void) { return shared; }

static void run_thread(void) {
  block.body(block.args, block.item, block.item + 1);
  block.ended[block.running] = 1;
}

/* All threads from barrier to barrier, the last one first; what is shared begins as no number. A thread that ends where
 * others wait is a mistake of the kernel. */
static int run_block(int threads) {
  memset(shared, 0xff, sizeof shared);
  for (int i = 0; i < threads; ++i) {
    block.ended[i] = 0;
    getcontext(&block.contexts[i]);
    block.contexts[i].uc_stack.ss_sp = stacks[i];
    block.contexts[i].uc_stack.ss_size = STACK_BYTES;
    block.contexts[i].uc_link = &block.scheduler;
    makecontext(&block.contexts[i], run_thread, 0);
  }
  for (int ended = 0; !ended;) {
    for (int i = threads; i-- > 0;) {
      block.running = i;
      swapcontext(&block.scheduler, &block.contexts[i]);
      ended += block.ended[i];
    }
    if (ended && ended != threads) {
      return INGOT_ERROR_DEVICE;
    }
  }
  return 0;
}

static int run_blocks(const loopback_command *command, const void *args) {
  const int32_t *threads = command->kernel.threads;
  if (threads[0] * threads[1] * threads[2] > MOST_THREADS || command->kernel.shared_bytes > SHARED_BYTES) {
    return INGOT_ERROR_DEVICE;
  }
  block.body = loopback_body_of(command);
  block.args = args;
  memcpy(block.threads, threads, sizeof block.threads);
  for (block.item = command->count; block.item-- > 0;) {
    int status = run_block(threads[0] * threads[1] * threads[2]);
    if (status) {
      return status;
    }
  }
  return 0;
}

static int open_memory(void *at, int64_t bytes) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  return mmap(at, (size_t)bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == at ? 0 : INGOT_ERROR_DEVICE;
}

static void close_memory(void *at, int64_t bytes) { munmap(at, (size_t)bytes); }

/* An image is a shared object, which needs no others. */
static int load_image(const loopback_command *command) {
  char path[32];
  int file = memfd_create("image", 0);
  ssize_t written = file < 0 ? -1 : write(file, loopback_at(command->from), (size_t)command->bytes);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  void *image = written == (ssize_t)command->bytes ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!image) {
    fprintf(stderr, "loopback: %s\n", dlerror());
    return INGOT_ERROR_DEVICE;
  }
  close(file);
  for (int64_t i = 0; i < command->count; ++i) {
    char *name = (char *)loopback_at(command->to) + i * LOOPBACK_NAME_BYTES;
    uint64_t address = (uintptr_t)dlsym(image, name);
    if (!address) {
      return INGOT_ERROR_DEVICE;
    }
    memcpy(name, &address, sizeof address);
  }
  return 0;
}

int main(int count, char **arguments) {
  if (count != 6) {
    return 2;
  }
  void *at = loopback_at(strtoull(arguments[3], NULL, 10));
  size_t bytes = strtoull(arguments[4], NULL, 10);
  int flags = MAP_SHARED | MAP_FIXED_NOREPLACE;
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, flags, atoi(arguments[2]), 0) != at) {
    perror("loopback: the staging area");
    return 1;
  }
  loopback_process process = {atoi(arguments[1]), atoll(arguments[5]), open_memory,
                              close_memory,       load_image,          run_blocks};
  loopback_serve(&process);
  return 0;
}
