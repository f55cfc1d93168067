// Contiguous runs of elements: copied, zeroed.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

void copyElements(Writer &w, Buffer from, Ix at, Buffer to, Ix toAt, Ix count);
void fillZeros(Writer &w, Buffer to, Ix at, Ix count);

} // namespace ingot::lower
