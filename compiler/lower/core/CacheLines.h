// Distances in memory by cache lines.
#pragma once
#include <cstdint>

namespace ingot::lower {

/// A whole odd number of cache lines, of `line` elements each, that holds so many elements: rows and channel blocks
/// that lie so far apart do not share cache sets.
inline int64_t oddLines(int64_t elements, int64_t line) { return ((elements + line - 1) / line | 1) * line; }

} // namespace ingot::lower
