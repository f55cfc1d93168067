/* Kernels as the image `emulated` has them (targets/cuda/Images.h), right ones and wrong ones. The last word of each is
 * the number of its items. */
#include <stdint.h>

int32_t ingot_emulated_llvm_nvvm_read_ptx_sreg_tid_x(void);
int32_t ingot_emulated_llvm_nvvm_read_ptx_sreg_ctaid_x(void);
int32_t ingot_emulated_llvm_nvvm_read_ptx_sreg_ntid_x(void);
void ingot_emulated_llvm_nvvm_barrier_cta_sync_aligned_all(int32_t barrier);
int32_t ingot_emulated_llvm_nvvm_barrier_cta_red_popc_aligned_all(int32_t barrier, _Bool own);
float ingot_emulated_llvm_nvvm_shfl_sync_bfly_f32(int32_t mask, float value, int32_t lanes, int32_t clamp);
void ingot_emulated_llvm_nvvm_cp_async_cg_shared_global_16(void *to, const void *from);
void ingot_emulated_llvm_nvvm_cp_async_commit_group(void);
void ingot_emulated_llvm_nvvm_cp_async_wait_group(int32_t left);
void ingot_emulated_llvm_nvvm_ldmatrix_sync_aligned_m8n8_x4_b16_p3(void *result, const void *row);
void ingot_emulated_llvm_nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16_p3(void *result, const void *row);
void ingot_emulated_llvm_nvvm_mma_m16n8k16_row_col_f32_f32(void *result, const void *a0, const void *a1, const void *a2,
                                                           const void *a3, const void *b0, const void *b1, float c0,
                                                           float c1, float c2, float c3);
void *ingot_emulated_shared(int64_t offset);
void ingot_emulated_access(const void *at, int32_t bytes, int32_t kind);

#define THREAD ingot_emulated_llvm_nvvm_read_ptx_sreg_tid_x()
#define BLOCK ingot_emulated_llvm_nvvm_read_ptx_sreg_ctaid_x()
#define BARRIER() ingot_emulated_llvm_nvvm_barrier_cta_sync_aligned_all(0)

static float *floats(uint64_t word) { return (float *)(uintptr_t)word; }

static int64_t itemOfThread(void) { return (int64_t)BLOCK * ingot_emulated_llvm_nvvm_read_ptx_sreg_ntid_x() + THREAD; }

/* y = factor * x, an item for each thread: x, y, factor, items. */
void scale(const uint64_t *words) {
  int64_t i = itemOfThread();
  if (i < (int64_t)words[3]) {
    floats(words[1])[i] = (float)(int64_t)words[2] * floats(words[0])[i];
  }
}

/* y[b] = the sum of 128 elements of x, a block of as many threads for each: x, y, items. */
void sums(const uint64_t *words) {
  float sum = floats(words[0])[128 * BLOCK + THREAD];
  for (int32_t lanes = 16; lanes > 0; lanes /= 2) {
    sum += ingot_emulated_llvm_nvvm_shfl_sync_bfly_f32(-1, sum, lanes, 31);
  }
  float *parts = ingot_emulated_shared(0);
  if (THREAD % 32 == 0) {
    parts[THREAD / 32] = sum;
  }
  BARRIER();
  if (THREAD == 0) {
    floats(words[1])[BLOCK] = parts[0] + parts[1] + parts[2] + parts[3];
  }
}

/* y[16][8] = a[16][16] * b[16][8] by one warp: a, b (halves), y, items. */
void product(const uint64_t *words) {
  char *a = ingot_emulated_shared(0), *b = ingot_emulated_shared(512);
  const char *fromA = (const char *)(uintptr_t)words[0], *fromB = (const char *)(uintptr_t)words[1];
  int lane = THREAD;
  ingot_emulated_llvm_nvvm_cp_async_cg_shared_global_16(a + 16 * lane, fromA + 16 * lane);
  if (lane < 16) {
    ingot_emulated_llvm_nvvm_cp_async_cg_shared_global_16(b + 16 * lane, fromB + 16 * lane);
  }
  ingot_emulated_llvm_nvvm_cp_async_commit_group();
  ingot_emulated_llvm_nvvm_cp_async_wait_group(0);
  BARRIER();
  uint32_t as[4], bs[2];
  float result[4];
  ingot_emulated_llvm_nvvm_ldmatrix_sync_aligned_m8n8_x4_b16_p3(as, a + lane % 16 * 32 + lane / 16 * 16);
  ingot_emulated_llvm_nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16_p3(bs, b + lane % 16 * 16);
  ingot_emulated_llvm_nvvm_mma_m16n8k16_row_col_f32_f32(result, as, as + 1, as + 2, as + 3, bs, bs + 1, 0, 0, 0, 0);
  for (int e = 0; e < 4; ++e) {
    floats(words[2])[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = result[e];
  }
}

/* Does not wait for the copy. */
void hasty(const uint64_t *words) {
  float *part = ingot_emulated_shared(0);
  part[4 * THREAD] = -1;
  ingot_emulated_llvm_nvvm_cp_async_cg_shared_global_16(part + 4 * THREAD, floats(words[0]) + 4 * THREAD);
  ingot_emulated_llvm_nvvm_cp_async_commit_group();
  ingot_emulated_llvm_nvvm_cp_async_wait_group(1);
  floats(words[1])[THREAD] = part[4 * THREAD];
}

/* Writes one element `offset` elements behind y's beginning: y, offset, items. */
void poke(const uint64_t *words) {
  if (itemOfThread() == 0) {
    floats(words[0])[(int64_t)words[1]] = 1;
  }
}

/* Some threads of a block wait for the others, which end: items. */
void divergent(const uint64_t *words) {
  (void)words;
  if (THREAD < 5) {
    BARRIER();
  }
}

/* y = how many threads have a number below `number`, by a barrier that counts; some threads (`few`) wait at another
 * barrier: y, number, few, items. */
void counted(const uint64_t *words) {
  if (THREAD < (int64_t)words[2]) {
    BARRIER();
  }
  int32_t all = ingot_emulated_llvm_nvvm_barrier_cta_red_popc_aligned_all(0, THREAD < (int64_t)words[1]);
  int32_t none = ingot_emulated_llvm_nvvm_barrier_cta_red_popc_aligned_all(0, 0);
  floats(words[0])[THREAD] = (float)(all + 100 * none);
}

/* Lanes shuffle, of which one waits at a barrier: items. */
void disturbed(const uint64_t *words) {
  (void)words;
  if (THREAD == 7) {
    BARRIER();
  } else {
    (void)ingot_emulated_llvm_nvvm_shfl_sync_bfly_f32(-1, 1, 1, 31);
  }
}

/* Reads one element of the block's memory, `offset` bytes behind its beginning: y, offset, items. */
void share(const uint64_t *words) { floats(words[0])[0] = *(float *)ingot_emulated_shared((int64_t)words[1]); }

void divide(const uint64_t *words) {
  volatile int32_t none = (int32_t)words[1] - 1;
  int32_t quotient = 17 / none;
  floats(words[0])[0] = (float)quotient;
}

/* Uses more stack than there is. */
static int64_t sumOf(volatile int64_t *above) {
  volatile int64_t here[512];
  here[0] = *above + 1;
  return here[0] < 1000 ? sumOf(here) + here[0] : 0;
}
void deep(const uint64_t *words) {
  volatile int64_t none = 0;
  floats(words[0])[0] = (float)sumOf(&none);
}

/* Code that tells of its accesses. Each thread writes its element of the block's memory twice, and reads its
 * neighbour's: y, steps, items. Steps: 1: nothing is written; 2: no barrier; 4: an element that is not aligned. */
void neighbours(const uint64_t *words) {
  float *all = ingot_emulated_shared(0), *own = all + THREAD, *next = all + (THREAD + 1) % 32;
  if (!(words[1] & 1)) {
    ingot_emulated_access(own, 4, 1);
    *own = 0;
    BARRIER();
    ingot_emulated_access(own, 4, 1);
    *own = (float)THREAD;
  }
  if (!(words[1] & 2)) {
    BARRIER();
  }
  const char *at = (const char *)next + (words[1] & 4 ? 2 : 0);
  ingot_emulated_access(at, 4, 0);
  floats(words[0])[THREAD] = *next;
}
