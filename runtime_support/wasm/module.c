/* What a WebAssembly module of a model has besides the core (`ingot package --for npm`): memory for runs whose sizes
 * nothing bounds, and the one function of C compilers' libraries that code for wasm32 calls. The loader
 * (compiler/driver/packaging/npm/loader.js) places everything else in the module's memory itself. */
#include "ingot.h"

enum { PAGE = 1 << 16, ALIGN = 64 };

/* A block of memory for a run, and the number of bytes behind this head. Blocks lie one behind the other, from `first`
 * to `end`. */
typedef struct block {
  uint32_t bytes, isUsed, unused[ALIGN / 4 - 2];
} block;

static block *first, *end;

static block *next(block *at) { return (block *)((char *)(at + 1) + at->bytes); }

/* Takes `bytes` behind the last block, and grows the memory where it ends before. */
static block *append(uint32_t bytes) {
  uint64_t needed = (uint64_t)(uintptr_t)end + sizeof(block) + bytes;
  uint64_t pages = (needed + PAGE - 1) / PAGE, now = __builtin_wasm_memory_size(0);
  if (pages > 1 << 16 || (pages > now && __builtin_wasm_memory_grow(0, (unsigned long)(pages - now)) == (size_t)-1)) {
    return 0;
  }
  block *made = end;
  made->bytes = bytes;
  end = next(made);
  return made;
}

/* Finds room in a block that was released, together with those behind it that were. */
static block *reuse(uint32_t bytes) {
  for (block *at = first; at < end; at = next(at)) {
    while (!at->isUsed && next(at) < end && !next(at)->isUsed) {
      at->bytes += (uint32_t)sizeof(block) + next(at)->bytes;
    }
    if (at->isUsed || at->bytes < bytes) {
      continue;
    }
    if (at->bytes - bytes > sizeof(block)) {
      uint32_t rest = at->bytes - bytes - (uint32_t)sizeof(block);
      at->bytes = bytes;
      next(at)->bytes = rest;
      next(at)->isUsed = 0;
    }
    return at;
  }
  return 0;
}

static void *allocate(void *allocator, int64_t bytes, int64_t align, int32_t output) {
  (void)allocator, (void)output;
  if (bytes > INT32_MAX || align > ALIGN) { /* a run asks for multiples of 64 bytes at most */
    return 0;
  }
  uint32_t whole = ((uint32_t)bytes + ALIGN - 1) & ~(uint32_t)(ALIGN - 1);
  block *found = reuse(whole);
  found = found ? found : append(whole);
  if (!found) {
    return 0;
  }
  found->isUsed = 1;
  return found + 1;
}

static void release(void *allocator, void *memory) {
  (void)allocator;
  if (memory) {
    ((block *)memory - 1)->isUsed = 0;
  }
}

/* Returns what to hand to the next run, which may take the memory from `from` on, a multiple of 64. */
const ingot_exec *ingot_module_exec(const void *weights, void *from) {
  static ingot_exec exec;
  exec.weights = weights;
  exec.allocate = allocate, exec.release = release;
  first = end = from;
  return &exec;
}

/* The product of integers of 128 bits, of which sizes that a run chooses are made. It is here so that a module takes no
 * C compiler's library. */
__int128 __multi3(__int128 a, __int128 b) {
  uint64_t aLow = (uint64_t)a, bLow = (uint64_t)b;
  uint64_t a0 = (uint32_t)aLow, a1 = aLow >> 32, b0 = (uint32_t)bLow, b1 = bLow >> 32;
  uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
  uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);
  high += aLow * (uint64_t)(b >> 64) + (uint64_t)(a >> 64) * bLow;
  return (__int128)(((unsigned __int128)high << 64) | (other << 32) | (uint32_t)low);
}
