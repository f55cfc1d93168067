/* A program without a C library around one compiled model, for a board or an emulator (board.h). It reads a number that
 * is 1, then for each input of the model its rank (-1: it is left out), dims and bytes; runs; and writes the status,
 * then for each output its rank, dims and bytes. Other first numbers ask for other things. With 0 it reads the values
 * of the model's symbols, and writes the status of ingot_plan and the bytes of the workspace. With 2 it does what it
 * does with 1, and behind the status is how many bytes of a painted stack the run has changed. With 3 there is, behind
 * these bytes, what a second run has counted (board_counted), and the bytes of the workspace.
 *
 * All numbers are int64_t, least byte first. */
#include "board.h"
#include "ingot.h"
#include "sizes.h"

#ifndef MODEL /* the function that describes the model */
#define MODEL model_model
#endif
const ingot_model *MODEL(void);

enum { MOST_TENSORS = 1024, MOST_AXES = 4096, PAINTED = 256 << 10, PAINT = 0x5a };

/* Why the program ends before its answer. */
enum { REQUEST_ENDS = 101, NO_REPLY = 102, NO_MEMORY = 103, TOO_MANY = 105 };

static char *memory, *memory_end;

#if defined(__arm__)
#define STACK_POINTER "mov %0, sp"
#elif defined(__riscv)
#define STACK_POINTER "mv %0, sp"
#elif defined(__i386__)
#define STACK_POINTER "movl %%esp, %0"
#endif

static void leave(int code) {
  for (;;) {
    board_leave(code);
  }
}

static void get(void *to, int64_t bytes) {
  for (char *at = to; bytes > 0;) {
    long some = board_read(at, (long)bytes);
    if (some <= 0) {
      leave(REQUEST_ENDS);
    }
    at += some, bytes -= some;
  }
}

static int64_t number(void) {
  int64_t n;
  get(&n, sizeof n);
  return n;
}

static void put(const void *from, int64_t bytes) {
  for (const char *at = from; bytes > 0;) {
    long some = board_write(at, (long)bytes);
    if (some <= 0) {
      leave(NO_REPLY);
    }
    at += some, bytes -= some;
  }
}

static int has_room(int64_t bytes) { return bytes >= 0 && bytes <= memory_end - memory - 64; }

static void *room(int64_t bytes) {
  if (!has_room(bytes)) {
    leave(NO_MEMORY);
  }
  char *begin = memory + (-(uintptr_t)memory & 63);
  memory = begin + bytes;
  return begin;
}

static void *allocate(void *allocator, int64_t bytes, int64_t align, int32_t output) {
  (void)allocator, (void)align, (void)output;
  return has_room(bytes) ? room(bytes) : 0;
}
static void release(void *allocator, void *memory) { (void)allocator, (void)memory; }

/* The bytes of NAME.weights, for a model that reads them while it runs; for others there is no such symbol. They come
 * as from a device: what is asked for is there only when the model has waited for it. */
extern const char streamed_weights[] __attribute__((weak));
static const char *asked_from;
static char *asked_to;
static int64_t asked;

static int begin_read(void *context, int64_t offset, void *to, int64_t bytes) {
  (void)context;
  asked_from = streamed_weights + offset, asked_to = to, asked = bytes;
  return 0;
}
static int finish_read(void *context) {
  (void)context;
  for (int64_t i = 0; i < asked; ++i) {
    asked_to[i] = asked_from[i];
  }
  return 0;
}
static const ingot_reader reader = {0, begin_read, finish_read};

static ingot_exec exec;
static int64_t sizes[MOST_AXES], dims[MOST_AXES], shapes[MOST_AXES];
static ingot_buffer inputs[MOST_TENSORS], outputs[MOST_TENSORS];
static ingot_shape given[MOST_TENSORS];
static void *made[MOST_TENSORS];

/* Ends the program where the model has more tensors or axes than there is room for above. */
static void check_counts(const ingot_model *model) {
  int64_t axes = (int64_t)model->symbol_count + model->found_count, of_inputs = 0, of_outputs = 0;
  for (int32_t i = 0; i < model->input_count; ++i) {
    of_inputs += model->inputs[i].rank;
  }
  for (int32_t i = 0; i < model->output_count; ++i) {
    of_outputs += model->outputs[i].rank;
  }
  if (model->input_count > MOST_TENSORS || model->output_count > MOST_TENSORS || axes > MOST_AXES ||
      of_inputs > MOST_AXES || of_outputs > MOST_AXES) {
    leave(TOO_MANY);
  }
}

static void read_inputs(const ingot_model *model) {
  int64_t *next = shapes;
  for (int32_t i = 0; i < model->input_count; ++i) {
    given[i].dims = next;
    given[i].rank = (int32_t)number();
    for (int32_t axis = 0; axis < given[i].rank; ++axis) {
      *next++ = number();
    }
    if (given[i].rank >= 0) {
      int64_t elements = ingot_sizes_elements(given[i].dims, given[i].rank, model->inputs[i].type);
      int64_t bytes = elements * (int64_t)ingot_type_bytes(model->inputs[i].type);
      inputs[i].elements = elements;
      inputs[i].data = room(bytes);
      get(inputs[i].data, bytes);
    }
  }
}

/* What a run took: bytes of the stack, what was counted, and bytes of the workspace; -1: nobody knows. */
typedef struct {
  int64_t stack, counted, workspace;
} Measures;

/* Calls the model as ingot_run does behind its checks, and notes how many bytes of the stack below this function's own
 * the call has changed. What is painted lies below the stack pointer, where nothing is called before the model. */
static __attribute__((noinline)) void run_measured(const ingot_model *model, void *workspace, int *status, int counts,
                                                   Measures *measures) {
  static const void *in[MOST_TENSORS];
  static void *out[MOST_TENSORS];
  for (int32_t i = 0; i < model->input_count; ++i) {
    in[i] = inputs[i].data;
  }
  for (int32_t i = 0; i < model->output_count; ++i) {
    out[i] = outputs[i].data;
  }
  char *free_memory = memory;
#ifdef STACK_POINTER
  char *top, *least = board_stack();
  __asm__ volatile(STACK_POINTER : "=r"(top));
  volatile char *stack = top;
  const long painted = top - least < PAINTED ? top - least : PAINTED;
  for (long i = 1; i <= painted; ++i) {
    stack[-i] = PAINT;
  }
  *status = model->run(in, out, sizes, workspace, &exec);
  long changed = painted;
  while (changed > 0 && stack[-changed] == PAINT) {
    --changed;
  }
  measures->stack = changed;
#else
  *status = model->run(in, out, sizes, workspace, &exec);
#endif
  if (counts && !*status) { /* a run of its own, since what counts may interrupt it and take stack */
    memory = free_memory;
    board_count();
    *status = model->run(in, out, sizes, workspace, &exec);
    measures->counted = board_counted();
  }
}

static int run(const ingot_model *model, int counts, Measures *measures) {
  int64_t workspace = 0, *next = dims;
  int status = ingot_bind(model, given, model->input_count, sizes);
  if (!status) {
    status = ingot_plan(model, sizes, dims, &workspace);
  }
  for (int32_t i = 0; !status && i < model->output_count; ++i) {
    const ingot_tensor_info *info = &model->outputs[i];
    if (info->flags & INGOT_TENSOR_ALLOCATED) {
      outputs[i].data = &made[i];
    } else {
      outputs[i].elements = ingot_sizes_elements(next, info->rank, info->type);
      outputs[i].data = made[i] = room(outputs[i].elements * (int64_t)ingot_type_bytes(info->type));
    }
    next += info->rank;
  }
  if (!status && measures) {
    measures->workspace = workspace;
    run_measured(model, room(workspace), &status, counts, measures);
    return status;
  }
  return status ? status
                : ingot_run(model, inputs, model->input_count, outputs, model->output_count, sizes, room(workspace),
                            (size_t)workspace, &exec);
}

static void plan_only(const ingot_model *model) {
  int64_t reply[2] = {0, 0};
  get(sizes, 8 * (int64_t)model->symbol_count);
  reply[0] = ingot_plan(model, sizes, dims, &reply[1]);
  put(reply, sizeof reply);
  leave(0);
}

void board_main(void) {
  const ingot_model *model = MODEL();
  board_memory(&memory, &memory_end);
  Measures measures;
  measures.stack = measures.counted = measures.workspace =
      -1; /* an initializer would be copied by a function that is not here */
  int64_t what = number();
  if (!what) {
    plan_only(model);
  }
  exec.allocate = allocate, exec.release = release, exec.weights = &reader;
  check_counts(model);
  read_inputs(model);
  int64_t status = run(model, what == 3, what >= 2 ? &measures : 0), *next = dims;
  put(&status, sizeof status);
  if (what >= 2) {
    put(&measures.stack, sizeof measures.stack);
  }
  if (what == 3) {
    put(&measures.counted, sizeof measures.counted);
    put(&measures.workspace, sizeof measures.workspace);
  }
  ingot_found_dims(model, sizes, dims);
  for (int32_t i = 0; !status && i < model->output_count; ++i) {
    const ingot_tensor_info *info = &model->outputs[i];
    int64_t rank = info->rank;
    put(&rank, sizeof rank);
    put(next, rank * 8);
    put(made[i], ingot_sizes_elements(next, info->rank, info->type) * (int64_t)ingot_type_bytes(info->type));
    next += rank;
  }
  leave(0);
}
