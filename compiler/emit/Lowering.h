// Loop IR to the LLVM dialect, in the order of the declarations. Everything is changed in place.
//
// Function attributes that loop IR may carry: `ingot.cpu` and `ingot.features` (strings; the machine's where absent),
// `ingot.ldexp` (unit; such a CPU scales by powers of two in one instruction), `ingot.half` (unit; it converts
// float16), `ingot.strict` (unit; what a value is does not depend on the others in the kernel), `ingot.tiles` (unit; it
// uses AMX), `ingot.inline` (unit; a kernel small enough to be part of its caller).
// Private functions become local symbols. A math.exp with `ingot.negative` has operands that are not positive, and may
// give 0 for a denormal result; of one with `ingot.bytes` only what it does to a byte matters. A math.erfc with
// `ingot.tail` has operands in [0, 7.1].
#pragma once
#include "compiler/target/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir {
class Pass;
}

namespace ingot::emit {

/// What a function that uses AMX has in LLVM's IR.
inline constexpr llvm::StringLiteral usesTiles = "ingot-tiles";

/// Replaces math ops that have no instruction (exp, tanh, pow ...), arith.remf, and conversions of narrow floats by
/// arithmetic. Fails for an op that it does not know, rather than leaving a call to a library.
mlir::LogicalResult expandMath(mlir::ModuleOp module, const target::MachineModel &machine);

/// Brings vectors of more than one dimension, transposes, masks and transfers to one-dimensional vector ops and
/// shuffles; views with strides and affine arithmetic to plain index arithmetic.
mlir::LogicalResult simplifyVectors(mlir::ModuleOp module);

/// Linkage, CPU and manners of every function; stack arrays are moved to the entry block of their function.
void prepareFunctions(mlir::ModuleOp module, const target::MachineModel &machine);

/// Removes the attributes that name a function's own machine: all functions of a device's module are code for that
/// device.
void forgetMachines(mlir::ModuleOp module);

/// The one conversion to the LLVM dialect, memrefs as bare pointers.
mlir::LogicalResult convertToLLVM(mlir::ModuleOp module, const target::MachineModel &machine);

/// Calls with `ingot.launch` in the LLVM dialect get a call of ingot_exec.profile before and behind them.
void profileCalls(mlir::ModuleOp module);

/// Calls with `ingot.items` in the LLVM dialect become calls of ingot_parallel_for, those with `ingot.device` calls of
/// ingot_device_launch.
void splitCalls(mlir::ModuleOp module);

/// All of the above.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, const target::MachineModel &machine);

/// Passes for ingot-opt: emit-expand-math and emit-lower-to-llvm, both with the option target=SPEC.
void registerPasses();

} // namespace ingot::emit
