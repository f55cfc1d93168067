// Gives every value of the plan a physical form (plan -> plan), such that kernels which could agree on one do, and
// reorders stand only where they cannot.
#pragma once
#include "compiler/lower/Family.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::layout {

/// Assigns blocked layouts and halos, and inserts reorders and concatenations in place. Function arguments and results
/// stay row-major. Where a result needs a copy and no kernel decides on which target, the copy runs on `host`.
void assignLayouts(mlir::func::FuncOp function, lower::MachineOf machineOf, llvm::StringRef host);

} // namespace ingot::layout
