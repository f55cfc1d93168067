#include "compiler/driver/HostMemory.h"
#include <algorithm>
#include <cstdlib>
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
}

void *HostMemory::allocate(void *self, int64_t bytes, int64_t align, int32_t) {
  if (bytes > kMost) {
    return nullptr;
  }
  int64_t all = (bytes + kGuard + align - 1) / align * align;
  void *memory = std::aligned_alloc(size_t(align), size_t(all));
  if (memory) {
    std::memset(static_cast<char *>(memory) + bytes, kGuardByte, size_t(all - bytes));
    static_cast<HostMemory *>(self)->blocks[memory] = bytes;
  }
  return memory;
}

void HostMemory::release(void *memory) {
  auto block = blocks.find(memory);
  if (block != blocks.end()) {
    overrun |= !guardIsIntact(memory, block->second);
    blocks.erase(block);
    std::free(memory);
  }
}

void HostMemory::release(void *self, void *memory) { static_cast<HostMemory *>(self)->release(memory); }

bool HostMemory::isOverrun() const {
  return overrun || std::any_of(blocks.begin(), blocks.end(),
                                [](const auto &block) { return !guardIsIntact(block.first, block.second); });
}

} // namespace ingot::driver
