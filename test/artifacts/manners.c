/* Runs the model MODEL on seeded inputs and shows: the same bits twice and with a dirty workspace; how deep a painted
 * stack was used; that the control bits of the floating-point unit are as before; that nothing was allocated (this
 * program's allocator counts). Then it runs once more in a process that the kernel kills at the first system call
 * (seccomp's strict mode). */
#define _GNU_SOURCE
#include "ingot.h"
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define JOIN(a, b) a##b
#define CALL(name) JOIN(name, _model)()
#define MODEL_OF(name) const ingot_model *JOIN(name, _model)(void)
MODEL_OF(MODEL);

enum { STACK = 1 << 20, PAINT = 0xA5, MOST = 64 };

static int allocations;
void *__libc_malloc(size_t size);
void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

static unsigned char stack[STACK];
static ucontext_t home, away;
static const ingot_model *model;
static const void *inputs[MOST];
static void *outputs[2][MOST];
static unsigned char *workspace;
static int statuses[2];

/* Control bits of the floating-point unit; read beside the run, because swapcontext restores them. */
static unsigned environment(void) { return __builtin_ia32_stmxcsr() & ~0x3FU; }

static unsigned before, after;

static void runTwice(void) {
  before = environment();
  statuses[0] = model->run(inputs, outputs[0], NULL, workspace, NULL);
  memset(workspace, 0xFF,
         (size_t)model->workspace_bytes); /* every float a NaN: nothing may be read that was not written */
  statuses[1] = model->run(inputs, outputs[1], NULL, workspace, NULL);
  after = environment();
}

/* Memory that ends as the tensor ends, and is aligned for its element only. */
static void *tensor(const ingot_tensor_info *info) {
  size_t align = ingot_type_bytes(info->type);
  return (char *)aligned_alloc(64, ((size_t)info->bytes + 191) / 64 * 64) + (align < 64 ? align : 0);
}

static void fill(const ingot_tensor_info *info, void *data) {
  unsigned state = 12345;
  for (int64_t k = 0; k < info->elements; ++k) {
    state = state * 1664525U + 1013904223U;
    if (info->type == INGOT_FLOAT32) {
      ((float *)data)[k] = (float)(state >> 8) / (float)(1 << 23) - 1.0F;
    } else { /* indices and masks: small */
      memset((char *)data + (size_t)k * ingot_type_bytes(info->type), 0, ingot_type_bytes(info->type));
      ((char *)data)[(size_t)k * ingot_type_bytes(info->type)] = (char)(state >> 31);
    }
  }
}

static void finish(const char *text, int status) {
  ssize_t written = write(1, text, strlen(text));
  syscall(SYS_exit, written < 0 ? 1 : status);
}

int main(void) {
  model = CALL(MODEL);
  workspace = aligned_alloc(64, (size_t)(model->workspace_bytes + 127) / 64 * 64);
  memset(workspace, 0, (size_t)model->workspace_bytes);
  for (int k = 0; k < model->input_count; ++k) {
    fill(&model->inputs[k], (void *)(inputs[k] = tensor(&model->inputs[k])));
  }
  for (int k = 0; k < model->output_count; ++k) {
    outputs[0][k] = tensor(&model->outputs[k]);
    outputs[1][k] = tensor(&model->outputs[k]);
  }
  memset(stack, PAINT, sizeof stack);
  getcontext(&away);
  away.uc_stack.ss_sp = stack;
  away.uc_stack.ss_size = sizeof stack;
  away.uc_link = &home;
  makecontext(&away, runTwice, 0);
  allocations = 0;
  if (swapcontext(&home, &away) != 0) {
    return 1;
  }
  int counted = allocations;
  size_t untouched = 0;
  while (untouched < sizeof stack && stack[untouched] == PAINT) {
    ++untouched;
  }
  printf("status %d %d\nallocations %d\nstack %zu\nenvironment %s\n", statuses[0], statuses[1], counted,
         sizeof stack - untouched, before == after ? "kept" : "changed");
  for (int k = 0; k < model->output_count; ++k) {
    if (memcmp(outputs[0][k], outputs[1][k], (size_t)model->outputs[k].bytes) != 0) {
      printf("output %d differs from run to run\n", k);
      return 1;
    }
  }
  fflush(stdout);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
    finish("system calls: not shown, the kernel has no strict mode\n", 0);
  }
  runTwice();
  finish("system calls none\n", 0);
}
