// ingot_heap_allocate and its relatives: alignment, what is kept from run to run, and what is given back.
#include "ingot.hpp"
#include <array>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace {

TEST(Heap, AlignsAndGivesAllBytes) {
  for (void *allocator : {static_cast<void *>(nullptr), static_cast<void *>(new ingot_heap())}) {
    for (int64_t align : {1, 8, 64, 4096}) {
      for (int64_t bytes : {0, 1, 7, 4096, 100003}) {
        void *memory = ingot_heap_allocate(allocator, bytes, align, -1);
        ASSERT_NE(memory, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % static_cast<uintptr_t>(align), 0u);
        std::memset(memory, 1, static_cast<size_t>(bytes));
        ingot_heap_release(allocator, memory);
      }
    }
    if (allocator) {
      ingot_heap_clear(static_cast<ingot_heap *>(allocator));
      delete static_cast<ingot_heap *>(allocator);
    }
  }
  EXPECT_EQ(ingot_heap_allocate(nullptr, -1, 8, -1), nullptr);
}

TEST(Heap, KeepsBlocksForLikeSizes) {
  ingot_heap heap = {};
  void *large = ingot_heap_allocate(&heap, 100000, 64, -1), *small = ingot_heap_allocate(&heap, 70000, 64, -1);
  ingot_heap_release(&heap, large);
  ingot_heap_release(&heap, small);
  EXPECT_EQ(heap.count, 2);
  EXPECT_EQ(ingot_heap_allocate(&heap, 60000, 64, -1), small); // the one that wastes less
  void *other = ingot_heap_allocate(&heap, 1000, 64, -1);      // none is worth it
  EXPECT_NE(other, large);
  EXPECT_EQ(ingot_heap_allocate(&heap, 100000, 64, -1), large);
  EXPECT_EQ(heap.count, 0);
  for (void *memory : {large, small, other}) {
    ingot_heap_release(&heap, memory);
  }
  ingot_heap_clear(&heap);
  EXPECT_EQ(heap.count, 0);
  EXPECT_EQ(heap.kept, nullptr);
}

TEST(Heap, KeepsSoManyBlocks) {
  ingot::Heap heap;
  ingot_exec exec = {};
  heap.serve(exec);
  std::array<void *, 100> all;
  for (void *&memory : all) {
    memory = exec.allocate(exec.allocator, 32, 8, -1);
  }
  for (void *memory : all) {
    exec.release(exec.allocator, memory);
  }
  EXPECT_EQ(static_cast<ingot_heap *>(exec.allocator)->count, 64);
}

#ifdef __linux__
/// Returns the flags that Linux has for the pages around an address ("rd wr mr mw me ac hg"); empty: none are told.
std::string pageFlags(const void *memory) {
  std::ifstream maps("/proc/self/smaps");
  auto address = reinterpret_cast<uintptr_t>(memory);
  bool isInside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (line.find(':') > line.find('-') && range >> std::hex >> begin >> dash >> end && dash == '-') {
      isInside = address >= begin && address < end;
    } else if (isInside && line.rfind("VmFlags:", 0) == 0) {
      return line.substr(8);
    }
  }
  return {};
}

TEST(LargePages, AreAskedForWhereMemoryIsLarge) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  constexpr int64_t large = 16 << 20, small = 1 << 20;
  void *memory = ingot_heap_allocate(nullptr, large, 64, -1), *other = ingot_heap_allocate(nullptr, small, 64, -1);
  ingot::Workspace workspace(large, 64);
  auto areAsked = [](const void *pages, int64_t bytes) {
    return pageFlags(static_cast<const char *>(pages) + bytes / 2).find(" hg") != std::string::npos;
  };
  EXPECT_TRUE(areAsked(memory, large)) << pageFlags(memory);
  EXPECT_TRUE(areAsked(workspace.data(), large));
  EXPECT_FALSE(areAsked(other, small));
  ingot_heap_release(nullptr, memory);
  ingot_heap_release(nullptr, other);
  ingot_prefer_large_pages(nullptr, large); // nothing happens
}
#endif

} // namespace
