// Counts what kernels read and write, for the choice of memories.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::memory {

/// Returns the bytes that one call of a kernel, on `items` work items, reads and writes in the memory of each of its
/// arguments, by estimate. Arguments that are no memory have 0.
llvm::SmallVector<int64_t> trafficOf(mlir::func::FuncOp kernel, int64_t items);

} // namespace ingot::memory
