/* Declares what a compiled model and the program around it agree on. It is for C99 and C++, and needs only
 * <stdint.h> and <stddef.h>.
 *
 * A model NAME compiled by ingot exports two functions, declared in its own header NAME.h:
 *
 *   int NAME_run(const T *input..., T *output..., void *workspace, const ingot_exec *exec);   typed, unchecked
 *   const ingot_model *NAME_model(void);                                                      everything known about it
 *
 * Both are re-entrant: any number of threads may run one model at once, each with its own workspace. A run allocates
 * nothing (except what ingot_exec.allocate gives it, for the few models whose sizes nothing bounds), takes no lock,
 * makes no system call (except one in the life of a process: ingot_run_tiles) and keeps no state. Weights are
 * constants of the object, or lie where ingot_exec.weights says (--weights=file and --weights=extern), or are read
 * while the model runs (--weights=stream).
 *
 * Tensors are dense and row-major in the caller's memory, or in that of a device where ingot_tensor_info.device says
 * so. They need the natural alignment of their element type (4 bytes for float) and no more. Booleans are one byte
 * each, 0 or 1. Outputs and workspace must not overlap each other or an input, except that an output may be an
 * input's memory where ingot_tensor_info.in_place_of says so (caches): when both pointers are equal the run changes
 * what differs and copies nothing, and a run that fails may then leave it half changed. All sizes named `bytes` are
 * in bytes, all sizes named `elements` or `count` in elements.
 *
 * An axis of an input may be open: its size is chosen for each run and has a name, the *symbol* ("batch"). All axes
 * of one name have one size in a run. Sizes of outputs and of the workspace then follow from the symbols. A model
 * with symbols takes them behind its outputs, and has one more function:
 *
 *   int NAME_run(const T *input..., T *output..., int64_t SYMBOL..., void *workspace, const ingot_exec *exec);
 *   int64_t NAME_workspace_bytes(int64_t SYMBOL...);        for these sizes; negative: minus a status
 *
 * A size of an output may also be data-dependent, such as the number of boxes that a detector keeps. The caller
 * makes room for the most that it can be; the run *finds* it, and gives it back through a pointer:
 *
 *   int NAME_run(const T *input..., T *output..., int64_t SYMBOL..., int64_t *FOUND..., void *workspace,
 *                const ingot_exec *exec);
 *
 * The output is then row-major with the sizes that were found, and the memory behind it holds nothing of use.
 *
 * Where nothing bounds such a size (a Range up to a number in data) there is no most. Then the run asks its host for
 * memory when it has found the size, so ingot_exec.allocate must be there. The output's parameter is a pointer to
 * the caller's pointer (T **output), which gets the memory when the run succeeds, and null when it does not; the
 * caller releases it. A run releases all other memory that it asks for, whatever way it ends.
 *
 * A tensor of strings is an array of ingot_string, 16 bytes each: views of bytes that belong to somebody else.
 * Strings of an input are the caller's. Strings of an output are an input's, or the model's constants (or
 * ingot_exec.weights), or they are in ingot_exec.strings, where a run keeps the strings that it makes
 * (INGOT_MODEL_MAKES_STRINGS). So all of these have to live until the outputs have been read. Strings are not
 * terminated, may hold zeros, and are UTF-8 where an operator takes characters (ingot_error_kind:
 * INGOT_ERROR_STRING); other operators take any bytes.
 *
 * A model that was compiled for several memories (--memories) has a parameter for each part of its workspace in the
 * place of `workspace`; its header has their names and bytes. ingot_run takes one block for all parts.
 *
 * Everything below works for all kinds of models. Where a function takes or gives `sizes`, these are the symbols'
 * values in the order of ingot_model.symbols, followed by room for those that the run finds; null for a model that
 * has neither.
 *
 * Functions return a status: 0 is success, and any other value says what is wrong and where (see ingot_error_kind).
 *
 * The library libingot_rt.a has two parts. The core needs no libc and no operating system. The hosted part (threads,
 * the heap, mapped files) needs POSIX and is linked only into programs that call it. A library of its own,
 * libingot_image.a, decodes images for the few models that have to: it needs libjpeg, libpng and others. */
#ifndef INGOT_H
#define INGOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the structures below. A model fits this header if its ingot_model.abi is the same. */
#define INGOT_ABI 10

/* A byte of the support library whose name has that version. Compiled models that call the library refer to it, so that
 * one of another version does not link: the linker says that `ingot_abi_10` is undefined. */
#define INGOT_ABI_SYMBOL ingot_abi_10
extern const char INGOT_ABI_SYMBOL;

/* status */

/* The kind of an error, which is in the low 8 bits of a status. The bits above are 0, or 1 + the number of what the
 * error is about:
 *   NULL, ALIGNMENT, COUNT, TYPE, SHAPE   an argument: inputs from 0 on, then outputs, then the workspace,
 *                                         then the weights, then the functions that give memory, then the devices
 *   INDEX, SIZE, ABSENT, MEMORY, IMAGE,
 *   STRING, READ                          a node of ingot_model.nodes
 *   DEVICE                                a device of ingot_model.devices */
typedef enum ingot_error_kind {
  INGOT_OK = 0,
  INGOT_ERROR_NULL = 1,      /* a pointer is null that must not be */
  INGOT_ERROR_ALIGNMENT = 2, /* a pointer is not aligned enough */
  INGOT_ERROR_WORKSPACE = 3, /* the workspace is smaller than ingot_model.workspace_bytes */
  INGOT_ERROR_COUNT = 4,     /* the number of inputs, of outputs, or of the elements of one of them is wrong */
  INGOT_ERROR_INDEX = 5,     /* an index, length or bound computed while running lies outside its tensor */
  INGOT_ERROR_ABI = 6,       /* the model was compiled for another version of this header */
  INGOT_ERROR_THREADS = 7,   /* ingot_exec.parallel_for could not do its work */
  INGOT_ERROR_TYPE = 8,      /* an element type is not the model's */
  INGOT_ERROR_MEMORY = 9,    /* the system, or ingot_exec.allocate, gave no memory */
  INGOT_ERROR_FILE = 10,     /* a file cannot be opened, read or mapped */
  INGOT_ERROR_CONTENT = 11,  /* weights have another size than those that the model was compiled with */
  INGOT_ERROR_SIZE = 12,     /* a node cannot work with its sizes, or one of them is beyond all numbers */
  INGOT_ERROR_SHAPE = 13,    /* a shape is not the input's, or a symbol first seen there is beyond its bounds */
  INGOT_ERROR_ABSENT = 14,   /* a node needs an optional input that the run was not given */
  INGOT_ERROR_HASH = 15,     /* weights have the right size and other bytes than the model was compiled with */
  INGOT_ERROR_TARGET = 16,   /* the machine has none of the levels that the model was compiled for */
  INGOT_ERROR_DEVICE = 17,   /* a device failed, or has no memory left; ingot_device.message may say more */
  INGOT_ERROR_PIECE = 18,    /* code that a target brought for a part of the model (--load-target) gave up */
  INGOT_ERROR_IMAGE = 19,    /* an encoded image is damaged, of a form that is not supported, or too large */
  INGOT_ERROR_STRING =
      20, /* a node cannot take a string: it is no number, not UTF-8, or a label that the node does not know */
  INGOT_ERROR_TILES = 21, /* the model is for AMX, which the machine lacks or its operating system does not give */
  INGOT_ERROR_READ = 22   /* the ingot_reader could not read the weights of a node */
} ingot_error_kind;

#define INGOT_STATUS(kind, number) ((int)(kind) | (((int)(number) + 1) << 8))
#define INGOT_STATUS_KIND(status) ((status) & 0xff)
#define INGOT_STATUS_NUMBER(status) (((status) >> 8) - 1) /* -1: none */

/* what a model says about itself */

/* Element types, by ONNX's numbers. Several elements below a byte lie in one byte, the first one in the lowest bits;
 * of such tensors `elements` counts bytes. */
typedef enum ingot_type {
  INGOT_FLOAT32 = 1,
  INGOT_UINT8 = 2,
  INGOT_INT8 = 3,
  INGOT_UINT16 = 4,
  INGOT_INT16 = 5,
  INGOT_INT32 = 6,
  INGOT_INT64 = 7,
  INGOT_STRING = 8,
  INGOT_BOOL = 9,
  INGOT_FLOAT16 = 10,
  INGOT_FLOAT64 = 11,
  INGOT_UINT32 = 12,
  INGOT_UINT64 = 13,
  INGOT_BFLOAT16 = 16,
  INGOT_FLOAT8E4M3FN = 17,
  INGOT_FLOAT8E4M3FNUZ = 18,
  INGOT_FLOAT8E5M2 = 19,
  INGOT_FLOAT8E5M2FNUZ = 20,
  INGOT_UINT4 = 21,
  INGOT_INT4 = 22,
  INGOT_FLOAT4E2M1 = 23,
  INGOT_FLOAT8E8M0 = 24,
  INGOT_UINT2 = 25,
  INGOT_INT2 = 26
} ingot_type;

/* An element of a tensor of strings; all zeros is the empty string. Arrays of them begin at a multiple of 16 bytes,
 * as arrays on the stack and on the heap do. */
typedef struct
#if defined(__GNUC__)
    __attribute__((aligned(16)))
#endif
    ingot_string {
  const char *data;
  int64_t size; /* in bytes */
} ingot_string;

/* The strings that runs make, in memory that ingot_exec.allocate gives, block by block. All zeros is a structure
 * without memory; if its `data` and `bytes` are memory of the caller's, strings go there first. One run at a time
 * may use it. Strings stay where they are until ingot_strings_clear or ingot_strings_release. */
typedef struct ingot_strings {
  char *data; /* the block that is being filled */
  int64_t bytes, used;
  void *blocks; /* the blocks that `allocate` gave */
} ingot_strings;

/* An entry of ingot_tensor_info.dims is a size, or negative where the size is open. It is then INGOT_DIM_COMPUTED,
 * for a size that ingot_plan computes (outputs only), or it stands for the number of a symbol. Numbers below
 * ingot_model.symbol_count are symbols that the caller chooses, others are sizes that the run finds (outputs only). */
#define INGOT_DIM_COMPUTED INT64_MIN
#define INGOT_DIM_IS_SYMBOL(dim) ((dim) < 0 && (dim) != INGOT_DIM_COMPUTED)
#define INGOT_DIM_SYMBOL(dim) ((int32_t)(-1 - (dim)))

/* A flag of an input that a run may leave out. Its pointer is null then, and otherwise never, even if it has no
 * elements. */
#define INGOT_TENSOR_OPTIONAL 1u
/* A flag of an output to which the run gives its memory. Its `elements` and `bytes` are -1, and where other outputs
 * have their memory it has the caller's pointer (void **) that gets the address. */
#define INGOT_TENSOR_ALLOCATED 2u

typedef struct ingot_tensor_info {
  const char *name;    /* the ONNX name, UTF-8 */
  int32_t type;        /* an ingot_type */
  int32_t rank;        /* 0: a scalar; dims may then be null */
  const int64_t *dims; /* the outermost first; see INGOT_DIM_COMPUTED */
  /* The product of dims, with found ones at their most; 1 for a scalar; -1: it depends on the symbols. */
  int64_t elements;
  int64_t bytes;       /* of the whole tensor; -1: it depends on the symbols */
  uint32_t flags;      /* INGOT_TENSOR_... */
  int32_t in_place_of; /* for an output, 1 + the number of the input whose memory may also be its own; 0: none */
  int32_t device;      /* 1 + the number of the device in whose memory the caller has it (--bind); 0: the host's */
} ingot_tensor_info;

/* A size that is chosen for each run, or found by it. */
typedef struct ingot_symbol_info {
  const char *name; /* the name that the model has for it, UTF-8 */
  int64_t least;    /* the smallest that it may be, 0 or more */
  int64_t most;     /* the largest that it may be; -1: not limited, or (a found one) not limited by numbers alone */
} ingot_symbol_info;

/* devices */

/* A kernel: a function that a device runs on work items, or in blocks of threads. */
typedef struct ingot_kernel {
  const char *name; /* its name in the images */
  /* Threads of a block along each axis; 0 in all: its work items are independent, each for one thread. */
  int32_t threads[3];
  int32_t shared_bytes; /* bytes of the memory that the threads of a block share */
} ingot_kernel;

/* The code of all kernels of a device, for one kind of device. */
typedef struct ingot_image {
  const char *target; /* the kind (an architecture), as the device's driver calls it */
  const void *bytes;  /* the code, in whatever format the driver takes; null: it is functions of this program */
  int64_t size;       /* of `bytes` */

  /* The functions of this program, one for each kernel; null for an image with bytes. Each runs work items [begin,
   * end). */
  void (*const *bodies)(const void *args, int64_t begin, int64_t end);
} ingot_image;

/* What a model knows of a device that it was compiled for. */
typedef struct ingot_device_info {
  const char *target;      /* the text behind --target */
  int64_t workspace_bytes; /* bytes of the device's memory that any run needs; -1: it depends on the symbols */
  int64_t weight_bytes;    /* bytes of the constants that the device reads */
  const void *weights;     /* these constants in the host's memory; null for a model with INGOT_MODEL_WEIGHTS_APART */
  int64_t weights_at;      /* the byte at which they begin in NAME.weights */
  uint32_t flags;          /* INGOT_DEVICE_... */
  int32_t kernel_count, image_count;
  const ingot_kernel *kernels;
  const ingot_image *images; /* the device takes the one that is for it */
} ingot_device_info;

/* A flag of a device whose kernels check what they read. They write what is wrong into a word of the device's memory
 * (ingot_device_use.status). */
#define INGOT_DEVICE_CHECKS 1u

/* One launch of a kernel. */
typedef struct ingot_launch {
  void *code;     /* the pointer that `load` gave */
  int32_t number; /* the kernel's number in ingot_device_info.kernels */
  const ingot_kernel *kernel;

  /* How many blocks there are along each of three axes. A kernel with work items has blocks[0] of these, which the
   * device may run in any order and at once. */
  int64_t blocks[3];

  /* The kernel's arguments: words of 8 bytes, little-endian. First come addresses in the device's memory, and sizes;
   * then, if the kernel checks what it reads, the address of the status and the bits that are to be added to one;
   * then blocks[0]. A kernel that finds something wrong writes a status where the word there is 0, and goes on. */
  const void *args;
  int64_t bytes;
} ingot_launch;

/* A device with a memory of its own, as its driver presents it to runs: a queue of commands, which the device
 * executes in order. One run at a time may use it. A queue or stream that the caller has already is what `context`
 * stands for.
 *
 * Functions that return int return 0, or INGOT_ERROR_DEVICE, which ends the run. After a failure a device may leave
 * out commands until the next `wait`. That call reports the failure (once, if it has not been reported yet), and
 * after it the device can be used again. */
typedef struct ingot_device {
  void *context; /* handed to the functions below */

  /* Allocates memory of the device, whose address need not be one of the host. Returns null where there is not as
   * much. A run calls it, and release, for tensors whose sizes nothing bounds (INGOT_MODEL_ALLOCATES). */
  void *(*allocate)(void *context, int64_t bytes, int64_t align);
  void (*release)(void *context, void *memory);

  /* Enqueues a copy from the host's memory to the device's. When it returns the host may change `from`. */
  int (*upload)(void *context, void *to, const void *from, int64_t bytes);

  /* Enqueues a copy from the device's memory to the host's. The bytes are at `to` when the next `wait` has returned. */
  int (*download)(void *context, void *to, const void *from, int64_t bytes);

  /* Makes the code of the image that is for this device ready, and finds its kernels. `code` gets a pointer that
   * launches hand back. It fails where no image is for the device, and then `message` says so. */
  int (*load)(void *context, const ingot_device_info *info, void **code);
  void (*unload)(void *context, void *code);

  /* Enqueues a launch. When it returns the host may change the structure and the arguments. */
  int (*launch)(void *context, const ingot_launch *launch);

  /* Returns when nothing is left in the queue. */
  int (*wait)(void *context);

  /* Returns a sentence about the last failure, without a full stop. May be null. */
  const char *(*message)(void *context);
} ingot_device;

/* A device as a run uses it. ingot_device_open makes one; callers who manage the device's memory themselves fill it
 * in. */
typedef struct ingot_device_use {
  const ingot_device *device;
  const ingot_device_info *info;
  void *workspace; /* in the device's memory, at a multiple of 64, as large as ingot_device_bytes tells */
  /* In the device's memory, at a multiple of 64: a copy of the weights of `info`, which is only read. */
  void *weights;
  void *status; /* in the device's memory: an int32, 0 between runs. Null without INGOT_DEVICE_CHECKS */
  void *code;   /* the pointer that ingot_device.load gave for `info` */
} ingot_device_use;

/* The alignment of ingot_exec.weights, in bytes. */
#define INGOT_WEIGHTS_ALIGN 64

/* What reads the weights of a model that was compiled with --weights=stream, from wherever they are: NAME.weights in
 * flash behind a serial bus, a file on a card. A run reads while it computes, so a reader that leaves the work to a DMA
 * takes little of the time; one that has read when `begin` returns needs no `finish`. */
typedef struct ingot_reader {
  void *context; /* handed to the functions below */

  /* Begins to read `bytes` bytes of NAME.weights, from byte `offset` on, to `to`. All three are multiples of
   * ingot_model.workspace_align, if the workspace is. Returns 0, or another number for a failure, which ends the run
   * with INGOT_ERROR_READ. A run begins a read when it has finished the one before, on the thread that runs it. */
  int (*begin)(void *context, int64_t offset, void *to, int64_t bytes);

  /* Returns when the bytes are there: 0, or another number for a failure. It is called once for each `begin` that did
   * not fail, whatever way the run ends. May be null. */
  int (*finish)(void *context);
} ingot_reader;

/* What a run gets from its host. With a null ingot_exec, or null functions in it, a run uses the calling thread
 * alone. The structure and what `context` points to must be usable from every thread that runs a model with it.
 * Fields that are not set have to be 0: later versions add some. */
typedef struct ingot_exec {
  void *context; /* handed to the functions below */

  /* Returns how many threads parallel_for may use at once, at least 1. */
  int (*threads)(void *context);

  /* Calls body(args, begin, end) on disjoint ranges that cover [0, count) once, on any threads, and returns when all
   * have ended. Returns 0, or the non-zero status of a failed range, preferably of the lowest; ranges after a failed
   * one may be left out. May be called from inside a body. */
  int (*parallel_for)(void *context, int (*body)(void *args, int64_t begin, int64_t end), void *args, int64_t count);

  /* The bytes of NAME.weights, for a model that was compiled with --weights=file or --weights=extern (its flags have
   * INGOT_MODEL_WEIGHTS_APART); other models do not read this field. The bytes are only read, so any number of runs,
   * threads and processes may share them. A run with a null or misaligned pointer returns an error;
   * ingot_weights_check checks the rest. For a model with INGOT_MODEL_WEIGHTS_STREAMED it is the address of the
   * ingot_reader of this run. */
  const void *weights;

  /* May be null. Models compiled with `ingot compile --profile`, and no others, call it on the calling thread before
   * (ended: 0) and after (ended: 1) each kernel. `launch` is the kernel's number in "launches" of the manifest. */
  void (*profile)(void *context, int32_t launch, int32_t ended);

  /* For tests. Models that were compiled for several levels (--levels) run as if the machine had at most this level,
   * as ingot_machine_level counts them; a model that has no level as low returns INGOT_ERROR_TARGET. 0: the highest
   * level that the machine has. Other models do not read this field. */
  int32_t level;

  /* Memory for models whose flags have INGOT_MODEL_ALLOCATES; other models call neither function. `allocate` returns
   * `bytes` (more than 0) bytes at a multiple of `align`, or null, which ends the run with INGOT_ERROR_MEMORY.
   * `output` is the number of the output that the memory is for, which the caller then owns, or -1. `release` takes
   * back what `allocate` gave. Both are called on the thread that runs the model, with `allocator`.
   * ingot_heap_allocate and ingot_heap_release are such functions. */
  void *allocator;
  void *(*allocate)(void *allocator, int64_t bytes, int64_t align, int32_t output);
  void (*release)(void *allocator, void *memory);

  /* The devices of ingot_model.devices, in their order; models without devices do not read this field. Whatever way
   * a run ends, nothing is under way on a device afterwards. Where it is null, or one of them is all zeros, a run of a
   * model with INGOT_MODEL_HOST_FALLBACK uses none of them, and any other run returns INGOT_ERROR_NULL. */
  const ingot_device_use *devices;

  /* Where a model whose flags have INGOT_MODEL_MAKES_STRINGS keeps the strings that it makes; other models do not
   * read this field. It takes memory by `allocate`. Where that is null, and the caller's own memory is full, the run
   * ends with INGOT_ERROR_MEMORY. */
  ingot_strings *strings;
} ingot_exec;

/* A flag of a model whose weights are not in the object but come with ingot_exec. */
#define INGOT_MODEL_WEIGHTS_APART 1u
/* A flag of a model whose runs ask ingot_exec.allocate for memory. */
#define INGOT_MODEL_ALLOCATES 2u
/* A flag of a model whose runs make strings, for which ingot_exec.strings has to be there. */
#define INGOT_MODEL_MAKES_STRINGS 4u
/* A flag of a model with devices that has code for the host alone as well (--with-host-fallback). A run without them
 * takes that code. ingot_devices_given tells which runs do. */
#define INGOT_MODEL_HOST_FALLBACK 8u
/* A flag of a model that reads its weights while it runs: ingot_exec.weights is an ingot_reader. */
#define INGOT_MODEL_WEIGHTS_STREAMED 16u

/* A compiled model. It is constant and lives as long as the program. */
typedef struct ingot_model {
  uint32_t abi;     /* INGOT_ABI of the compiler that made it */
  uint32_t flags;   /* INGOT_MODEL_... */
  const char *name; /* the C name, as in NAME_run */
  /* The machine that it was compiled for, "x86-64-v3", or the levels, "x86-64-v2,x86-64-v3"; devices are not in it. */
  const char *target;
  int32_t input_count, output_count, node_count, symbol_count;
  const ingot_tensor_info *inputs, *outputs;
  int64_t workspace_bytes; /* bytes that any run needs; 0: the workspace may be null; -1: it depends on the symbols */
  int64_t workspace_align; /* in bytes, a power of two */
  /* Bytes of the constants, in the object or apart; with INGOT_MODEL_WEIGHTS_STREAMED those of NAME.weights. */
  int64_t weight_bytes;
  const char *const *nodes; /* names of the ONNX nodes that a status may carry, node_count of them */

  /* Symbols in the order in which the inputs' dims name them, and behind them found sizes in the order of the outputs'
   * dims. */
  const ingot_symbol_info *symbols;

  /* Computes what follows from sizes. `dims` gets the sizes of all outputs, one output after the other, with found
   * ones at their most (-1 where they have none); `workspace_bytes` gets what a run needs. It is null for a model
   * whose sizes are all numbers. ingot_plan does the same, with checks. */
  int (*plan)(const int64_t *sizes, int64_t *dims, int64_t *workspace_bytes);

  /* Runs the model without checks. It takes input_count and output_count pointers, in the order of `inputs` and
   * `outputs`. */
  int (*run)(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace, const ingot_exec *exec);

  uint64_t weight_hash; /* the ingot_hash64 of NAME.weights, where there is one: INGOT_MODEL_WEIGHTS_...; or 0 */

  int32_t found_count; /* how many sizes a run finds; `symbols` has them behind the first symbol_count */

  /* The levels of a model for several levels (--levels), the highest first: 3 is x86-64-v3, or armv8.6-a. Each has a
   * variant of its own, and a run takes the highest that the machine has. A model for one machine has level_count 0:
   * its caller knows what it needs. */
  int32_t level_count;
  const int32_t *levels;

  /* The devices with a memory of their own on which some of the nodes run. `plan` writes the bytes of their
   * workspaces behind those of the host's. */
  int32_t device_count;
  const ingot_device_info *devices;
} ingot_model;

/* A caller's tensor. Inputs are only read. `data` may be null when there are no elements, and is null for an
 * optional input that is left out. */
typedef struct ingot_buffer {
  void *data;
  int64_t elements;
} ingot_buffer;

/* The shape of a caller's tensor. */
typedef struct ingot_shape {
  const int64_t *dims; /* may be null when rank is 0 */
  int32_t rank;        /* -1: an optional input that is left out */
} ingot_shape;

/* core: no libc, no operating system */

/* Runs `model` after checking everything that can be checked: ABI, counts, null and misaligned pointers, `sizes`,
 * and the size of the workspace (`workspace_bytes`, in bytes). Nothing has been written when a check fails. `sizes`
 * is null for a model without symbols and found sizes; `exec` may be null.
 *
 * Buffers of outputs are as large as ingot_plan says. Those of outputs that the run allocates hold `data`, the
 * address of a void *, and no elements. After a run with status 0, sizes[symbol_count] and the following are the
 * sizes that it found; see ingot_found_dims. */
int ingot_run(const ingot_model *model, const ingot_buffer *inputs, int32_t input_count, const ingot_buffer *outputs,
              int32_t output_count, int64_t *sizes, void *workspace, size_t workspace_bytes, const ingot_exec *exec);

/* Finds the sizes of a run in the shapes of its inputs; for a model without symbols it checks these shapes.
 * INGOT_ERROR_SHAPE names the first input whose rank is not the model's, or one of whose axes is not what the model,
 * or another axis of the same name, says. A symbol of inputs that are all left out gets the least size that it may
 * have. A symbol of no input (the rows that a cache has so far) keeps the size that the caller put there. */
int ingot_bind(const ingot_model *model, const ingot_shape *inputs, int32_t input_count, int64_t *sizes);

/* Computes what follows from `sizes`, when the model can run with them. `dims`, which may be null, gets the sizes of
 * all outputs, one output after the other (ingot_tensor_info.rank says how many are whose), with found ones at their
 * most, or -1 where they have none. `workspace_bytes`, which may be null, gets what a run needs. Found sizes are not
 * read. Models without symbols can be asked too. */
int ingot_plan(const ingot_model *model, const int64_t *sizes, int64_t *dims, int64_t *workspace_bytes);

/* Writes what a run found over what ingot_plan gave: `dims` are those of all outputs. */
void ingot_found_dims(const ingot_model *model, const int64_t *sizes, int64_t *dims);

/* Returns one sentence for the kind of `status`, without a full stop; never null. */
const char *ingot_error_kind_text(int status);

/* Writes a sentence with the names of the tensor or node concerned, cut to `size` bytes and always terminated when size
 * > 0. `model` may be null. Returns the length of the whole sentence, so that a result >= size means it was cut (as
 * snprintf). */
size_t ingot_error_text(const ingot_model *model, int status, char *buffer, size_t size);

/* Covers [0, count) with `body`: by exec->parallel_for, or on the calling thread where there is none. Compiled
 * models call it. A count of 0 or less does nothing. */
int ingot_parallel_for(const ingot_exec *exec, int (*body)(void *args, int64_t begin, int64_t end), void *args,
                       int64_t count);

/* Returns the highest level of this machine, or 0 if it has none. For x86-64 it is 1 to 4, by the processor and the
 * registers that the operating system saves; for 64-bit Arm it is 1 (armv8-a), 2 (armv8.2-a+dotprod) or 3
 * (armv8.6-a), by the operating system. It asks once in the life of a process, which is slow in a virtual machine. */
int ingot_machine_level(void);

/* Returns ingot_machine_level(), or exec->level where that is lower (and not 0). Compiled models call it. */
int ingot_run_level(const ingot_exec *exec);

/* Returns the level of `model` that a run with `exec` takes; 0 for a model for one machine; -INGOT_ERROR_TARGET
 * where every run ends with that status. */
int ingot_model_level(const ingot_model *model, const ingot_exec *exec);

/* Asks the operating system for matrix registers (AMX), for all threads of the process, unless it has given them
 * already. Returns 0, or INGOT_ERROR_TILES. Models compiled for a CPU that has them call it where a run begins. The
 * first call in the life of a process is a system call. */
int ingot_run_tiles(void);

/* Functions that compiled models call which read streamed weights by ingot_exec.weights, an ingot_reader. */
int ingot_weights_begin(const ingot_exec *exec, int64_t offset, void *to, int64_t bytes);
int ingot_weights_finish(const ingot_exec *exec);

/* Functions that compiled models call which ask for memory. `list` is on the run's stack, and has what the run holds
 * (core/memory.c). */
typedef struct ingot_memory ingot_memory;
int ingot_memory_begin(const ingot_exec *exec, ingot_memory *list, int32_t count);
int ingot_memory_need(const ingot_exec *exec, ingot_memory *list, int32_t number, int64_t used, int64_t bytes);
void *ingot_memory_at(const ingot_memory *list, int32_t number);
void ingot_memory_release(const ingot_exec *exec, ingot_memory *list, int32_t number);
int ingot_memory_end(const ingot_exec *exec, ingot_memory *list, int32_t count, int status);

/* Forgets all strings that runs with this `exec` have made; memory stays for the next ones. */
void ingot_strings_clear(const ingot_exec *exec);
/* Forgets these strings and gives their memory back by `exec->release`. */
void ingot_strings_release(const ingot_exec *exec);

/* Functions that compiled models call which have strings (core/strings.c and its neighbours). `arguments` has
 * addresses of two operands, how many elements each goes on from one string to the next (0 or 1), the address of a
 * constant table, that of the result, how many elements the result has, and what else core/text.h names. */
int ingot_text_spell(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_find(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_find_number(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_equal(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_join(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_case(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_pieces(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_split(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_match(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_count_tokens(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_tokens(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_count_grams(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_rank(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_write_number(const ingot_exec *exec, const int64_t *arguments);
int ingot_text_read_number(const ingot_exec *exec, const int64_t *arguments);

/* Functions that compiled models call on processors that have no instructions for 64 bits (core/wide.c). Floats are
 * given as their bits: uint64_t is a float64, uint32_t a float32. */
uint64_t ingot_wide_udiv(uint64_t a, uint64_t b);
uint64_t ingot_wide_urem(uint64_t a, uint64_t b);
int64_t ingot_wide_sdiv(int64_t a, int64_t b);
int64_t ingot_wide_srem(int64_t a, int64_t b);
uint64_t ingot_wide_add(uint64_t a, uint64_t b);
uint64_t ingot_wide_sub(uint64_t a, uint64_t b);
uint64_t ingot_wide_mul(uint64_t a, uint64_t b);
uint64_t ingot_wide_div(uint64_t a, uint64_t b);
uint64_t ingot_wide_sqrt(uint64_t x);
uint64_t ingot_wide_maximum(uint64_t a, uint64_t b);
uint64_t ingot_wide_minimum(uint64_t a, uint64_t b);
/* Returns 1 if they are equal, 2 if a is greater, 4 if b is greater, 8 if one of them is not a number. */
int32_t ingot_wide_compare(uint64_t a, uint64_t b);
uint64_t ingot_wide_from_float(uint32_t x);
uint32_t ingot_wide_to_float(uint64_t x);
uint64_t ingot_wide_from_int64(int64_t x);
uint64_t ingot_wide_from_uint64(uint64_t x);
int64_t ingot_wide_to_int64(uint64_t x);
uint64_t ingot_wide_to_uint64(uint64_t x);
uint32_t ingot_wide_int64_to_float(int64_t x);
uint32_t ingot_wide_uint64_to_float(uint64_t x);
int64_t ingot_wide_float_to_int64(uint32_t x);
uint64_t ingot_wide_float_to_uint64(uint32_t x);

/* Computes what a run with `sizes` (null for a model without symbols) needs of the memory of the device with this
 * number, in bytes, without the weights. */
int ingot_device_bytes(const ingot_model *model, const int64_t *sizes, int32_t number, int64_t *bytes);

/* Makes a device ready for runs of `model` with sizes for which `workspace_bytes` (see ingot_device_bytes) are
 * enough. It loads the kernels, allocates workspace and weights, and copies the weights there, from `weights` (as in
 * ingot_exec) for a model with INGOT_MODEL_WEIGHTS_APART. It returns INGOT_ERROR_NULL, or INGOT_ERROR_DEVICE where
 * no code of the model is for the device, or where the device has not as much memory or fails. Then nothing is held,
 * and `use` is all zeros. */
int ingot_device_open(const ingot_model *model, int32_t number, int64_t workspace_bytes, const void *weights,
                      const ingot_device *device, ingot_device_use *use);

/* Gives the memory of `use` back; all zeros are allowed. No run may be using it. */
void ingot_device_close(ingot_device_use *use);

/* Returns 1 where `exec`, which may be null, has the first `count` devices, and else 0. With ingot_model.device_count
 * for `count` it tells whether a run with `exec` uses the model's devices. */
int ingot_devices_given(const ingot_exec *exec, int32_t count);

/* Functions that compiled models call which run on devices. A device is given by its number (core/device.c). */
int ingot_devices_begin(const ingot_exec *exec, int32_t count);
void *ingot_device_workspace(const ingot_exec *exec, int32_t number);
void *ingot_device_weights(const ingot_exec *exec, int32_t number);
int ingot_device_upload(const ingot_exec *exec, int32_t number, void *to, const void *from, int64_t bytes);
int ingot_device_download(const ingot_exec *exec, int32_t number, void *to, const void *from, int64_t bytes);
void *ingot_device_status(const ingot_exec *exec, int32_t number);
int ingot_device_launch(const ingot_exec *exec, int32_t number, int32_t kernel, const void *args, int64_t bytes,
                        int64_t x, int64_t y, int64_t z);
int ingot_device_wait(const ingot_exec *exec, int32_t number);
int ingot_devices_end(const ingot_exec *exec, int32_t count, int status);

/* Returns the bytes of one element, which are also the alignment that its tensor needs; 1 where several share a
 * byte, 0 for an unknown type. */
size_t ingot_type_bytes(int32_t type);

/* Returns how many elements share a byte: 2 for types of 4 bits, 4 for those of 2, else 1. */
int64_t ingot_type_pack(int32_t type);

/* Returns "float32", "int64" and so on; "unknown" for a number that is no type. */
const char *ingot_type_text(int32_t type);

/* images: libingot_image.a, which compiled models with an ImageDecoder call */

/* The most pixels of an image; larger ones are refused. */
#define INGOT_IMAGE_MOST_PIXELS ((int64_t)1 << 27)

/* The order of the channels of a pixel, each of which is a byte. */
#define INGOT_IMAGE_RGB 0
#define INGOT_IMAGE_BGR 1
#define INGOT_IMAGE_GRAY 2

/* Writes the height and width that the header of an encoded image says. The image may be a BMP, JPEG, JPEG 2000,
 * PNG, PNM, TIFF or WebP; for anything else it writes 0 and 0. It returns INGOT_ERROR_IMAGE, and writes 0 and 0,
 * where the header is damaged, or the image has no pixel or more than INGOT_IMAGE_MOST_PIXELS. */
int ingot_image_size(const void *data, int64_t bytes, int64_t *height_width);

/* Decodes an image, whose size is what ingot_image_size says, into height * width pixels, row by row from the top.
 * For 0 pixels it does nothing. It returns 0, INGOT_ERROR_IMAGE or INGOT_ERROR_MEMORY; after an error the pixels are
 * of no use. It takes memory from the heap meanwhile. */
int ingot_image_decode(const void *data, int64_t bytes, int32_t order, int64_t height, int64_t width, void *pixels);

/* hosted: the heap, POSIX threads and files */

/* Memory that was released and waits for the next run; all zeros at first. One thread at a time may use it. */
typedef struct ingot_heap {
  void *kept;
  int64_t count;
} ingot_heap;

/* Functions for ingot_exec.allocate and .release, which use malloc and free. Memory that the first gave only the
 * second may free. `allocator`, if it is not null, is an ingot_heap that keeps up to 64 blocks: a heap alone gives
 * large blocks back to the system after each run, which costs more than most runs. */
void *ingot_heap_allocate(void *allocator, int64_t bytes, int64_t align, int32_t output);
void ingot_heap_release(void *allocator, void *memory);
/* Frees what a heap keeps; it can be used again. */
void ingot_heap_clear(ingot_heap *heap);

/* Asks the system to back memory, before it is written first, by large pages (transparent huge pages of Linux). It
 * changes nothing below 4 MiB and on other systems. ingot_heap_allocate asks for it, and Workspace of ingot.hpp;
 * call it for workspaces and tensors of your own. */
void ingot_prefer_large_pages(void *memory, int64_t bytes);

typedef struct ingot_pool ingot_pool;

/* Makes a pool of `threads` threads, the calling one counted; 0: as many as the processors that this process may
 * use. Returns null when there is no memory. When the system gives fewer threads, the pool has those
 * (ingot_exec.threads tells). */
ingot_pool *ingot_pool_create(int threads);

/* Returns what to hand to a run. It is valid until the pool is destroyed, and usable from any number of threads at
 * once and from inside a body. Results, and the status of a failed loop, do not depend on the number of threads. */
const ingot_exec *ingot_pool_exec(const ingot_pool *pool);

/* Ends the threads. No run may be using the pool. Null is allowed. */
void ingot_pool_destroy(ingot_pool *pool);

/* Returns the XXH64 with seed 0 of `bytes` bytes, which is the hash that ingot_weights_map expects. It is the same
 * on every machine. */
uint64_t ingot_hash64(const void *data, size_t bytes);

/* Checks whether `bytes` bytes at `data` are the weights that `model` takes in ingot_exec.weights. Returns
 * INGOT_ERROR_NULL, _ALIGNMENT, _CONTENT (another size), _HASH (other bytes) or 0, which it always returns for a
 * model whose weights are in its object. Of a model that streams them it checks the bytes that its reader reads. It
 * reads all of the bytes, so call it once and not before every run. It needs no operating system. */
int ingot_weights_check(const ingot_model *model, const void *data, int64_t bytes);

/* A weights file that is mapped read-only; `data` is aligned to a page. The file must not be changed while it is
 * mapped. */
typedef struct ingot_weights {
  const void *data;
  int64_t bytes;
} ingot_weights;

/* Maps the file at `path` and checks that it has `expected_bytes` bytes and the hash `expected_hash` (see
 * ingot_hash64), for which it reads the whole file once. On failure it returns INGOT_ERROR_NULL, _FILE, _CONTENT
 * (another size) or _HASH, and `weights` is {null, 0}. */
int ingot_weights_map(const char *path, int64_t expected_bytes, uint64_t expected_hash, ingot_weights *weights);

/* Maps the weights of `model`: its NAME.weights, wherever that is now. Put weights->data into ingot_exec.weights.
 * For a model whose weights are in its object there is no file to map: `weights` becomes {null, 0}, and the status
 * is 0. */
int ingot_weights_load(const ingot_model *model, const char *path, ingot_weights *weights);

/* Makes `reader` copy from `weights`, for models with INGOT_MODEL_WEIGHTS_STREAMED. Returns what ingot_exec.weights has
 * to be for `model`: the reader, or weights->data. */
const void *ingot_weights_for(const ingot_model *model, const ingot_weights *weights, ingot_reader *reader);

/* Undoes ingot_weights_map and ingot_weights_load; {null, 0} is allowed. No run may be using them. */
void ingot_weights_unmap(ingot_weights *weights);

#ifdef __cplusplus
}
#endif

#endif
