/* Finds the driver's library, and has a text for each way in which it fails. */
#include "driver.h"
#include "ingot.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int findEntries(cuda_driver *driver, char *why, size_t bytes) {
  const char *missing = NULL;
  void *found;
  /* A function's address, which C does not let a void * become, goes through memory. */
#define INGOT_CUDA_FIND(field, symbol, parameters)                                                                     \
  found = dlsym(driver->library, symbol);                                                                              \
  memcpy(&driver->field, &found, sizeof found);                                                                        \
  missing = found || missing ? missing : (symbol);
  INGOT_CUDA_ENTRIES(INGOT_CUDA_FIND)
#undef INGOT_CUDA_FIND
  if (missing) {
    snprintf(why, bytes, "the CUDA driver is too old: it has no %s; install one for CUDA %d.%d or newer", missing,
             CUDA_LEAST_VERSION / 1000, CUDA_LEAST_VERSION % 1000 / 10);
    return INGOT_ERROR_DEVICE;
  }
  int (*emulates)(void);
  found = dlsym(driver->library, "ingot_emulator_emulates");
  memcpy(&emulates, &found, sizeof found);
  driver->emulates = emulates && emulates();
  return 0;
}

int ingot_cuda_driver_open(const char *path, cuda_driver *driver, char *why, size_t bytes) {
  const char *named = path ? path : getenv("INGOT_LIBCUDA");
  memset(driver, 0, sizeof *driver);
  driver->library = dlopen(named ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver->library) {
    snprintf(why, bytes, "there is no CUDA driver (%s); install NVIDIA's driver, or compile the model for the host",
             dlerror());
    return INGOT_ERROR_DEVICE;
  }
  int status = findEntries(driver, why, bytes);
  cuda_result result = status ? 0 : driver->init(0);
  result = status || result ? result : driver->driverGetVersion(&driver->version);
  if (result) {
    ingot_cuda_explain(driver, "the CUDA driver does not start", result, why, bytes);
  } else if (!status && driver->version < CUDA_LEAST_VERSION) {
    snprintf(why, bytes, "the CUDA driver is too old: it is for CUDA %d.%d; install one for CUDA %d.%d or newer",
             driver->version / 1000, driver->version % 1000 / 10, CUDA_LEAST_VERSION / 1000,
             CUDA_LEAST_VERSION % 1000 / 10);
    status = INGOT_ERROR_DEVICE;
  }
  if (result || status) {
    dlclose(driver->library);
    return INGOT_ERROR_DEVICE;
  }
  return 0;
}

/* What is known of a result. */
typedef struct cuda_known_result {
  cuda_result result;
  int isFinal;        /* whether nothing goes in the GPU's context behind it */
  const char *advice; /* what a user does about it; null where the driver's own text has to do */
} cuda_known_result;

static const char broken[] = "the GPU is broken or was lost; look at dmesg and start the process again";
static const char faulted[] =
    "a kernel faulted, or a pointer of the GPU was wrong; the process cannot use the GPU any more";
static const char otherArchitecture[] = "compile the model for the architecture of this GPU";

static const cuda_known_result knownResults[] = {
    {CUDA_OUT_OF_MEMORY, 0, "free memory of the GPU, or run smaller sizes"},
    {CUDA_STUB_LIBRARY, 0, "this libcuda.so is the toolkit's stub; remove its folder from the paths of libraries"},
    {CUDA_DEVICE_UNAVAILABLE, 0, "another process has the GPU for itself (nvidia-smi -q -d COMPUTE)"},
    {CUDA_NO_DEVICE, 0,
     "the driver sees no GPU; look at nvidia-smi and $CUDA_VISIBLE_DEVICES, or compile the model for the host"},
    {CUDA_NO_BINARY, 0, otherArchitecture},
    {CUDA_INVALID_PTX, 0, otherArchitecture},
    {CUDA_NO_JIT_COMPILER, 0,
     "the driver's compiler of PTX is missing; install all of the driver (libnvidia-ptxjitcompiler.so.1)"},
    {CUDA_UNSUPPORTED_PTX, 0, "the driver is too old for the model's code; install a newer one"},
    {CUDA_ECC_UNCORRECTABLE, 1, broken},
    {CUDA_NVLINK_UNCORRECTABLE, 1, broken},
    {CUDA_TOO_MANY_RESOURCES, 0,
     "a kernel needs more registers or shared memory than the GPU has; compile the model for this GPU"},
    {CUDA_ILLEGAL_ADDRESS, 1, faulted},
    {CUDA_ASSERT, 1, faulted},
    {CUDA_HARDWARE_STACK, 1, faulted},
    {CUDA_ILLEGAL_INSTRUCTION, 1, faulted},
    {CUDA_MISALIGNED_ADDRESS, 1, faulted},
    {CUDA_INVALID_SPACE, 1, faulted},
    {CUDA_INVALID_PC, 1, faulted},
    {CUDA_LAUNCH_FAILED, 1, faulted},
    {CUDA_TIMEOUT, 1, "the system ended a kernel that ran for too long; use a GPU that shows no display"},
    {CUDA_CONTEXT_DESTROYED, 1, NULL},
    {CUDA_SYSTEM_NOT_READY, 0, "the driver is not ready yet; is nvidia-fabricmanager running"},
    {CUDA_DRIVER_MISMATCH, 0,
     "the driver's library and its kernel module are of different versions; start the machine again"},
};

/* Returns what is known of a result: neither final nor with advice where the table has no line for it. */
static cuda_known_result knownOf(cuda_result result) {
  for (size_t i = 0; i < sizeof knownResults / sizeof *knownResults; ++i) {
    if (knownResults[i].result == result) {
      return knownResults[i];
    }
  }
  cuda_known_result unknown = {result, 0, NULL};
  return unknown;
}

void ingot_cuda_explain(const cuda_driver *driver, const char *what, cuda_result result, char *why, size_t bytes) {
  const char *name = NULL, *text = NULL, *advice = knownOf(result).advice;
  (void)driver->getErrorName(result, &name);
  (void)driver->getErrorString(result, &text);
  snprintf(why, bytes, "%s: %s (%s, %d)%s%s", what, text ? text : "an error that the driver does not know",
           name ? name : "unknown", result, advice ? "; " : "", advice ? advice : "");
}

int ingot_cuda_is_final(cuda_result result) { return knownOf(result).isFinal; }
