// What a thread does by itself: it asks where it is, copies behind its own back (cp.async), and computes what machines
// of the host have no instruction for.
#include "Emulator.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ingot::emulator {
namespace {

/// A copy that is under way: what was to be read is at `to` only when the thread has waited for it.
struct Copy {
  void *to;
  const void *from;
  int32_t bytes, read; // what is not read becomes 0
  int32_t group;
};
struct Copies {
  std::vector<Copy> all;
  int32_t groups = 0; // that have been committed
};
std::vector<Copies> copies; // by the number of the thread

Copies &copiesOfThread() {
  copies.resize(std::max(copies.size(), size_t(numberOfThread()) + 1));
  return copies[numberOfThread()];
}

void copyLater(const char *site, void *to, const void *from, int32_t bytes, int32_t read) {
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % uintptr_t(bytes)) {
    fault(MisalignedAddress,
          "cp.async of " + std::to_string(bytes) + " bytes at an address that is no multiple of them");
  }
  if (launchOfThread().isWatched) {
    countAccess(site, from, std::min(bytes, read));
    countAccess(site + 1, to, bytes);
  }
  Copies &own = copiesOfThread();
  own.all.push_back({to, from, bytes, std::clamp(read, 0, bytes), own.groups});
}

/// Does the copies of all groups but the last `left`.
void finishCopies(int32_t left) {
  Copies &own = copiesOfThread();
  auto isDone = [&](const Copy &copy) { return copy.group < own.groups - left; };
  for (const Copy &copy : own.all) {
    if (isDone(copy)) {
      if (launchOfThread().isWatched) {
        watch(copy.from, copy.read, 0);
        watch(copy.to, copy.bytes, 1);
      }
      std::memcpy(copy.to, copy.from, size_t(copy.read));
      std::memset(static_cast<char *>(copy.to) + copy.read, 0, size_t(copy.bytes - copy.read));
    }
  }
  std::erase_if(own.all, isDone);
}

/// Adds products of four bytes each.
template <class A, class B> int32_t dotOfBytes(uint32_t a, uint32_t b, int32_t c) {
  for (int i = 0; i < 4; ++i) {
    c += int32_t(A(a >> 8 * i)) * int32_t(B(b >> 8 * i));
  }
  return c;
}

} // namespace

void forgetCopies() { copies.clear(); }

} // namespace ingot::emulator

using namespace ingot::emulator;

extern "C" {

void *ingot_emulated_shared(int64_t offset) { return sharedOfThread() + offset; }

#define NVVM(name) ingot_emulated_llvm_nvvm_##name

#define REGISTER(axis, number)                                                                                         \
  int32_t NVVM(read_ptx_sreg_tid_##axis)() { return int32_t(placeOfThread().thread[number]); }                         \
  int32_t NVVM(read_ptx_sreg_ctaid_##axis)() { return int32_t(placeOfThread().block[number]); }                        \
  int32_t NVVM(read_ptx_sreg_ntid_##axis)() { return int32_t(launchOfThread().block[number]); }                        \
  int32_t NVVM(read_ptx_sreg_nctaid_##axis)() { return int32_t(launchOfThread().grid[number]); }
REGISTER(x, 0)
REGISTER(y, 1)
REGISTER(z, 2)
int32_t NVVM(read_ptx_sreg_laneid)() { return int32_t(numberOfThread() % 32); }
int32_t NVVM(read_ptx_sreg_warpsize)() { return 32; }

void NVVM(barrier_cta_sync_aligned_all)(int32_t barrier) { waitAtBarrier(barrier, 0); }
void NVVM(barrier_cta_sync_all)(int32_t barrier) { waitAtBarrier(barrier, 0); }
void NVVM(barrier_cta_sync_aligned_count)(int32_t barrier, int32_t count) { waitAtBarrier(barrier, uint32_t(count)); }
void NVVM(barrier_cta_sync_count)(int32_t barrier, int32_t count) { waitAtBarrier(barrier, uint32_t(count)); }
int32_t NVVM(barrier_cta_red_popc_aligned_all)(int32_t barrier, int32_t own) {
  return countAtBarrier(barrier, own & 1);
}
void NVVM(membar_cta)() {} // memory is one
void NVVM(membar_gl)() {}
void NVVM(membar_sys)() {}

#define COPY(cache, bytes)                                                                                             \
  void NVVM(cp_async_##cache##_shared_global_##bytes)(void *to, const void *from) {                                    \
    copyLater(static_cast<const char *>(__builtin_return_address(0)), to, from, bytes, bytes);                         \
  }                                                                                                                    \
  void NVVM(cp_async_##cache##_shared_global_##bytes##_s)(void *to, const void *from, int32_t read) {                  \
    copyLater(static_cast<const char *>(__builtin_return_address(0)), to, from, bytes, read);                          \
  }
COPY(ca, 4)
COPY(ca, 8)
COPY(ca, 16)
COPY(cg, 16)
void NVVM(cp_async_commit_group)() { ++copiesOfThread().groups; }
void NVVM(cp_async_wait_group)(int32_t left) { finishCopies(left); }
void NVVM(cp_async_wait_all)() { finishCopies(-1); }

int32_t NVVM(idp4a_s_s)(uint32_t a, uint32_t b, int32_t c) { return dotOfBytes<int8_t, int8_t>(a, b, c); }
int32_t NVVM(idp4a_u_u)(uint32_t a, uint32_t b, int32_t c) { return dotOfBytes<uint8_t, uint8_t>(a, b, c); }
int32_t NVVM(idp4a_s_u)(uint32_t a, uint32_t b, int32_t c) { return dotOfBytes<int8_t, uint8_t>(a, b, c); }
int32_t NVVM(idp4a_u_s)(uint32_t a, uint32_t b, int32_t c) { return dotOfBytes<uint8_t, int8_t>(a, b, c); }

// cvt.rna.tf32.f32: to the nearest number of 11 bits, halfway cases away from zero. What is no number stays none.
int32_t NVVM(f2tf32_rna)(float x) {
  constexpr uint32_t half = 0x1000, lost = 0x1fff;
  uint32_t bits = std::bit_cast<uint32_t>(x);
  return int32_t((std::isfinite(x) ? bits + half : bits) & ~lost) | (std::isnan(x) ? 1 << 22 : 0);
}

// What instructions approximate is exact here.
float NVVM(ex2_approx_f)(float x) { return std::exp2(x); }
float NVVM(ex2_approx_ftz_f)(float x) { return std::exp2(x); }
float NVVM(ex2_approx_f32)(float x) { return std::exp2(x); }
float NVVM(lg2_approx_f)(float x) { return std::log2(x); }
float NVVM(rcp_approx_ftz_f)(float x) { return 1 / x; }
float NVVM(rcp_rn_f)(float x) { return 1 / x; }
float NVVM(rsqrt_approx_f)(float x) { return 1 / std::sqrt(x); }
float NVVM(rsqrt_approx_ftz_f)(float x) { return 1 / std::sqrt(x); }
float NVVM(sqrt_rn_f)(float x) { return std::sqrt(x); }
float NVVM(fma_rn_f)(float x, float y, float z) { return std::fma(x, y, z); }
double NVVM(fma_rn_d)(double x, double y, double z) { return std::fma(x, y, z); }

} // extern "C"
