/* What the parts of a GPU that is open have in common:
 *   device.c   opening and closing, memory
 *   copies.c   copies through pinned memory, and the wait for them
 *   code.c     images and their kernels
 *   unpack.c   images that are packed
 *   pieces.c   launches, one by one or as a graph
 *   graph.c    graphs: which launches wait for which
 * Functions that return int give 0, or INGOT_ERROR_DEVICE with a text in the device's `message`. They are called with
 * the GPU's context current. */
#ifndef INGOT_CUDA_DEVICE_H
#define INGOT_CUDA_DEVICE_H

#include "driver.h"
#include "ingot_cuda.h"

enum {
  INGOT_CUDA_MOST_PIECES = 64,           /* that a device remembers */
  INGOT_CUDA_MOST_PIECE_BYTES = 1 << 20, /* of launches that may become a graph */
  INGOT_CUDA_ITEM_THREADS = 128,         /* of a block of a kernel whose items are threads */
  INGOT_CUDA_MOST_ARGUMENT_BYTES = 4096  /* that a launch takes */
};

/* A kernel of a model. `uses` says what it does with memory (targets/cuda/Packing.h): how many of its arguments are
 * addresses, which are the first ones, and for each of them a word of 2 * its bytes, and 1 more where it writes them.
 * It is null where that is not known. */
typedef struct ingot_cuda_function {
  cuda_function function;
  const uint64_t *uses;
} ingot_cuda_function;

/* The code of a model: a module, with a function for each kernel. */
typedef struct ingot_cuda_code {
  cuda_module module;
  uint64_t *uses; /* of all kernels */
  ingot_cuda_function functions[];
} ingot_cuda_code;

/* A launch as it is remembered, with its arguments behind it. Records of equal launches have equal bytes. */
typedef struct ingot_cuda_record {
  cuda_function function;
  const uint64_t *uses;
  size_t argumentBytes;
  uint32_t grid[3], block[3], sharedBytes, unused;
} ingot_cuda_record;

/* Launches between two copies or waits: records of launches, one behind the other. */
typedef struct ingot_cuda_piece {
  char *records;
  size_t bytes, room;
  int launches;
  cuda_graph_exec graph; /* null before the second time */
  uint64_t used;         /* when it was, as ingot_cuda.clock counts */
} ingot_cuda_piece;

/* A copy to the host that is to be brought from the pinned memory to its place by the next wait. */
typedef struct ingot_cuda_delivery {
  void *to;
  const char *from;
  size_t bytes;
} ingot_cuda_delivery;

struct ingot_cuda {
  ingot_device interface;
  cuda_driver driver;
  cuda_device number;
  cuda_context context;
  cuda_stream stream, own; /* `own` is null where the stream is the caller's */
  int major, minor;        /* its compute capability */
  uint32_t flags;
  int lost; /* whether nothing goes any more */
  char message[INGOT_CUDA_WHY_BYTES];

  char *pinned;
  size_t pinnedBytes, pinnedUsed;
  ingot_cuda_delivery *deliveries;
  size_t deliveryCount, deliveryRoom;

  ingot_cuda_piece pieces[INGOT_CUDA_MOST_PIECES];
  ingot_cuda_piece now; /* the piece that is being launched */
  size_t issued;        /* bytes of its records of which the driver knows */
  uint64_t candidates;  /* a bit for each of `pieces` that begins like it */
  uint64_t clock;
};

/* Notes a failure. */
int ingot_cuda_fail(ingot_cuda *gpu, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns 0 if `result` is, else notes that `what` failed. */
int ingot_cuda_check(ingot_cuda *gpu, const char *what, cuda_result result);

/* Makes the context current, and what was current before again. Calls of the interface do their work between these. */
int ingot_cuda_enter(ingot_cuda *gpu);
int ingot_cuda_leave(ingot_cuda *gpu, int status);

/* These are in copies.c. */
int ingot_cuda_upload(void *context, void *to, const void *from, int64_t bytes);
int ingot_cuda_download(void *context, void *to, const void *from, int64_t bytes);
int ingot_cuda_wait(void *context);
void ingot_cuda_release_copies(ingot_cuda *gpu);

/* These are in code.c. */
int ingot_cuda_load(void *context, const ingot_device_info *info, void **code);
void ingot_cuda_unload(void *context, void *code);

/* These are in pieces.c. */
int ingot_cuda_launch(void *context, const ingot_launch *launch);
/* Hands all launches to the driver that have waited for what follows them. */
int ingot_cuda_flush(ingot_cuda *gpu);
void ingot_cuda_release_pieces(ingot_cuda *gpu);

/* This is in graph.c: makes the graph of a piece. */
int ingot_cuda_make_graph(ingot_cuda *gpu, ingot_cuda_piece *piece);

#endif
