#include "compiler/driver/execution/HostMemory.h"
#include <algorithm>
#include <cstring>

namespace ingot::driver {

static constexpr int64_t kGuard = 64, kMost = int64_t(1) << 46;
static constexpr char kGuardByte = char(0xA5);

static bool guardIsIntact(const void *memory, int64_t bytes) {
  const char *end = static_cast<const char *>(memory) + bytes;
  return std::all_of(end, end + kGuard, [](char byte) { return byte == kGuardByte; });
}

void HostMemory::serve(ingot_exec &exec) {
  exec.allocator = this;
  exec.allocate = allocate;
  exec.release = release;
}

HostMemory::~HostMemory() {
  while (!blocks.empty()) {
    release(blocks.begin()->first);
  }
  ingot_heap_clear(&heap);
}

void *HostMemory::allocate(void *self, int64_t bytes, int64_t align, int32_t output) {
  if (bytes > kMost) {
    return nullptr;
  }
  auto &host = *static_cast<HostMemory *>(self);
  void *memory = ingot_heap_allocate(&host.heap, bytes + kGuard, align, output);
  if (memory) {
    std::memset(static_cast<char *>(memory) + bytes, kGuardByte, kGuard);
    host.blocks[memory] = bytes;
  }
  return memory;
}

void HostMemory::release(void *memory) {
  auto block = blocks.find(memory);
  if (block != blocks.end()) {
    overrun |= !guardIsIntact(memory, block->second);
    blocks.erase(block);
    ingot_heap_release(&heap, memory);
  }
}

void HostMemory::release(void *self, void *memory) { static_cast<HostMemory *>(self)->release(memory); }

bool HostMemory::isOverrun() const {
  return overrun || std::any_of(blocks.begin(), blocks.end(),
                                [](const auto &block) { return !guardIsIntact(block.first, block.second); });
}

} // namespace ingot::driver
