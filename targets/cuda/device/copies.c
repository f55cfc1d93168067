/* Copies go through pinned memory, so that they run beside the host, which may change what it gave. Pinned memory is
 * handed out from its beginning, all of it is free again behind a wait, and it grows to what lies between two of them;
 * what is larger than the most that there is goes in parts. */
#include "device.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 1 << 20, MOST_BYTES = 32 << 20, ALIGN = 256 };

/* Waits for the stream and delivers what it has copied. */
static int settle(ingot_cuda *gpu) {
  int status = ingot_cuda_check(gpu, "work of the GPU failed", gpu->driver.streamSynchronize(gpu->stream));
  for (size_t i = 0; !status && i < gpu->deliveryCount; ++i) {
    memcpy(gpu->deliveries[i].to, gpu->deliveries[i].from, gpu->deliveries[i].bytes);
  }
  gpu->deliveryCount = 0;
  gpu->pinnedUsed = 0;
  return status;
}

/* Makes the pinned memory larger, which nobody uses. */
static int grow(ingot_cuda *gpu, size_t bytes) {
  size_t wanted = gpu->pinnedBytes ? gpu->pinnedBytes : FIRST_BYTES;
  while (wanted < bytes) {
    wanted *= 2;
  }
  if (wanted == gpu->pinnedBytes) {
    return 0;
  }
  void *pinned = NULL;
  int status = ingot_cuda_check(gpu, "no pinned memory of the host", gpu->driver.hostAllocate(&pinned, wanted, 0));
  if (!status) {
    if (gpu->pinned) {
      status = ingot_cuda_check(gpu, "pinned memory cannot be freed", gpu->driver.hostFree(gpu->pinned));
    }
    gpu->pinned = pinned;
    gpu->pinnedBytes = wanted;
  }
  return status;
}

/* Takes at most `bytes` of the pinned memory; `*bytes` becomes how many these are. */
static int stage(ingot_cuda *gpu, size_t *bytes, char **place) {
  *bytes = *bytes < MOST_BYTES ? *bytes : MOST_BYTES;
  if (gpu->pinnedUsed + *bytes > gpu->pinnedBytes) {
    size_t all = gpu->pinnedUsed + *bytes;
    int status = settle(gpu);
    status = status ? status : grow(gpu, all < MOST_BYTES ? all : MOST_BYTES);
    if (status) {
      return status;
    }
  }
  *place = gpu->pinned + gpu->pinnedUsed;
  gpu->pinnedUsed += (*bytes + ALIGN - 1) / ALIGN * ALIGN;
  return 0;
}

/* Notes that a part of a download has to be delivered. */
static int deliver(ingot_cuda *gpu, void *to, const char *from, size_t bytes) {
  if (gpu->deliveryCount == gpu->deliveryRoom) {
    size_t room = gpu->deliveryRoom ? 2 * gpu->deliveryRoom : 16;
    ingot_cuda_delivery *larger = realloc(gpu->deliveries, room * sizeof *larger);
    if (!larger) {
      return ingot_cuda_fail(gpu, "the host has no memory left for a copy");
    }
    gpu->deliveries = larger;
    gpu->deliveryRoom = room;
  }
  ingot_cuda_delivery delivery = {to, from, bytes};
  gpu->deliveries[gpu->deliveryCount++] = delivery;
  return 0;
}

int ingot_cuda_upload(void *context, void *to, const void *from, int64_t bytes) {
  ingot_cuda *gpu = context;
  int status = ingot_cuda_enter(gpu);
  if (status) {
    return status;
  }
  status = ingot_cuda_flush(gpu);
  cuda_address address = (cuda_address)(uintptr_t)to;
  const char *source = from;
  for (size_t left = (size_t)bytes, part = 0; !status && left > 0; left -= part, address += part, source += part) {
    char *place;
    part = left;
    status = stage(gpu, &part, &place);
    if (!status) {
      memcpy(place, source, part);
      status = ingot_cuda_check(gpu, "a copy to the GPU failed", gpu->driver.upload(address, place, part, gpu->stream));
    }
  }
  return ingot_cuda_leave(gpu, status);
}

int ingot_cuda_download(void *context, void *to, const void *from, int64_t bytes) {
  ingot_cuda *gpu = context;
  int status = ingot_cuda_enter(gpu);
  if (status) {
    return status;
  }
  status = ingot_cuda_flush(gpu);
  cuda_address address = (cuda_address)(uintptr_t)from;
  char *target = to;
  for (size_t left = (size_t)bytes, part = 0; !status && left > 0; left -= part, address += part, target += part) {
    char *place;
    part = left;
    status = stage(gpu, &part, &place);
    status = status ? status
                    : ingot_cuda_check(gpu, "a copy from the GPU failed",
                                       gpu->driver.download(place, address, part, gpu->stream));
    status = status ? status : deliver(gpu, target, place, part);
  }
  return ingot_cuda_leave(gpu, status);
}

int ingot_cuda_wait(void *context) {
  ingot_cuda *gpu = context;
  int status = ingot_cuda_enter(gpu);
  if (status) {
    gpu->deliveryCount = 0; /* where they go may be gone when somebody waits again */
    return status;
  }
  int flushed = ingot_cuda_flush(gpu);
  char message[INGOT_CUDA_WHY_BYTES];
  memcpy(message, gpu->message, sizeof message);
  int settled = settle(gpu);
  if (flushed) { /* it came first */
    memcpy(gpu->message, message, sizeof message);
  }
  return ingot_cuda_leave(gpu, flushed ? flushed : settled);
}

void ingot_cuda_release_copies(ingot_cuda *gpu) {
  if (gpu->pinned) {
    (void)gpu->driver.hostFree(gpu->pinned);
  }
  free(gpu->deliveries);
}
