// How far two places are from each other, where the run cannot change that.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// to - from, for indices that differ by a number known now whatever the loops and sizes are.
std::optional<int64_t> distance(Writer &w, Ix from, Ix to);

} // namespace ingot::lower
