/* Opens a GPU, and gives runs its memory. */
#include "device.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ingot_cuda_fail(ingot_cuda *gpu, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(gpu->message, sizeof gpu->message, format, arguments);
  va_end(arguments);
  return INGOT_ERROR_DEVICE;
}

int ingot_cuda_check(ingot_cuda *gpu, const char *what, cuda_result result) {
  if (!result) {
    return 0;
  }
  gpu->lost = gpu->lost || ingot_cuda_is_final(result);
  ingot_cuda_explain(&gpu->driver, what, result, gpu->message, sizeof gpu->message);
  return INGOT_ERROR_DEVICE;
}

int ingot_cuda_enter(ingot_cuda *gpu) {
  return ingot_cuda_check(gpu, "the GPU's context cannot be used", gpu->driver.contextPush(gpu->context));
}

int ingot_cuda_leave(ingot_cuda *gpu, int status) {
  cuda_context left;
  int popped = ingot_cuda_check(gpu, "the GPU's context cannot be left", status ? 0 : gpu->driver.contextPop(&left));
  if (status) { /* whose text counts */
    (void)gpu->driver.contextPop(&left);
  }
  return status ? status : popped;
}

static void *allocateIn(ingot_cuda *gpu, int64_t bytes, int64_t align) {
  enum { DRIVERS_ALIGN = 256 };
  if (align > DRIVERS_ALIGN) {
    ingot_cuda_fail(gpu, "the driver aligns memory to %d bytes, and not to %lld", DRIVERS_ALIGN, (long long)align);
    return NULL;
  }
  cuda_address address = 0;
  cuda_result result = gpu->driver.memoryAllocate(&address, (size_t)bytes);
  size_t unused = 0, total = 0;
  if (result == CUDA_OUT_OF_MEMORY && !gpu->driver.memoryGetInfo(&unused, &total)) {
    ingot_cuda_fail(
        gpu, "the GPU has no %lld bytes left: %zu of its %zu are unused; free memory of it, or run smaller sizes",
        (long long)bytes, unused, total);
    return NULL;
  }
  return ingot_cuda_check(gpu, "no memory of the GPU", result) ? NULL : (void *)(uintptr_t)address;
}

static void *allocate(void *context, int64_t bytes, int64_t align) {
  ingot_cuda *gpu = context;
  if (ingot_cuda_enter(gpu)) {
    return NULL;
  }
  void *memory = allocateIn(gpu, bytes, align);
  return ingot_cuda_leave(gpu, memory ? 0 : INGOT_ERROR_DEVICE) ? NULL : memory;
}

static void release(void *context, void *memory) {
  ingot_cuda *gpu = context;
  if (!ingot_cuda_enter(gpu)) {
    int status = ingot_cuda_flush(gpu); /* what has not reached the driver may read it */
    int freed = ingot_cuda_check(gpu, "memory of the GPU cannot be freed",
                                 gpu->driver.memoryFree((cuda_address)(uintptr_t)memory));
    (void)ingot_cuda_leave(gpu, status ? status : freed);
  }
}

static const char *message(void *context) {
  ingot_cuda *gpu = context;
  return gpu->message[0] ? gpu->message : NULL;
}

/* Finds the GPU and what it is, and takes a reference to its primary context. */
static int findDevice(ingot_cuda *gpu, int number) {
  const cuda_driver *driver = &gpu->driver;
  int count = 0;
  int status = ingot_cuda_check(gpu, "the GPUs cannot be counted", driver->deviceGetCount(&count));
  if (!status && count == 0) {
    return ingot_cuda_check(gpu, "there is no GPU", CUDA_NO_DEVICE);
  }
  if (!status && (number < 0 || number >= count)) {
    return ingot_cuda_fail(gpu, "there is no GPU %d: the driver has %d, counted from 0", number, count);
  }
  const char *what = "the GPU cannot be opened";
  status = status ? status : ingot_cuda_check(gpu, what, driver->deviceGet(&gpu->number, number));
  status =
      status ? status
             : ingot_cuda_check(gpu, what, driver->deviceGetAttribute(&gpu->major, CUDA_ATTRIBUTE_MAJOR, gpu->number));
  status =
      status ? status
             : ingot_cuda_check(gpu, what, driver->deviceGetAttribute(&gpu->minor, CUDA_ATTRIBUTE_MINOR, gpu->number));
  return status ? status : ingot_cuda_check(gpu, what, driver->contextRetain(&gpu->context, gpu->number));
}

/* Makes the stream, if the caller has none. */
static int makeStream(ingot_cuda *gpu, void *callers) {
  int status = ingot_cuda_enter(gpu);
  if (status) {
    return status;
  }
  const char *what = "no stream of the GPU can be made";
  if (!callers) {
    status = ingot_cuda_check(gpu, what, gpu->driver.streamCreate(&gpu->own, CUDA_STREAM_NON_BLOCKING));
  }
  gpu->stream = callers ? callers : gpu->own;
  return ingot_cuda_leave(gpu, status);
}

int ingot_cuda_open(const ingot_cuda_settings *settings, ingot_cuda **opened, char *why, size_t bytes) {
  static const ingot_cuda_settings ordinary;
  const ingot_cuda_settings *wanted = settings ? settings : &ordinary;
  if (!opened) {
    return INGOT_ERROR_NULL;
  }
  *opened = NULL;
  ingot_cuda *gpu = calloc(1, sizeof *gpu);
  if (!gpu) {
    return INGOT_ERROR_MEMORY;
  }
  ingot_device interface = {gpu,
                            allocate,
                            release,
                            ingot_cuda_upload,
                            ingot_cuda_download,
                            ingot_cuda_load,
                            ingot_cuda_unload,
                            ingot_cuda_launch,
                            ingot_cuda_wait,
                            message};
  gpu->interface = interface;
  gpu->flags = wanted->flags;
  int status = ingot_cuda_driver_open(wanted->driver, &gpu->driver, gpu->message, sizeof gpu->message);
  status = status ? status : findDevice(gpu, wanted->number);
  status = status ? status : makeStream(gpu, wanted->stream);
  if (status) {
    if (why) {
      snprintf(why, bytes, "%s", gpu->message);
    }
    ingot_cuda_close(gpu);
    return status;
  }
  *opened = gpu;
  return 0;
}

void ingot_cuda_close(ingot_cuda *gpu) {
  if (!gpu) {
    return;
  }
  if (gpu->context) {
    /* A GPU that is lost refuses all of this, and nobody is left to be told. */
    int status = ingot_cuda_enter(gpu);
    if (gpu->stream) {
      (void)ingot_cuda_wait(gpu);
    }
    ingot_cuda_release_pieces(gpu);
    ingot_cuda_release_copies(gpu);
    if (gpu->own) {
      (void)gpu->driver.streamDestroy(gpu->own);
    }
    if (!status) {
      (void)ingot_cuda_leave(gpu, 0);
    }
    (void)gpu->driver.contextRelease(gpu->number);
  }
  free(gpu);
}

const ingot_device *ingot_cuda_device(const ingot_cuda *gpu) { return &gpu->interface; }

void ingot_cuda_architecture(const ingot_cuda *gpu, char architecture[16]) {
  if (gpu->driver.emulates) {
    memcpy(architecture, "emulated", sizeof "emulated");
  } else {
    snprintf(architecture, 16, "sm_%d", gpu->major * 10 + gpu->minor);
  }
}
