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
  /// A plan that takes no more bytes is taken as it is. Where there is no such number, a plan is not improved that is
  /// within 1 % of the bound.
  std::optional<int64_t> enough = std::nullopt;
  /// How many conflicts of buffers the search may look at. These are looked at in about half a second.
  int64_t work = 40 << 20;
};

/// Finds offsets such that no two buffers that are live in the same step overlap. The result depends on the input alone
/// (no clock, no addresses), so compiling twice gives the same bytes. It is empty when the sizes do not add up in 62
/// bits: no machine has such an arena.
std::optional<ArenaPlan> planArena(std::span<const BufferLifetime> buffers, const ArenaSearch &search = {});
/// Returns the lower bound of such a plan without making it; nothing where planArena gives nothing.
std::optional<int64_t> lowerBoundOf(std::span<const BufferLifetime> buffers);

/// Returns the plan as `ingot inspect --memory` prints it: a line for each buffer in the order of first use, then peak,
/// bound and percent. `names` may be shorter than `buffers`; the others are numbered.
std::string renderArenaPlan(std::span<const BufferLifetime> buffers, std::span<const std::string> names,
                            const ArenaPlan &plan);

} // namespace ingot::memory
