// Makes plan.kernel functions of loops, and plan.launch in its place. Equal kernels share a function; constant operands
// go to the weights.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/lower/Policies.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::lower {

/// Returns a choice of the user that the module has as the attribute `name`; the default where it has none.
template <typename Choice> Choice policyOf(mlir::ModuleOp module, llvm::StringRef name) {
  auto word = module->getAttrOfType<mlir::StringAttr>(name);
  return word ? support::valueOf<Choice>(word.getValue()).value_or(Choice::Faster) : Choice::Faster;
}

mlir::LogicalResult lowerKernels(mlir::ModuleOp module, MachineOf machineOf, plan::WeightTable &weights,
                                 ScheduleRequest &schedules);

} // namespace ingot::lower
