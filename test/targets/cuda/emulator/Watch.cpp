// Looks at each access of images whose code tells of them, by what is noted of each byte: who wrote it last and who
// read it, and in which stretch between two barriers. Two accesses of one stretch by two threads of a block, of which
// one writes, are a race, unless both are atomic, or the threads are of one warp that has waited for its lanes in
// between.
#include "Emulator.h"
#include <unordered_map>

namespace ingot::emulator {
namespace {

/// An access of one byte. `stretch` counts barriers of the launch, `step` those of the warp.
struct Access {
  uint32_t stretch = 0, step = 0, thread = 0;
  bool isAtomic = false;
};
struct Byte {
  Access written, read;
  bool isReadByMany = false;
};

constexpr size_t pageBytes = 4096;
std::unordered_map<uintptr_t, std::vector<Byte>> pages; // of this block
uint32_t stretch = 1;
std::map<uint32_t, uint32_t> steps; // by warp

Byte &byteOf(uintptr_t at) {
  std::vector<Byte> &page = pages[at / pageBytes];
  page.resize(pageBytes);
  return page[at % pageBytes];
}

/// Returns whether an access is without an order to what this thread does now.
bool isBeside(const Access &other, uint32_t thread) {
  bool isOtherStep = other.thread / 32 == thread / 32 && other.step != steps[thread / 32];
  return other.stretch == stretch && other.thread != thread && !isOtherStep;
}

std::string textOf(const void *at) {
  const auto *shared = static_cast<const char *>(at);
  int64_t offset = shared - sharedOfThread();
  return offset >= 0 && offset < int64_t(launchOfThread().sharedBytes)
             ? "byte " + std::to_string(offset) + " of the block's memory"
             : "memory of the device";
}

void look(Byte &byte, const void *at, uint32_t thread, int32_t kind) {
  bool isAtomic = kind == 2, writes = kind != 0;
  int64_t offset = static_cast<const char *>(at) - sharedOfThread();
  bool isShared = offset >= 0 && offset < int64_t(launchOfThread().sharedBytes);
  if (isShared && kind != 1 && !byte.written.stretch) {
    fault(LaunchFailed, "reads " + textOf(at) + ", which nothing has been written to");
  }
  bool besideWrite = isBeside(byte.written, thread) && !(isAtomic && byte.written.isAtomic);
  bool besideRead = writes && !(isAtomic && byte.read.isAtomic) &&
                    (isBeside(byte.read, thread) ||
                     (byte.isReadByMany && byte.read.stretch == stretch && byte.read.step == steps[thread / 32]));
  if (besideWrite || besideRead) {
    fault(LaunchFailed, std::string(writes ? "writes " : "reads ") + textOf(at) + ", which thread " +
                            std::to_string(besideWrite ? byte.written.thread : byte.read.thread) +
                            (besideWrite ? " writes" : " reads") + " without a barrier between them");
  }
  Access own = {stretch, steps[thread / 32], thread, isAtomic};
  if (writes) {
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
  pages.clear();
  steps.clear();
}

void watchBarrier() { ++stretch; }

void watchWarp(uint32_t warp) { ++steps[warp]; }

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
