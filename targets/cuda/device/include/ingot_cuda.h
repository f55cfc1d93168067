/* Opens NVIDIA GPUs as devices for runs of compiled models (ingot_device in ingot.h). It is for C99 and C++.
 *
 * A program that runs a model compiled with `--target cuda:...` links libingot_cuda.a beside libingot_rt.a, and the
 * system's library for dlopen. Nothing of CUDA is needed to build it. The driver (libcuda.so.1) is opened by the first
 * ingot_cuda_open: on a machine without one the program starts as ever, and gets an error with a text.
 *
 *   ingot_cuda *gpu;
 *   char why[INGOT_CUDA_WHY_BYTES];
 *   if (ingot_cuda_open(NULL, &gpu, why, sizeof why) != 0) ...       no GPU, or no driver: `why` says what to do
 *   ingot_device_use use;
 *   int64_t bytes = net_model()->devices[0].workspace_bytes;
 *   status = ingot_device_open(net_model(), 0, bytes, NULL, ingot_cuda_device(gpu), &use);
 *   ingot_exec exec = {.devices = &use};
 *   status = net_run(image, scores, workspace, &exec);
 *   ...
 *   ingot_device_close(&use);
 *   ingot_cuda_close(gpu);
 *
 * An ingot_cuda serves one run at a time, on any thread. Runs that overlap take one each; they may be of one GPU. */
#ifndef INGOT_CUDA_H
#define INGOT_CUDA_H

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A GPU that is open: a stream in its primary context, which other users of CUDA in the program share. */
typedef struct ingot_cuda ingot_cuda;

/* A flag: each kernel is launched by itself. Otherwise kernels that follow each other and did so before, with the same
 * arguments, are launched all at once, as a CUDA graph. */
#define INGOT_CUDA_NO_GRAPHS 1u

/* What a program may choose; all zeros is the first GPU with a stream of its own. */
typedef struct ingot_cuda_settings {
  int32_t number; /* of the GPU, as the driver counts those in $CUDA_VISIBLE_DEVICES */
  uint32_t flags; /* INGOT_CUDA_... */

  /* The caller's stream (CUstream or cudaStream_t) in the GPU's primary context, into which runs put their work; it
   * has to live until ingot_cuda_close. Null: one of its own. */
  void *stream;

  /* The path of the driver's library. Null: what $INGOT_LIBCUDA says, or libcuda.so.1. */
  const char *driver;
} ingot_cuda_settings;

/* Bytes that the longest text of an ingot_cuda takes, with its NUL. */
#define INGOT_CUDA_WHY_BYTES 1024

/* Opens a GPU; `settings` may be null. It is 0, or INGOT_ERROR_DEVICE (INGOT_ERROR_MEMORY, INGOT_ERROR_NULL). Then
 * `*opened` is null, and `why`, of `bytes` bytes, is a sentence about the reason and what to do, without a full stop;
 * it may be null. */
int ingot_cuda_open(const ingot_cuda_settings *settings, ingot_cuda **opened, char *why, size_t bytes);

/* Closes what ingot_cuda_open has opened, if it is not null. Memory and code of models are given back before. */
void ingot_cuda_close(ingot_cuda *gpu);

/* Returns the device for runs. It lives as long as `gpu`. Its `message` tells of the last failure what to do. */
const ingot_device *ingot_cuda_device(const ingot_cuda *gpu);

/* Writes "sm_90", the architecture of the GPU, or "emulated", into 16 bytes. */
void ingot_cuda_architecture(const ingot_cuda *gpu, char architecture[16]);

#ifdef __cplusplus
}
#endif

#endif
