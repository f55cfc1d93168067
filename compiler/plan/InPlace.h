// Attributes of a launch that say where its result may lie, which the lowering sets and the memory plan reads.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// Lists the operands in whose buffer the first result may lie, by their numbers.
inline constexpr llvm::StringLiteral inPlaceName = "plan.in_place";

/// Holds the number of the operand that the first result continues: the same bytes, with more behind them.
inline constexpr llvm::StringLiteral extendsName = "plan.extends";

} // namespace ingot::plan
