// Attributes of kernels' functions, which the lowering sets and the exits read.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::plan {

/// Four integers: threads of a block along three axes, and bytes that they share. Its work items are blocks.
inline constexpr llvm::StringLiteral gridName = "ingot.grid";

/// The spec of the machine that a function is for (MachineModel::spec), a string. Functions without it are for that of
/// the module.
inline constexpr llvm::StringLiteral machineName = "ingot.machine";

} // namespace ingot::plan
