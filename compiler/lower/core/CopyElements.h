// Copies and zeroes contiguous runs of elements, in vectors.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// Copies `count` elements from `at` on in `from` to `toAt` in `to`.
void copyElements(Writer &w, Buffer from, Ix at, Buffer to, Ix toAt, Ix count);
/// Writes `count` zeros from `at` on.
void fillZeros(Writer &w, Buffer to, Ix at, Ix count);

} // namespace ingot::lower
