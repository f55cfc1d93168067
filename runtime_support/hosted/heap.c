/* The C library's heap as the host of a run. Memory is aligned by hand, as aligned_alloc takes multiples only: the
 * pointer that malloc gave stands in front. */
#include "ingot.h"
#include <stdlib.h>

void *ingot_heap_allocate(void *allocator, int64_t bytes, int64_t align, int32_t output) {
  (void)allocator, (void)output;
  if (bytes < 0 || (uint64_t)bytes > SIZE_MAX / 2) {
    return NULL;
  }
  char *base = malloc((size_t)bytes + (size_t)align + sizeof(void *));
  if (!base) {
    return NULL;
  }
  uintptr_t first = (uintptr_t)base + sizeof(void *), mask = (uintptr_t)align - 1;
  void **memory = (void **)((first + mask) & ~mask);
  memory[-1] = base;
  return memory;
}

void ingot_heap_release(void *allocator, void *memory) {
  (void)allocator;
  if (memory) {
    free(((void **)memory)[-1]);
  }
}
