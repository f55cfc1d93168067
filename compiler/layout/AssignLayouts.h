// plan -> plan: every value gets a physical form, so that kernels which could agree do, and reorders stand only where
// they cannot.
#pragma once
#include "compiler/lower/Family.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::layout {

/// Blocked layouts and halos, reorders, concatenations in place. Function arguments and results stay row-major; where a
/// result needs a copy and no kernel tells a target, the copy runs on `host`.
void assignLayouts(mlir::func::FuncOp function, lower::MachineOf machineOf, llvm::StringRef host);

} // namespace ingot::layout
