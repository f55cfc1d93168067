// Divides the buffers of a run among several memories, and finds a place for each. This is plain C++: nothing here
// knows of IR.
#pragma once
#include "compiler/memory/ArenaPlanner.h"

namespace ingot::memory {

/// A memory as the division sees it.
struct MemorySize {
  int64_t bytes = 0;  ///< that buffers may take of it
  int64_t cycles = 1; ///< what a read or write of one word costs, relative to the other memories
};

/// A memory and an offset for each buffer.
struct Division {
  std::vector<size_t> memoryOf; ///< the memory of each buffer
  std::vector<int64_t> offsets; ///< where the buffer begins in its memory
  /// What the buffers of each memory take. It is more than the memory has where no division was found that fits: then
  /// the largest memory has all that is too much.
  std::vector<int64_t> peaks;
  bool isBest = false; ///< whether no division costs less for which the arena planner finds places
};

/// Finds a division with little cost: the sum over all buffers of the bytes that a run reads and writes of them
/// (`traffic`) times the cycles of their memory. The result depends on the input alone. It is empty when the sizes do
/// not add up (planArena).
std::optional<Division> divideBuffers(std::span<const BufferLifetime> buffers, std::span<const int64_t> traffic,
                                      std::span<const MemorySize> memories);

} // namespace ingot::memory
