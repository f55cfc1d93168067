/* Runs a compiled model with a page that may not be touched before and behind every buffer.
 *
 *   guarded MODEL.so NAME DIR [SIZE...]      reads DIR/input_K.bin, writes DIR/output_K.bin
 *
 * SIZEs are the values of the model's symbols, in their order. Where the model finds sizes, outputs are written as far
 * as these go, and DIR/found.txt has the sizes of all outputs' axes, an output a line.
 *
 * Two runs: in one every input, output and the workspace ends where a forbidden page begins, in the other it begins
 * where one ends (tensors are aligned for their element type only, as the header promises). A library that was linked
 * with the symbols ingot_guard_low and ingot_guard_high (see ingot_run.py) has such pages around its weights as well.
 * Outputs begin as garbage, the workspace as NaNs, and both runs must give the same bits. A forbidden access ends the
 * program with the name of the buffer and exit code 3; a status of the model with its text and exit code 4. The control
 * word of floating point must be what it was. */
#include "ingot.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

enum { PAGE = 4096, MOST = 256, GARBAGE = 0xA5, NANS = 0xFF, FORBIDDEN = 3, REFUSED = 4, UNUSABLE = 5 };

typedef struct Region {
  const char *name;
  char *low, *high; /* the whole mapping, guards included */
  char *data;
  size_t bytes;
} Region;

static Region regions[2 * MOST];
static int regionCount;

static void fail(const char *what, const char *name) {
  fprintf(stderr, "guarded: %s %s\n", what, name);
  exit(UNUSABLE);
}

static size_t roundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* Returns memory for `bytes` bytes that touches the page behind (`atEnd`) or before it. */
static char *place(const char *name, size_t bytes, size_t align, int atEnd, int fill) {
  size_t body = roundUp(bytes, PAGE), size = body + 2 * PAGE;
  char *low = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (low == MAP_FAILED || (body && mprotect(low + PAGE, body, PROT_READ | PROT_WRITE) != 0)) {
    fail("no memory for", name);
  }
  memset(low + PAGE, fill, body);
  char *data = atEnd ? low + PAGE + (body - roundUp(bytes, align)) : low + PAGE;
  regions[regionCount++] = (Region){name, low, low + size, data, bytes};
  return data;
}

static void onFault(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  char *at = info->si_addr, text[300];
  int length = snprintf(text, sizeof text, "guarded: access to %p, which is no buffer's\n", (void *)at);
  for (int i = 0; i < regionCount; ++i) {
    const Region *r = &regions[i];
    if (at >= r->low && at < r->high) {
      long offset = (long)(at - r->data);
      length = snprintf(text, sizeof text, "guarded: access at byte %ld of %s, which has %zu bytes\n", offset, r->name,
                        r->bytes);
    }
  }
  _exit(write(2, text, (size_t)length) < 0 ? UNUSABLE : FORBIDDEN);
}

static void transfer(const char *folder, const char *kind, int number, char *data, size_t bytes, int reading) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s_%d.bin", folder, kind, number);
  FILE *file = fopen(path, reading ? "rb" : "wb");
  if (!file || (reading ? fread(data, 1, bytes, file) : fwrite(data, 1, bytes, file)) != bytes || fclose(file) != 0) {
    fail("cannot transfer", path);
  }
}

static void guardWeights(void *library) {
  char *low = dlsym(library, "ingot_guard_low"), *high = dlsym(library, "ingot_guard_high");
  if (!low || !high) {
    return;
  }
  if (mprotect(low, PAGE, PROT_NONE) != 0 || mprotect(high, PAGE, PROT_NONE) != 0) {
    fail("cannot guard", "the weights");
  }
  regions[regionCount++] = (Region){"the weights", low, high + PAGE, low + PAGE, (size_t)(high - low - PAGE)};
}

static void check(const ingot_model *model, int status) {
  if (status != INGOT_OK) {
    char text[300];
    ingot_error_text(model, status, text, sizeof text);
    fprintf(stderr, "guarded: the run ends with: %s\n", text);
    exit(REFUSED);
  }
}

/* What a run with these sizes is made of. */
typedef struct Plan {
  int64_t sizes[MOST], workspace, dims[16 * MOST];
  size_t inputs[MOST], outputs[MOST]; /* bytes */
} Plan;

static size_t bytesOf(const ingot_tensor_info *info, const int64_t *dims, const int64_t *sizes) {
  size_t bytes = ingot_type_bytes(info->type);
  for (int axis = 0; axis < info->rank; ++axis) {
    bytes *= (size_t)(INGOT_DIM_IS_SYMBOL(dims[axis]) ? sizes[INGOT_DIM_SYMBOL(dims[axis])] : dims[axis]);
  }
  return bytes;
}

static void setOutputs(const ingot_model *model, Plan *plan) {
  const int64_t *next = plan->dims;
  for (int k = 0; k < model->output_count; ++k) {
    plan->outputs[k] = bytesOf(&model->outputs[k], next, plan->sizes);
    next += model->outputs[k].rank;
  }
}

/* Outputs as large as the runs found them. */
static void takeFound(const ingot_model *model, Plan *plan, const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/found.txt", folder);
  FILE *file = model->found_count > 0 ? fopen(path, "w") : NULL;
  if (!file) {
    return;
  }
  ingot_found_dims(model, plan->sizes, plan->dims);
  setOutputs(model, plan);
  const int64_t *next = plan->dims;
  for (int k = 0; k < model->output_count; ++k, fputc('\n', file)) {
    for (int axis = 0; axis < model->outputs[k].rank; ++axis) {
      fprintf(file, "%lld ", (long long)*next++);
    }
  }
  fclose(file);
}

static void makePlan(const ingot_model *model, char **sizes, Plan *plan) {
  for (int k = 0; k < model->symbol_count; ++k) {
    plan->sizes[k] = atoll(sizes[k]);
  }
  check(model, ingot_plan(model, plan->sizes, plan->dims, &plan->workspace));
  for (int k = 0; k < model->input_count; ++k) {
    plan->inputs[k] = bytesOf(&model->inputs[k], model->inputs[k].dims, plan->sizes);
  }
  setOutputs(model, plan);
}

/* What a run asks for has forbidden pages around it as well, and is forbidden when it is released. */
static int holdsAtEnd, held;

static void *hold(void *allocator, int64_t bytes, int64_t align, int32_t output) {
  (void)allocator;
  if (regionCount == 2 * MOST || bytes > (int64_t)1 << 40) {
    return NULL;
  }
  ++held;
  return place(output < 0 ? "memory that the run asked for" : "an output that the run allocated", (size_t)bytes,
               output < 0 ? (size_t)align : 1, holdsAtEnd, output < 0 ? NANS : GARBAGE);
}

static void letGo(void *allocator, void *memory) {
  (void)allocator;
  for (int i = 0; i < regionCount; ++i) {
    if (regions[i].data == memory) {
      mprotect(regions[i].low, (size_t)(regions[i].high - regions[i].low), PROT_NONE);
      --held;
      return;
    }
  }
  fail("released", "what nobody has");
}

/* How the processor rounds, and what it does with denormal numbers; without the flags that say what has happened. */
static unsigned controlWord(void) {
#ifdef __SSE__
  return _mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK;
#else
  return 0;
#endif
}

/* One run; outputs are left in `outputs`. */
static void run(const ingot_model *model, Plan *plan, const char *folder, int atEnd, void **outputs) {
  const void *inputs[MOST];
  void *given[MOST] = {NULL};
  for (int k = 0; k < model->input_count; ++k) {
    const ingot_tensor_info *info = &model->inputs[k];
    char *data = place(info->name, plan->inputs[k], ingot_type_bytes(info->type), atEnd, 0);
    transfer(folder, "input", k, data, plan->inputs[k], 1);
    inputs[k] = data;
  }
  for (int k = 0; k < model->output_count; ++k) {
    const ingot_tensor_info *info = &model->outputs[k];
    outputs[k] = info->flags & INGOT_TENSOR_ALLOCATED
                     ? (void *)&given[k]
                     : place(info->name, plan->outputs[k], ingot_type_bytes(info->type), atEnd, GARBAGE);
  }
  size_t align = model->workspace_align > 0 ? (size_t)model->workspace_align : 1;
  char *workspace = place("the workspace", (size_t)plan->workspace, align, atEnd, NANS);
  ingot_exec exec = {.allocate = hold, .release = letGo};
  holdsAtEnd = atEnd, held = 0;
  unsigned before = controlWord();
  int status = model->run(inputs, outputs, plan->sizes, workspace, &exec), kept = 0;
  if (controlWord() != before) {
    fail("the run left the control word of floating point", "other than it was");
  }
  for (int k = 0; k < model->output_count; ++k) {
    int isGiven = outputs[k] == (void *)&given[k];
    outputs[k] = isGiven ? given[k] : outputs[k];
    kept += isGiven && given[k];
    if (isGiven && !given[k] && status == INGOT_OK) {
      fail("the run gives no memory for", model->outputs[k].name);
    }
  }
  if (held != kept) {
    fail("the run kept memory,", "or gave too much back");
  }
  check(model, status);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fail("usage:", "guarded MODEL.so NAME DIR [SIZE...]");
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  char symbol[300];
  snprintf(symbol, sizeof symbol, "%s_model", argv[2]);
  const ingot_model *(*function)(void) = NULL;
  if (library) {
    *(void **)&function = dlsym(library, symbol);
  }
  if (!function || function()->input_count > MOST || function()->output_count > MOST) {
    fail("cannot use", library ? argv[1] : dlerror());
  }
  const ingot_model *model = function();
  if (model->symbol_count != argc - 4) {
    fail("another number of sizes than symbols of", argv[2]);
  }
  static Plan plan;
  makePlan(model, argv + 4, &plan);
  struct sigaction action = {.sa_sigaction = onFault, .sa_flags = SA_SIGINFO};
  if (sigaction(SIGSEGV, &action, NULL) != 0 || sigaction(SIGBUS, &action, NULL) != 0) {
    fail("cannot catch", "signals");
  }
  guardWeights(library);
  void *first[MOST], *second[MOST];
  run(model, &plan, argv[3], 1, first);
  run(model, &plan, argv[3], 0, second);
  takeFound(model, &plan, argv[3]);
  for (int k = 0; k < model->output_count; ++k) {
    if (memcmp(first[k], second[k], plan.outputs[k]) != 0) {
      fail("two runs give different bits in", model->outputs[k].name);
    }
    transfer(argv[3], "output", k, first[k], plan.outputs[k], 0);
  }
  return 0;
}
