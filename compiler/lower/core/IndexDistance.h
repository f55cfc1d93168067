// Computes how far two places are from each other, where the run cannot change that.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// Returns to - from, if these indices differ by a number that is known now, whatever the loops and sizes are.
std::optional<int64_t> distance(Writer &w, Ix from, Ix to);

} // namespace ingot::lower
