/* A kernel as the image `emulated` has it (targets/cuda/Images.h), which multiplies by a warpgroup and is fed by one
 * more warp, right or with mistakes. */
#include <stdint.h>

#define NVVM(name) ingot_emulated_llvm_nvvm_##name
int32_t NVVM(read_ptx_sreg_tid_x)(void);
void NVVM(barrier_cta_sync_aligned_all)(int32_t barrier);
void NVVM(mbarrier_init_shared)(void *at, int32_t arrivals);
uint64_t NVVM(mbarrier_arrive_scope_cta_space_cta)(void *at, int32_t count);
_Bool NVVM(mbarrier_try_wait_parity_scope_cta_space_cta)(void *at, int32_t parity);
void NVVM(fence_proxy_async_shared_cta)(void);
void NVVM(wgmma_fence_sync_aligned)(void);
void NVVM(wgmma_commit_group_sync_aligned)(void);
void ingot_emulated_wgmma_wait_group_sync_aligned(void *results, const void *operands, int64_t bytes);
void ingot_emulated_wgmma_mma_async_sync_aligned_m64n64k16_f32_f16_f16(void *results, const void *operands,
                                                                       int64_t bytes);
void *ingot_emulated_shared(int64_t offset);
void ingot_emulated_access(const void *at, int32_t bytes, int32_t kind);

enum { side = 64, depth = 16, steps = 5, stages = 2, sums = side / 2, tileBytes = 8192, multiplying = 128 };
enum Mistake {
  NoProxyFence = 1,
  NoWaitForFull = 2,
  NoWaitForEmpty = 4,
  EmptyTooEarly = 8,
  NoFence = 16,
  NoWaitForSums = 32,
  NoBarrierOfBlock = 64,
  OneArrivalTooMany = 128,
  OneWarpLess = 256,
};

struct Multiply {
  uint64_t a, b;
  _Bool isSum;
  int32_t areLinesOfAContiguous, areLinesOfBContiguous;
  float sums[sums];
};
struct Wait {
  int32_t left;
  float sums[sums];
};

/* How a factor lies: the swizzle as descriptors have it, and whether lines are contiguous. */
struct Layout {
  uint64_t swizzle, rowBytes, leading, stride;
  _Bool areLinesContiguous;
};

static struct Layout layoutOf(uint64_t word) {
  uint64_t swizzle = word & 3, rowBytes = swizzle ? 256 >> swizzle : 16;
  _Bool areLinesContiguous = word >> 2 & 1;
  struct Layout all[2] = {{swizzle, rowBytes, 1024, 8 * rowBytes, areLinesContiguous},
                          {swizzle, rowBytes, 16 * rowBytes, 8 * rowBytes, areLinesContiguous}};
  if (!swizzle && areLinesContiguous) {
    all[1].leading = 128, all[1].stride = 256;
  }
  return all[areLinesContiguous];
}

static char *placeOf(char *tile, struct Layout layout, uint64_t line, uint64_t k) {
  uint64_t at, vectors = layout.rowBytes / 16;
  if (!layout.areLinesContiguous) {
    at = line % 8 * layout.rowBytes + line / 8 * layout.stride + k / 8 * (layout.swizzle ? 16 : layout.leading) +
         k % 8 * 2;
  } else if (!layout.swizzle) {
    at = line % 8 * 2 + line / 8 * layout.stride + k % 8 * 16 + k / 8 * layout.leading;
  } else {
    at = line % 8 * 2 + line / 8 % vectors * 16 + line / 8 / vectors * layout.leading + k % 8 * layout.rowBytes +
         k / 8 * layout.stride;
  }
  return tile + (at ^ (at >> 3 & (layout.rowBytes - 16)));
}

static uint64_t descriptorOf(const char *tile, struct Layout layout) {
  return ((uintptr_t)tile & 0x3FFFF) >> 4 | layout.leading >> 4 << 16 | layout.stride >> 4 << 32 | layout.swizzle << 62;
}

static char *tileOf(int step, int factor) {
  return ingot_emulated_shared((step % stages * 2 + factor) * (int64_t)tileBytes);
}
static void *barrierOf(int step, int isEmpty) {
  return ingot_emulated_shared(2 * stages * (int64_t)tileBytes + (step % stages * 2 + isEmpty) * 8);
}

static void wait(void *barrier, int parity) {
  while (!NVVM(mbarrier_try_wait_parity_scope_cta_space_cta)(barrier, parity)) {
  }
}

/* Numbers of a factor are -3 to 3: bits of float16. */
static void bring(struct Layout layout, uint64_t mistakes, int lane) {
  static const uint16_t bits[7] = {0xC200, 0xC000, 0xBC00, 0, 0x3C00, 0x4000, 0x4200};
  for (int step = 0; step < steps; ++step) {
    if (!(mistakes & NoWaitForEmpty)) {
      wait(barrierOf(step, 1), (step / stages + 1) % 2);
    }
    for (int factor = 0; factor < 2; ++factor) {
      for (int i = lane; i < side * depth; i += 32) {
        int line = i / depth, k = i % depth;
        char *at = placeOf(tileOf(step, factor), layout, (uint64_t)line, (uint64_t)k);
        ingot_emulated_access(at, 2, 1);
        *(uint16_t *)at = bits[(line * (factor ? 3 : 5) + k * 2 + step + factor) % 7];
      }
    }
    if (!(mistakes & NoProxyFence)) {
      NVVM(fence_proxy_async_shared_cta)();
    }
    NVVM(mbarrier_arrive_scope_cta_space_cta)(barrierOf(step, 0), 1);
  }
}

static void multiply(float *y, struct Layout layout, uint64_t mistakes, int thread) {
  struct Multiply all = {0, 0, 1, layout.areLinesContiguous, layout.areLinesContiguous, {0}};
  struct Wait sumsOf = {0, {0}};
  for (int step = 0; step < steps; ++step) {
    if (!(mistakes & NoWaitForFull)) {
      wait(barrierOf(step, 0), step / stages % 2);
    }
    if (!(mistakes & NoFence)) {
      NVVM(wgmma_fence_sync_aligned)();
    }
    if (!(mistakes & OneWarpLess) || thread >= 32) {
      all.a = descriptorOf(tileOf(step, 0), layout), all.b = descriptorOf(tileOf(step, 1), layout);
      for (int i = 0; i < sums; ++i) {
        all.sums[i] = sumsOf.sums[i];
      }
      ingot_emulated_wgmma_mma_async_sync_aligned_m64n64k16_f32_f16_f16(sumsOf.sums, &all, sizeof sumsOf.sums);
    }
    NVVM(wgmma_commit_group_sync_aligned)();
    if (mistakes & EmptyTooEarly && thread % 32 == 0) {
      NVVM(mbarrier_arrive_scope_cta_space_cta)(barrierOf(step, 1), 1);
    }
    if (!(mistakes & NoWaitForSums) || step < steps - 1) {
      struct Wait before = sumsOf;
      ingot_emulated_wgmma_wait_group_sync_aligned(sumsOf.sums, &before, sizeof sumsOf.sums);
    }
    if (!(mistakes & EmptyTooEarly) && thread % 32 == 0) {
      NVVM(mbarrier_arrive_scope_cta_space_cta)(barrierOf(step, 1), 1);
    }
  }
  for (int i = 0; i < sums; ++i) {
    int row = thread / 4 / 8 * 16 + thread / 4 % 8 + i % 4 / 2 * 8, column = i / 4 * 8 + thread % 4 * 2 + i % 2;
    y[row * side + column] = sumsOf.sums[i];
  }
}

/* y[64][64] = a sum of 5 products of 16 steps, by 160 threads: y, layout, mistakes, items. */
void warpgroup(const uint64_t *words) {
  struct Layout layout = layoutOf(words[1]);
  uint64_t mistakes = words[2];
  int thread = NVVM(read_ptx_sreg_tid_x)();
  if (thread == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      NVVM(mbarrier_init_shared)(barrierOf(stage, 0), mistakes & OneArrivalTooMany ? 33 : 32);
      NVVM(mbarrier_init_shared)(barrierOf(stage, 1), multiplying / 32);
    }
  }
  if (!(mistakes & NoBarrierOfBlock)) {
    NVVM(barrier_cta_sync_aligned_all)(0);
  }
  if (thread >= multiplying) {
    bring(layout, mistakes, thread - multiplying);
  } else {
    multiply((float *)(uintptr_t)words[0], layout, mistakes, thread);
  }
}
