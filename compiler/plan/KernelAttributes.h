// Attributes of kernels' functions, which the lowering sets and the exits read.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// Four integers: threads of a block along three axes, and bytes that they share. Its work items are blocks.
inline constexpr llvm::StringLiteral gridName = "ingot.grid";

} // namespace ingot::plan
