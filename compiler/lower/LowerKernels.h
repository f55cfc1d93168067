// plan.kernel -> functions of loops, and plan.launch in its place. Equal kernels share a function; constant operands go
// to the weights.
#pragma once
#include "compiler/lower/Family.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::lower {

/// The module's attribute for `--accuracy strict`: the result of every op is rounded to its element type.
inline constexpr llvm::StringLiteral strictName = "ingot.strict";
/// Attribute of a module: "off", no convolution is by Winograd's algorithm; winogradIfExact, none of floats is, since
/// its sums are not the model's; "2" or "4", all are by F(2x2) or F(4x4) for which that is possible. None: where it is
/// expected to be faster.
inline constexpr llvm::StringLiteral winogradName = "ingot.winograd", winogradIfExact = "exact";

/// The same of products by Strassen's algorithm: "off", none; "on", each for which that is possible. None: where it is
/// expected to be faster, but not if results are to be strict.
inline constexpr llvm::StringLiteral strassenName = "ingot.strassen";

/// The same of factors of float32 that are split (Tiles.h).
inline constexpr llvm::StringLiteral splitFloatsName = "ingot.split_floats";
/// The module's attribute for `--accuracy close` and `fast`: they have two parts.
inline constexpr llvm::StringLiteral twoPartsName = "ingot.two_parts";

mlir::LogicalResult lowerKernels(mlir::ModuleOp module, MachineOf machineOf, plan::WeightTable &weights,
                                 ScheduleRequest &schedules);

} // namespace ingot::lower
