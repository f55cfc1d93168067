/* A program without a C library around one compiled model, for an emulator that answers system calls of Linux, or one
 * of a whole board (BOARD), which opens the files "request" and "reply" for it in the place of the standard ones. It
 * reads from standard input a number that is 1, then for each input of the model its rank (-1: it is left out), dims
 * and bytes; runs; and writes the status, then for each output its rank, dims and bytes. Where the number is 0, it
 * reads the values of the model's symbols, and writes what ingot_plan says to them and the bytes of the workspace.
 * Where it is 2, the stack is painted before a run, and how many bytes of it the run has changed is written behind the
 * status. All numbers are int64_t. */
#include "ingot.h"
#include "sizes.h"

const ingot_model *model_model(void);

#ifndef ARENA
#define ARENA (96 << 20)
#endif
enum { MOST_TENSORS = 1024, MOST_AXES = 4096, PAINTED = 256 << 10, PAINT = 0x5a };

static char arena[ARENA] __attribute__((aligned(64)));
static int64_t used;

#if defined(BOARD)
enum { READ = 6, WRITE = 5, EXIT = 0x18, OPEN = 1, FINISHED = 0x20026, FAILED = 0x20023 };
static void run_all(void);
void start(void);
extern char stack_top[];

static long semihost(long operation, const void *argument) {
  register long r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/* Reads and writes as Linux does: semihosting returns how many bytes are left over. */
static long system_call(long number, long a, const void *b, long c) {
  static long files[2];
  if (number == EXIT) {
    return semihost(EXIT, (const void *)(a ? FAILED : FINISHED));
  }
  if (!files[0]) {
    static const char names[2][8] = {"request", "reply"};
    for (long i = 0; i < 2; ++i) {
      const long how[3] = {(long)names[i], i ? 5 : 1, i ? 5 : 7}; /* "wb", "rb"; the length of the name */
      files[i] = semihost(OPEN, how);
    }
  }
  const long what[3] = {files[a], (long)b, c};
  return c - semihost(number, what);
}

void start(void) {
  volatile uint32_t *access = (volatile uint32_t *)0xe000ed88; /* CPACR: who may use floats and vectors */
  *access |= 0xfu << 20;
  __asm__ volatile("dsb\n isb");
  run_all();
}

static void fault(void) { system_call(EXIT, 1, 0, 0); }

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, start, fault, fault, fault, fault, fault, fault};
#define STACK_POINTER "mov %0, sp"
#elif defined(__arm__)
enum { READ = 3, WRITE = 4, EXIT = 1 };
static long system_call(long number, long a, const void *b, long c) {
  register long r0 __asm__("r0") = a, r1 __asm__("r1") = (long)b, r2 __asm__("r2") = c;
  __asm__ volatile("push {r7}\n mov r7, %3\n svc 0\n pop {r7}" : "+r"(r0) : "r"(r1), "r"(r2), "r"(number) : "memory");
  return r0;
}
#define STACK_POINTER "mov %0, sp"
__asm__(".text\n.thumb\n.thumb_func\n.global _start\n_start:\n bl run_all\n");
#elif defined(__riscv)
enum { READ = 63, WRITE = 64, EXIT = 93 };
static long system_call(long number, long a, const void *b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = (long)b, a2 __asm__("a2") = c, a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
#define STACK_POINTER "mv %0, sp"
__asm__(".text\n.global _start\n_start:\n call run_all\n");
#elif defined(__wasm__)
/* The calls of WASI, which engines offer to programs. */
enum { READ, WRITE, EXIT };
typedef struct {
  void *at;
  unsigned long bytes;
} part;
#define WASI(NAME) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#NAME)))
WASI(fd_read) int fd_read(int file, const part *parts, unsigned long count, unsigned long *done);
WASI(fd_write) int fd_write(int file, const part *parts, unsigned long count, unsigned long *done);
WASI(proc_exit) void proc_exit(int code);
static long system_call(long number, long a, const void *b, long c) {
  const part all = {(void *)b, (unsigned long)c};
  unsigned long done = 0;
  if (number == EXIT) {
    proc_exit((int)a);
  }
  int wrong = number == READ ? fd_read((int)a, &all, 1, &done) : fd_write((int)a, &all, 1, &done);
  return wrong ? -1 : (long)done;
}
void run_all(void);
__attribute__((export_name("_start"))) void start(void) { run_all(); }
#elif defined(__i386__)
enum { READ = 3, WRITE = 4, EXIT = 1 };
static long system_call(long number, long a, const void *b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}
#define STACK_POINTER "movl %%esp, %0"
__asm__(".text\n.global _start\n_start:\n and $-16, %esp\n call run_all\n");
#endif

static void leave(int code) {
  system_call(EXIT, code, 0, 0);
  for (;;) {
  }
}

static void get(void *to, int64_t bytes) {
  for (char *at = to; bytes > 0;) {
    long some = system_call(READ, 0, at, (long)bytes);
    if (some <= 0) {
      leave(101);
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
    long some = system_call(WRITE, 1, at, (long)bytes);
    if (some <= 0) {
      leave(102);
    }
    at += some, bytes -= some;
  }
}

static void *room(int64_t bytes) {
  used = (used + 63) & -64;
  if (bytes < 0 || bytes > ARENA - used) {
    leave(103);
  }
  used += bytes;
  return arena + used - bytes;
}

static void *allocate(void *allocator, int64_t bytes, int64_t align, int32_t output) {
  (void)allocator, (void)align, (void)output;
  return bytes > ARENA - 64 - used ? 0 : room(bytes);
}
static void release(void *allocator, void *memory) { (void)allocator, (void)memory; }

static ingot_exec exec;
static int64_t sizes[MOST_AXES], dims[MOST_AXES], shapes[MOST_AXES];
static ingot_buffer inputs[MOST_TENSORS], outputs[MOST_TENSORS];
static ingot_shape given[MOST_TENSORS];
static void *made[MOST_TENSORS];

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

/* Calls the model as ingot_run does behind its checks; the bytes of the stack below this function's own that the call
 * has changed. What is painted lies below the stack pointer, where nothing is called before the model. */
static __attribute__((noinline)) int64_t run_painted(const ingot_model *model, void *workspace, int *status) {
  const void *in[MOST_TENSORS];
  void *out[MOST_TENSORS];
  for (int32_t i = 0; i < model->input_count; ++i) {
    in[i] = inputs[i].data;
  }
  for (int32_t i = 0; i < model->output_count; ++i) {
    out[i] = outputs[i].data;
  }
#ifdef STACK_POINTER
  char *top;
  __asm__ volatile(STACK_POINTER : "=r"(top));
  volatile char *stack = top;
  for (long i = 1; i <= PAINTED; ++i) {
    stack[-i] = PAINT;
  }
  *status = model->run(in, out, sizes, workspace, &exec);
  long changed = PAINTED;
  while (changed > 0 && stack[-changed] == PAINT) {
    --changed;
  }
  return changed;
#else
  *status = model->run(in, out, sizes, workspace, &exec);
  return 0;
#endif
}

static int run(const ingot_model *model, int64_t *changed) {
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
  if (!status && changed) {
    *changed = run_painted(model, room(workspace), &status);
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

#if defined(BOARD)
static
#endif
    void run_all(void) {
  const ingot_model *model = model_model();
  int64_t what = number(), changed = 0;
  if (!what) {
    plan_only(model);
  }
  exec.allocate = allocate, exec.release = release;
  read_inputs(model);
  int64_t status = run(model, what == 2 ? &changed : 0), *next = dims;
  put(&status, sizeof status);
  if (what == 2) {
    put(&changed, sizeof changed);
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
