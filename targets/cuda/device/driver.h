/* The entry points of CUDA's driver that the device calls. They are declared here by NVIDIA's documentation of the
 * driver API, so that nothing of the toolkit is needed, and are found in the driver's library when a GPU is opened.
 * Names that end in _v2 are those that take 64-bit addresses and sizes. */
#ifndef INGOT_CUDA_DRIVER_H
#define INGOT_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;
typedef int cuda_device;
typedef unsigned long long cuda_address;
typedef struct cuda_context_t *cuda_context;
typedef struct cuda_module_t *cuda_module;
typedef struct cuda_function_t *cuda_function;
typedef struct cuda_stream_t *cuda_stream;
typedef struct cuda_graph_t *cuda_graph;
typedef struct cuda_graph_node_t *cuda_graph_node;
typedef struct cuda_graph_exec_t *cuda_graph_exec;

/* Results (CUresult) that have a text of their own. */
enum {
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_STUB_LIBRARY = 34,
  CUDA_DEVICE_UNAVAILABLE = 46,
  CUDA_NO_DEVICE = 100,
  CUDA_INVALID_DEVICE = 101,
  CUDA_NO_BINARY = 209,
  CUDA_ECC_UNCORRECTABLE = 214,
  CUDA_INVALID_PTX = 218,
  CUDA_NVLINK_UNCORRECTABLE = 220,
  CUDA_NO_JIT_COMPILER = 221,
  CUDA_UNSUPPORTED_PTX = 222,
  CUDA_NOT_FOUND = 500,
  CUDA_ILLEGAL_ADDRESS = 700,
  CUDA_TOO_MANY_RESOURCES = 701,
  CUDA_TIMEOUT = 702,
  CUDA_CONTEXT_DESTROYED = 709,
  CUDA_ASSERT = 710,
  CUDA_HARDWARE_STACK = 714,
  CUDA_ILLEGAL_INSTRUCTION = 715,
  CUDA_MISALIGNED_ADDRESS = 716,
  CUDA_INVALID_SPACE = 717,
  CUDA_INVALID_PC = 718,
  CUDA_LAUNCH_FAILED = 719,
  CUDA_SYSTEM_NOT_READY = 802,
  CUDA_DRIVER_MISMATCH = 803
};

/* Constants of NVIDIA's enumerations. */
enum {
  CUDA_ATTRIBUTE_MAJOR = 75, /* CUdevice_attribute */
  CUDA_ATTRIBUTE_MINOR = 76,
  CUDA_MAX_DYNAMIC_SHARED_BYTES = 8, /* CUfunction_attribute */
  CUDA_JIT_ERROR_LOG = 5,            /* CUjit_option */
  CUDA_JIT_ERROR_LOG_BYTES = 6,
  CUDA_STREAM_NON_BLOCKING = 1, /* CUstream_flags */
  CUDA_LEAST_VERSION = 11040,   /* of the driver: cuGraphInstantiateWithFlags is of 11.4 */
  CUDA_ARGUMENTS_END = 0,       /* what `extra` of a launch consists of */
  CUDA_ARGUMENTS = 1,
  CUDA_ARGUMENT_BYTES = 2,
  CUDA_SHARED_BYTES_BY_DEFAULT = 48 << 10
};

/* A launch as a node of a graph (CUDA_KERNEL_NODE_PARAMS_v1). */
typedef struct cuda_kernel_node {
  cuda_function function;
  unsigned grid[3], block[3], sharedBytes;
  void **parameters, **extra;
} cuda_kernel_node;

/* ENTRY(field, symbol, parameters) */
#define INGOT_CUDA_ENTRIES(ENTRY)                                                                                      \
  ENTRY(init, "cuInit", (unsigned flags))                                                                              \
  ENTRY(driverGetVersion, "cuDriverGetVersion", (int *version))                                                        \
  ENTRY(getErrorName, "cuGetErrorName", (cuda_result result, const char **name))                                       \
  ENTRY(getErrorString, "cuGetErrorString", (cuda_result result, const char **text))                                   \
  ENTRY(deviceGetCount, "cuDeviceGetCount", (int *count))                                                              \
  ENTRY(deviceGet, "cuDeviceGet", (cuda_device * device, int number))                                                  \
  ENTRY(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, cuda_device device))                   \
  ENTRY(contextRetain, "cuDevicePrimaryCtxRetain", (cuda_context * context, cuda_device device))                       \
  ENTRY(contextRelease, "cuDevicePrimaryCtxRelease_v2", (cuda_device device))                                          \
  ENTRY(contextPush, "cuCtxPushCurrent_v2", (cuda_context context))                                                    \
  ENTRY(contextPop, "cuCtxPopCurrent_v2", (cuda_context * context))                                                    \
  ENTRY(moduleLoadData, "cuModuleLoadDataEx",                                                                          \
        (cuda_module * module, const void *image, unsigned count, int *options, void **values))                        \
  ENTRY(moduleUnload, "cuModuleUnload", (cuda_module module))                                                          \
  ENTRY(moduleGetFunction, "cuModuleGetFunction", (cuda_function * function, cuda_module module, const char *name))    \
  ENTRY(functionSetAttribute, "cuFuncSetAttribute", (cuda_function function, int attribute, int value))                \
  ENTRY(memoryGetInfo, "cuMemGetInfo_v2", (size_t *unused, size_t *total))                                             \
  ENTRY(memoryAllocate, "cuMemAlloc_v2", (cuda_address * address, size_t bytes))                                       \
  ENTRY(memoryFree, "cuMemFree_v2", (cuda_address address))                                                            \
  ENTRY(hostAllocate, "cuMemHostAlloc", (void **memory, size_t bytes, unsigned flags))                                 \
  ENTRY(hostFree, "cuMemFreeHost", (void *memory))                                                                     \
  ENTRY(upload, "cuMemcpyHtoDAsync_v2", (cuda_address to, const void *from, size_t bytes, cuda_stream stream))         \
  ENTRY(download, "cuMemcpyDtoHAsync_v2", (void *to, cuda_address from, size_t bytes, cuda_stream stream))             \
  ENTRY(streamCreate, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                                        \
  ENTRY(streamDestroy, "cuStreamDestroy_v2", (cuda_stream stream))                                                     \
  ENTRY(streamSynchronize, "cuStreamSynchronize", (cuda_stream stream))                                                \
  ENTRY(launch, "cuLaunchKernel",                                                                                      \
        (cuda_function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,     \
         unsigned blockZ, unsigned sharedBytes, cuda_stream stream, void **parameters, void **extra))                  \
  ENTRY(graphCreate, "cuGraphCreate", (cuda_graph * graph, unsigned flags))                                            \
  ENTRY(graphAddKernel, "cuGraphAddKernelNode",                                                                        \
        (cuda_graph_node * node, cuda_graph graph, const cuda_graph_node *after, size_t count,                         \
         const cuda_kernel_node *launch))                                                                              \
  ENTRY(graphInstantiate, "cuGraphInstantiateWithFlags",                                                               \
        (cuda_graph_exec * ready, cuda_graph graph, unsigned long long flags))                                         \
  ENTRY(graphDestroy, "cuGraphDestroy", (cuda_graph graph))                                                            \
  ENTRY(graphLaunch, "cuGraphLaunch", (cuda_graph_exec ready, cuda_stream stream))                                     \
  ENTRY(graphExecDestroy, "cuGraphExecDestroy", (cuda_graph_exec ready))

typedef struct cuda_driver {
  void *library;
#define INGOT_CUDA_FIELD(field, symbol, parameters) cuda_result(*field) parameters;
  INGOT_CUDA_ENTRIES(INGOT_CUDA_FIELD)
#undef INGOT_CUDA_FIELD
  int version; /* of CUDA that it supports: 12040 is 12.4 */
  /* Whether it is the emulator of the tests, which runs the image `emulated`: it has a symbol that NVIDIA's has not. */
  int emulates;
} cuda_driver;

/* Opens a driver's library at `path`, or where the environment or the system has it, and starts it; it stays for the
 * life of the process. It is 0, or INGOT_ERROR_DEVICE with a text in `why`. */
int ingot_cuda_driver_open(const char *path, cuda_driver *driver, char *why, size_t bytes);

/* Writes that `what` (a call, or work of the GPU) ended with `result`, and what to do about it. */
void ingot_cuda_explain(const cuda_driver *driver, const char *what, cuda_result result, char *why, size_t bytes);

/* Whether nothing goes in the GPU's context behind such a result. */
int ingot_cuda_is_final(cuda_result result);

#endif
