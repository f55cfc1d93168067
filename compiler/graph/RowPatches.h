// Runs the first layers of a network patch by patch, where memory does not hold their maps (--patches).
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Cuts the rows of some value into `patches` parts, and lets the layers up to it compute one part after the other.
/// Fails with a message where no value is such that this takes less memory.
mlir::LogicalResult runInPatches(mlir::func::FuncOp function, int64_t patches);

} // namespace ingot::graph
