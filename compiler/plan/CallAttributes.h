// Attributes of the calls of kernels, which the entry sets and both exits read (emit/SplitCalls.cpp, emit/cpp).
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// Marks a call whose last two operands are a range of work items, which several threads may share.
inline constexpr llvm::StringLiteral itemsName = "ingot.items";

/// Marks such a call, in place of itemsName, where the run tells whether that is worth it: the beginning of the range
/// is 0 where it is not.
inline constexpr llvm::StringLiteral weighedItemsName = "ingot.weighed_items";

} // namespace ingot::plan
