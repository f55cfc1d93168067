// plan.kernel -> functions of loops, and plan.launch in its place. Equal kernels share a function; constant operands go
// to the weights.
#pragma once
#include "compiler/lower/Family.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::lower {

/// The machine of a kernel's `target` attribute.
using MachineOf = llvm::function_ref<const target::MachineModel &(llvm::StringRef)>;

/// Attribute of a module: "off", no convolution by Winograd's algorithm, whose sums are others than the model's (strict
/// accuracy); "2" or "4", by F(2x2) or F(4x4) wherever that is possible, for tests. None: where it is faster.
inline constexpr llvm::StringLiteral winogradName = "ingot.winograd";

mlir::LogicalResult lowerKernels(mlir::ModuleOp module, MachineOf machineOf, plan::WeightTable &weights);

} // namespace ingot::lower
