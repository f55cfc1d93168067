// Runs the first layers of a network patch by patch, where memory does not hold their maps (--patches).
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Cuts the rows of some value into `patches` parts, and lets the layers up to it compute one part after the other.
/// Values are ordered by an estimate of the memory that is in use then, and `choice` is a number in that order. Returns
/// false, and changes nothing, where no such value is left that takes less memory in parts.
bool runInPatches(mlir::func::FuncOp function, int64_t patches, size_t choice = 0);

} // namespace ingot::graph
