// plan -> plan: kernels of which each reads what the one before it makes become links of one kernel
// (lower/conv/Chain.h).
#pragma once
#include "compiler/layout/Chains.h"
#include "compiler/lower/Family.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::layout {

void formChains(mlir::func::FuncOp function, lower::MachineOf machineOf, Chains chains);

} // namespace ingot::layout
