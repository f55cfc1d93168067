/* Asks the host, or a device, for memory during a run. Generated code calls these functions; the list that they work on
 * lies on the stack of the run. */
#include "ingot.h"

/* ALIGN: of every block. SLACK: bytes behind it, because vectors may be read past a tensor's end within its last
 * block */
enum { ALIGN = 64, SLACK = 64 };

/* An item of the list, as compiler/entry/Memory.cpp (beginMemory) writes it. */
struct ingot_memory {
  uint64_t address; /* 0: nothing is held */
  int64_t bytes;
  uint64_t place; /* the address of the caller's pointer to an output; 0: no output */
  int64_t output; /* the output's number, or -1 - the number of the device whose memory it is (the host: 0) */
};

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* Returns the device whose memory it is, or null. */
static const ingot_device *deviceOf(const ingot_exec *exec, const ingot_memory *memory) {
  return memory->output < -1 ? exec->devices[-2 - memory->output].device : 0;
}

static void drop(const ingot_exec *exec, ingot_memory *memory) {
  const ingot_device *device = deviceOf(exec, memory);
  if (memory->address && device) {
    device->release(device->context, pointer(memory->address));
  } else if (memory->address) {
    exec->release(exec->allocator, pointer(memory->address));
  }
  memory->address = 0;
  memory->bytes = 0;
}

/* Copies between blocks, both of which are aligned to ALIGN. It copies word by word, in a way that the compiler may
 * not make a call of memcpy. */
static void copy(const char *from, char *to, int64_t bytes) {
  typedef uint64_t __attribute__((may_alias)) Word;
  int64_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    *(Word *)(to + i) = *(const Word *)(from + i);
  }
  for (; i < bytes; ++i) {
    to[i] = from[i];
  }
}

int ingot_memory_begin(const ingot_exec *exec, ingot_memory *list, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    list[i].address = 0;
    list[i].bytes = 0;
    if (list[i].place) {
      *(void **)pointer(list[i].place) = 0;
    }
  }
  return !exec || !exec->allocate || !exec->release ? INGOT_ERROR_NULL : 0;
}

/* Gets memory of a device, which keeps nothing of what was in the last one. Launches may be under way that read that.
 */
static int needOfDevice(const ingot_exec *exec, const ingot_device *device, ingot_memory *memory, int64_t bytes) {
  int status = memory->address ? device->wait(device->context) : 0;
  drop(exec, memory);
  memory->address = status ? 0 : (uint64_t)(uintptr_t)device->allocate(device->context, bytes + SLACK, ALIGN);
  memory->bytes = bytes;
  return memory->address ? 0 : INGOT_ERROR_MEMORY;
}

int ingot_memory_need(const ingot_exec *exec, ingot_memory *list, int32_t number, int64_t used, int64_t bytes) {
  ingot_memory *memory = &list[number];
  if (memory->address && bytes <= memory->bytes) {
    return 0;
  }
  if (memory->output < -1) {
    return needOfDevice(exec, deviceOf(exec, memory), memory, bytes);
  }
  if (used == 0) {
    drop(exec, memory);
  } else if (bytes < 2 * memory->bytes) {
    /* The memory grows slice by slice; doubled, all copies together are no more than twice the result. */
    bytes = 2 * memory->bytes;
  }
  int64_t wanted = memory->output < 0 ? bytes + SLACK : bytes > 0 ? bytes : 1;
  char *fresh = (char *)exec->allocate(exec->allocator, wanted, ALIGN, (int32_t)memory->output);
  if (!fresh) {
    return INGOT_ERROR_MEMORY;
  }
  copy((const char *)pointer(memory->address), fresh, used);
  drop(exec, memory);
  memory->address = (uint64_t)(uintptr_t)fresh;
  memory->bytes = bytes;
  return 0;
}

void *ingot_memory_at(const ingot_memory *list, int32_t number) { return pointer(list[number].address); }

void ingot_memory_release(const ingot_exec *exec, ingot_memory *list, int32_t number) { drop(exec, &list[number]); }

int ingot_memory_end(const ingot_exec *exec, ingot_memory *list, int32_t count, int status) {
  for (int32_t i = 0; i < count && !status; ++i) {
    if (list[i].place && !list[i].address) { /* an output without elements also gets memory */
      status = ingot_memory_need(exec, list, i, 0, 0);
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    if (list[i].place && !status) {
      *(void **)pointer(list[i].place) = pointer(list[i].address);
    } else {
      drop(exec, &list[i]);
    }
  }
  return status;
}
