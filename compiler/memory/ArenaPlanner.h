// Finds offsets for buffers with known lifetimes in one arena. This is plain C++: nothing here knows of IR.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ingot::memory {

/// A buffer that is live from step `firstUse` to step `lastUse`, both inclusive.
struct BufferLifetime {
  int64_t bytes = 0;
  int64_t alignment = 64; ///< a power of two
  int64_t firstUse = 0, lastUse = 0;
};

/// Where each buffer lies, and how large the arena is.
struct ArenaPlan {
  /// Bytes, one number for each buffer, a multiple of its alignment; 0 for a buffer of 0 bytes.
  std::vector<int64_t> offsets;
  int64_t peakBytes = 0; ///< how large the arena must be
  /// The largest sum of the bytes that are live in one step: no plan can be smaller. Each size is rounded up to the
  /// smallest alignment of all buffers, because no two buffers can share such a unit.
  int64_t lowerBound = 0;
};

/// How long a plan is searched for.
struct ArenaSearch {
  int64_t enough = -1; ///< bytes: a plan that takes no more is not improved; -1: within 1 % of the bound is near enough
  /// How many conflicts of buffers the search may look at. The standard is about half a second.
  int64_t work = 40 << 20;
};

/// Finds offsets such that no two buffers that are live in the same step overlap. The result depends on the input alone
/// (no clock, no addresses), so compiling twice gives the same bytes. It is empty when the sizes do not add up in 62
/// bits: no machine has such an arena.
std::optional<ArenaPlan> planArena(std::span<const BufferLifetime> buffers, const ArenaSearch &search = {});

/// Returns the plan as `ingot inspect --memory` prints it: a line for each buffer in the order of first use, then peak,
/// bound and percent. `names` may be shorter than `buffers`; the others are numbered.
std::string renderArenaPlan(std::span<const BufferLifetime> buffers, std::span<const std::string> names,
                            const ArenaPlan &plan);

} // namespace ingot::memory
