// Each block has addresses of its own with nothing before and behind, and ends where its last page does, but for the
// alignment that the driver promises. What lies on its pages beside it is filled with a pattern that has to stay. The
// addresses of what was freed are used for nothing else.
#include "Emulator.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace ingot::emulator {

static constexpr size_t guardBytes = 1 << 16, alignBytes = 256;
static constexpr unsigned char pattern = 0xA5, unwritten = 0xFF; // of floats, no number
static const size_t systemsPage = size_t(sysconf(_SC_PAGESIZE));

static size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void *Memory::allocate(size_t bytes, int64_t most) {
  if (held + int64_t(bytes) > most) {
    return nullptr;
  }
  size_t pageBytes = roundUp(roundUp(bytes, alignBytes), systemsPage), reserved = pageBytes + 2 * guardBytes;
  void *base = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return nullptr;
  }
  char *pages = static_cast<char *>(base) + guardBytes, *begin = pages + pageBytes - roundUp(bytes, alignBytes);
  (void)mprotect(pages, pageBytes, PROT_READ | PROT_WRITE);
  std::memset(pages, pattern, pageBytes);
  std::memset(begin, unwritten, bytes);
  (void)mprotect(pages, pageBytes, PROT_NONE);
  blocks[static_cast<char *>(base)] = {static_cast<char *>(base), reserved, bytes, begin, pages, pageBytes, false};
  held += int64_t(bytes);
  return begin;
}

bool Memory::release(void *memory) {
  auto *block = const_cast<Block *>(around(memory));
  if (!block || block->isFreed || block->begin != memory) {
    return false;
  }
  block->isFreed = true;
  held -= int64_t(block->bytes);
  (void)madvise(block->pages, block->pageBytes, MADV_DONTNEED);
  return true;
}

void Memory::releaseAll() {
  for (auto &[base, block] : blocks) {
    (void)munmap(base, block.reserved);
  }
  blocks.clear();
  held = 0;
}

void Memory::protect(bool isOpen) const {
  for (const auto &[base, block] : blocks) {
    if (!block.isFreed) {
      (void)mprotect(block.pages, block.pageBytes, isOpen ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
  }
}

const Memory::Block *Memory::around(const void *at) const {
  auto *address = static_cast<char *>(const_cast<void *>(at));
  auto next = blocks.upper_bound(address);
  if (next == blocks.begin()) {
    return nullptr;
  }
  const Block &block = std::prev(next)->second;
  return address < block.base + block.reserved ? &block : nullptr;
}

bool Memory::has(const void *at, size_t bytes) const {
  const Block *block = around(at);
  auto *address = static_cast<const char *>(at);
  return block && !block->isFreed && address >= block->begin && bytes <= block->bytes &&
         address + bytes <= block->begin + block->bytes;
}

std::string Memory::describe(const void *at) const {
  const Block *block = around(at);
  if (!block) {
    return "in none of the device's memory";
  }
  int64_t place = static_cast<const char *>(at) - block->begin, bytes = int64_t(block->bytes);
  std::string where = place < 0        ? std::to_string(-place) + " bytes before"
                      : place >= bytes ? std::to_string(place - bytes) + " bytes behind the end of"
                                       : "at byte " + std::to_string(place) + " of";
  return where + " an allocation of " + std::to_string(bytes) + " bytes" +
         (block->isFreed ? ", which has been freed" : "");
}

bool Memory::isSpoiled() {
  bool all = false;
  for (auto &[base, block] : blocks) {
    if (block.isFreed) {
      continue;
    }
    auto isPattern = [](char byte) { return static_cast<unsigned char>(byte) == pattern; };
    char *end = block.begin + block.bytes, *last = block.pages + block.pageBytes;
    char *before = std::find_if_not(block.pages, block.begin, isPattern),
         *behind = std::find_if_not(end, last, isPattern);
    if (before != block.begin || behind != last) {
      report("something was written " + describe(before != block.begin ? before : behind));
      std::fill(block.pages, block.begin, char(pattern));
      std::fill(end, last, char(pattern));
      all = true;
    }
  }
  return all;
}

} // namespace ingot::emulator
