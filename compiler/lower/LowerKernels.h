// plan.kernel -> functions of loops, and plan.launch in its place. Equal kernels share a function; constant operands go
// to the weights.
#pragma once
#include "compiler/lower/Family.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::lower {

mlir::LogicalResult lowerKernels(mlir::ModuleOp module, MachineOf machineOf, plan::WeightTable &weights);

} // namespace ingot::lower
