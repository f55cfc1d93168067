/* Gives runs memory from the C library's heap. Memory is aligned by hand, because aligned_alloc takes multiples
 * only. In front of each block stands the pointer that malloc gave, and the block's bytes. Blocks that an ingot_heap
 * keeps are a list, in which each block holds the next one. */
#include "ingot.h"
#include <stdlib.h>

enum { MOST_KEPT = 64 };

typedef struct Block {
  void *base;
  int64_t bytes;
} Block;

static Block *blockOf(void *memory) { return (Block *)memory - 1; }

/* Takes the kept block that wastes the fewest bytes, and never more than are used (for less than a page, a page). */
static void *takeKept(ingot_heap *heap, int64_t bytes, int64_t align) {
  int64_t most = bytes > 2048 ? 2 * bytes : 4096;
  void **best = NULL;
  for (void **at = &heap->kept; *at; at = (void **)*at) {
    int64_t size = blockOf(*at)->bytes;
    if (size >= bytes && size <= most && (uintptr_t)*at % (uintptr_t)align == 0 &&
        (!best || size < blockOf(*best)->bytes)) {
      best = at;
    }
  }
  if (!best) {
    return NULL;
  }
  void *memory = *best;
  *best = *(void **)memory;
  --heap->count;
  return memory;
}

void *ingot_heap_allocate(void *allocator, int64_t bytes, int64_t align, int32_t output) {
  (void)output;
  if (bytes < 0 || (uint64_t)bytes > SIZE_MAX / 2) {
    return NULL;
  }
  bytes = bytes < (int64_t)sizeof(void *) ? (int64_t)sizeof(void *) : bytes;
  align = align < (int64_t)_Alignof(Block) ? (int64_t)_Alignof(Block) : align;
  void *memory = allocator ? takeKept(allocator, bytes, align) : NULL;
  if (memory) {
    return memory;
  }
  char *base = malloc((size_t)bytes + (size_t)align + sizeof(Block));
  if (!base) {
    return NULL;
  }
  uintptr_t first = (uintptr_t)base + sizeof(Block), mask = (uintptr_t)align - 1;
  memory = (void *)((first + mask) & ~mask);
  ingot_prefer_large_pages(memory, bytes);
  *blockOf(memory) = (Block){base, bytes};
  return memory;
}

void ingot_heap_release(void *allocator, void *memory) {
  ingot_heap *heap = allocator;
  if (memory && heap && heap->count < MOST_KEPT) {
    *(void **)memory = heap->kept;
    heap->kept = memory;
    ++heap->count;
  } else if (memory) {
    free(blockOf(memory)->base);
  }
}

void ingot_heap_clear(ingot_heap *heap) {
  while (heap->kept) {
    void *memory = heap->kept;
    heap->kept = *(void **)memory;
    free(blockOf(memory)->base);
  }
  heap->count = 0;
}
