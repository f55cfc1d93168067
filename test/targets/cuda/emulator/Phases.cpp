// Barriers in the block's memory (mbarrier), as PTX describes them: a phase is complete when as many threads have
// arrived as the barrier was made for; then the next one begins. What the threads did before they arrived is known to
// those that have waited for the phase.
#include "Emulator.h"

namespace ingot::emulator {
namespace {

struct Barrier {
  uint32_t arrivals, pending, parity = 0; // of the phase that goes on
  uint32_t maker, stretch;                // the thread that made it, and when
  Clock arrived, complete;                // what is known of the threads: so far, and of the last phase
};
std::map<const void *, Barrier> barriers; // of this block

std::string textOf(const void *at) {
  return "the barrier at byte " + std::to_string(static_cast<const char *>(at) - sharedOfThread()) +
         " of the block's memory";
}

Barrier &barrierAt(const void *at) {
  auto found = barriers.find(at);
  if (found == barriers.end()) {
    fault(LaunchFailed, "uses " + textOf(at) + ", where none has been made");
  }
  if (found->second.maker != numberOfThread() && found->second.stretch == stretchOfBlock()) {
    fault(LaunchFailed, "uses " + textOf(at) + ", which thread " + std::to_string(found->second.maker) +
                            " makes without a barrier of the block between them");
  }
  return found->second;
}

void make(void *at, uint32_t arrivals) {
  int64_t offset = static_cast<char *>(at) - sharedOfThread();
  if (offset < 0 || offset % 8 || offset + 8 > int64_t(launchOfThread().sharedBytes)) {
    fault(MisalignedAddress, "makes " + textOf(at) + ", which is no multiple of 8 in it");
  }
  barriers[at] = {arrivals, arrivals, 0, numberOfThread(), stretchOfBlock(), {}, {}};
}

void arriveAt(const void *at, uint32_t count) {
  Barrier &barrier = barrierAt(at);
  if (count > barrier.pending) {
    fault(LaunchFailed, "arrives at " + textOf(at) + " where nobody is missing");
  }
  release(barrier.arrived);
  barrier.pending -= count;
  if (!barrier.pending) {
    barrier.pending = barrier.arrivals;
    barrier.parity ^= 1;
    barrier.complete = barrier.arrived;
    wake(at);
  }
}

} // namespace

void forgetPhases() { barriers.clear(); }

} // namespace ingot::emulator

using namespace ingot::emulator;

extern "C" {

#define NVVM(name) ingot_emulated_llvm_nvvm_##name

void NVVM(mbarrier_init_shared)(void *at, int32_t arrivals) { make(at, uint32_t(arrivals)); }
uint64_t NVVM(mbarrier_arrive_scope_cta_space_cta)(void *at, int32_t count) {
  arriveAt(at, uint32_t(count));
  return 0;
}
bool NVVM(mbarrier_try_wait_parity_scope_cta_space_cta)(void *at, int32_t parity) {
  while (barrierAt(at).parity == (uint32_t(parity) & 1)) {
    waitFor(at);
  }
  acquire(barrierAt(at).complete);
  return true;
}
void NVVM(fence_proxy_async_shared_cta)() { watchProxyFence(); }

} // extern "C"
