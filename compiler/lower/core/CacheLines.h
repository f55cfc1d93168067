// Computes distances in memory in cache lines.
#pragma once
#include <cstdint>

namespace ingot::lower {

/// Returns the elements of the smallest odd number of cache lines, of `line` elements each, that holds so many
/// elements. Rows and channel blocks that lie so far apart do not share cache sets.
inline int64_t oddLines(int64_t elements, int64_t line) { return ((elements + line - 1) / line | 1) * line; }

} // namespace ingot::lower
