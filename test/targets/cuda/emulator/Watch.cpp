// Looks at each access of images whose code tells of them, by what is noted of each byte: who wrote it last and who
// read it, and in which stretch between two barriers. Two accesses of one stretch by two threads of a block, of which
// one writes, are a race, unless both are atomic, or the threads are of one warp that has waited for its lanes in
// between. Barriers in the block's memory (Phases.cpp) order less than all threads: of each thread there is what it
// knows of the others, by a clock for each, which ticks when a thread tells of itself. Of several threads that read a
// byte only the last one is looked at then.
//
// Tensor cores read for a warp, of which thread 0 stands for all, from the instruction on until the warp has waited.
// They read what other threads have written only behind a fence of these.
#include "Emulator.h"
#include <algorithm>
#include <array>
#include <unordered_map>

namespace ingot::emulator {
namespace {

/// An access of one byte. `stretch` counts barriers of the launch, `step` those of the warp.
struct Access {
  uint32_t stretch = 0, step = 0, thread = 0;
  bool isAtomic = false;
  uint32_t clock = 0;  // of the thread
  uint64_t number = 0; // of the access
};
struct Byte {
  Access written, read;
  bool isReadByMany = false;
};

constexpr size_t pageBytes = 4096;
std::unordered_map<uintptr_t, std::vector<Byte>> pages; // of this block
uint32_t stretch = 1;
std::map<uint32_t, uint32_t> steps; // by warp

constexpr uint32_t lanes = 32, mostWarps = 32, vectorBytes = 16;
Clock clocks;             // of the threads; empty: nobody has told of itself in this stretch
std::vector<Clock> known; // by thread, the others' clocks
uint64_t accesses = 0;
std::vector<uint64_t> fenced;                             // by thread, the accesses in front of its last fence
std::vector<std::array<uint32_t, mostWarps>> tensorReads; // by vector of the block's memory, the clocks of warps

/// Returns an element of a list that grows.
template <class T> T &elementOf(std::vector<T> &all, size_t i, T none = T()) {
  if (all.size() <= i) {
    all.resize(i + 1, none);
  }
  return all[i];
}

uint32_t clockOf(uint32_t thread) { return clocks.empty() ? 1 : elementOf(clocks, thread, 1u); }

bool knows(uint32_t thread, uint32_t other, uint32_t clock) {
  return !clocks.empty() && elementOf(elementOf(known, thread), other) >= clock;
}

void addTo(Clock &all, const Clock &other) {
  all.resize(std::max(all.size(), other.size()));
  std::transform(other.begin(), other.end(), all.begin(), all.begin(),
                 [](uint32_t a, uint32_t b) { return std::max(a, b); });
}

void forgetClocks() {
  clocks.clear();
  known.clear();
  tensorReads.clear();
}

Byte &byteOf(uintptr_t at) {
  std::vector<Byte> &page = pages[at / pageBytes];
  page.resize(pageBytes);
  return page[at % pageBytes];
}

/// Returns whether an access is without an order to what this thread does now.
bool isBeside(const Access &other, uint32_t thread) {
  bool isOtherStep = other.thread / 32 == thread / 32 && other.step != steps[thread / 32];
  return other.stretch == stretch && other.thread != thread && !isOtherStep &&
         !knows(thread, other.thread, other.clock);
}

std::string textOf(const void *at) {
  const auto *shared = static_cast<const char *>(at);
  int64_t offset = shared - sharedOfThread();
  return offset >= 0 && offset < int64_t(launchOfThread().sharedBytes)
             ? "byte " + std::to_string(offset) + " of the block's memory"
             : "memory of the device";
}

/// Writes to the block's memory, at this offset, have to come behind what tensor cores read there.
void lookAtTensorReads(int64_t offset, uint32_t thread) {
  if (tensorReads.size() <= size_t(offset) / vectorBytes) {
    return;
  }
  const auto &readers = tensorReads[size_t(offset) / vectorBytes];
  for (uint32_t warp = 0; warp < mostWarps; ++warp) {
    if (readers[warp] && warp != thread / lanes && !knows(thread, warp * lanes, readers[warp])) {
      fault(LaunchFailed, "writes byte " + std::to_string(offset) +
                              " of the block's memory, which tensor cores read for warp " + std::to_string(warp) +
                              ", without a barrier between them");
    }
  }
}

void look(Byte &byte, const void *at, uint32_t thread, int32_t kind) {
  bool isAtomic = kind == 2, writes = kind != 0;
  int64_t offset = static_cast<const char *>(at) - sharedOfThread();
  bool isShared = offset >= 0 && offset < int64_t(launchOfThread().sharedBytes);
  if (isShared && kind != 1 && !byte.written.stretch) {
    fault(LaunchFailed, "reads " + textOf(at) + ", which nothing has been written to");
  }
  bool besideWrite = isBeside(byte.written, thread) && !(isAtomic && byte.written.isAtomic);
  bool besideRead =
      writes && !(isAtomic && byte.read.isAtomic) &&
      (isBeside(byte.read, thread) ||
       (byte.isReadByMany && clocks.empty() && byte.read.stretch == stretch && byte.read.step == steps[thread / 32]));
  if (besideWrite || besideRead) {
    fault(LaunchFailed, std::string(writes ? "writes " : "reads ") + textOf(at) + ", which thread " +
                            std::to_string(besideWrite ? byte.written.thread : byte.read.thread) +
                            (besideWrite ? " writes" : " reads") + " without a barrier between them");
  }
  Access own = {stretch, steps[thread / 32], thread, isAtomic, clockOf(thread), ++accesses};
  if (writes) {
    if (isShared) {
      lookAtTensorReads(offset, thread);
    }
    byte.written = own;
  }
  if (kind != 1) {
    bool isSame = byte.read.stretch == own.stretch && byte.read.step == own.step;
    byte.isReadByMany = isSame && (byte.isReadByMany || byte.read.thread != thread);
    byte.read = own;
  }
}

} // namespace

void watchBlock() {
  ++stretch;
  forgetClocks();
  fenced.clear();
  pages.clear();
  steps.clear();
}

void watchBarrier() {
  ++stretch;
  forgetClocks();
}

/// What one lane has done and knows, all of them know.
void watchWarp(uint32_t warp) {
  ++steps[warp];
  if (clocks.empty()) {
    return;
  }
  Clock all;
  for (uint32_t lane = warp * lanes; lane < (warp + 1) * lanes; ++lane) {
    addTo(all, elementOf(known, lane));
  }
  for (uint32_t lane = warp * lanes; lane < (warp + 1) * lanes; ++lane) {
    elementOf(all, lane) = elementOf(clocks, lane, 1u)++;
  }
  for (uint32_t lane = warp * lanes; lane < (warp + 1) * lanes; ++lane) {
    known[lane] = all;
  }
}

uint32_t stretchOfBlock() { return stretch; }

void release(Clock &clock) {
  if (launchOfThread().isWatched) {
    addTo(clock, elementOf(known, numberOfThread()));
    elementOf(clock, numberOfThread()) = elementOf(clocks, numberOfThread(), 1u)++;
  }
}

void acquire(const Clock &clock) {
  if (launchOfThread().isWatched) {
    addTo(elementOf(known, numberOfThread()), clock);
  }
}

void watchProxyFence() { elementOf(fenced, numberOfThread()) = accesses; }

void watchTensorRead(const void *at, bool isDone) {
  uint32_t warp = numberOfThread() / lanes, thread = warp * lanes;
  const auto *bytes = static_cast<const char *>(at);
  for (uint32_t i = 0; i < vectorBytes && !isDone; i += 2) { // of numbers of 16 bits
    const Access &written = byteOf(reinterpret_cast<uintptr_t>(bytes + i)).written;
    if (!written.stretch) {
      fault(LaunchFailed, "tensor cores read " + textOf(bytes + i) + ", which nothing has been written to");
    }
    const char *what = isBeside(written, thread) ? "writes without a barrier between them"
                       : written.number > elementOf(fenced, written.thread)
                           ? "has written without a fence (fence.proxy.async) behind it"
                           : nullptr;
    if (what) {
      fault(LaunchFailed,
            "tensor cores read " + textOf(bytes + i) + ", which thread " + std::to_string(written.thread) + " " + what);
    }
  }
  elementOf(tensorReads, size_t(bytes - sharedOfThread()) / vectorBytes, {})[warp] = clockOf(thread);
}

void watch(const void *at, int32_t bytes, int32_t kind) {
  // Vectors lie at multiples of their size, and so does all else.
  if (auto size = uint32_t(bytes);
      size && size <= 16 && (size & (size - 1)) == 0 && reinterpret_cast<uintptr_t>(at) % size) {
    fault(MisalignedAddress, "accesses " + std::to_string(bytes) + " bytes at an address that is no multiple of them");
  }
  for (int32_t i = 0; i < bytes; ++i) {
    const char *byte = static_cast<const char *>(at) + i;
    look(byteOf(reinterpret_cast<uintptr_t>(byte)), byte, numberOfThread(), kind);
  }
}

} // namespace ingot::emulator

extern "C" void ingot_emulated_access(const void *at, int32_t bytes, int32_t kind) {
  ingot::emulator::countAccess(__builtin_return_address(0), at, bytes);
  ingot::emulator::watch(at, bytes, kind);
}
