// Lowers loop IR to the LLVM dialect, in the order of the declarations. Everything is changed in place.
//
// Functions of loop IR and math ops in them may carry the attributes of plan/KernelAttributes.h and
// support/Attributes.h, and calls those of plan/CallAttributes.h. Private functions become local symbols.
#pragma once
#include "compiler/target/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir {
class Pass;
}

namespace ingot::emit {

/// The machines of a module's functions: its own one, and others, which functions name (plan::machineName).
class Machines {
public:
  explicit Machines(const target::MachineModel &own, llvm::ArrayRef<const target::MachineModel *> others = {})
      : own(own), others(others) {}

  const target::MachineModel &own;

  /// Returns the machine of the function that `op` is or is in.
  const target::MachineModel &of(mlir::Operation *op) const;
  /// Fails with a diagnostic where a function names a machine that is none of these.
  mlir::LogicalResult check(mlir::ModuleOp module) const;

private:
  llvm::ArrayRef<const target::MachineModel *> others;
  const target::MachineModel *find(mlir::Operation *function) const;
};

/// The attribute that a function which uses AMX has in LLVM's IR.
inline constexpr llvm::StringLiteral usesTiles = "ingot-tiles";

/// Replaces math ops that have no instruction (exp, tanh, pow ...), arith.remf, and conversions of narrow floats by
/// arithmetic. Fails for an op that it does not know, rather than leaving a call to a library.
mlir::LogicalResult expandMath(mlir::ModuleOp module, const Machines &machines);

/// Brings vectors of more than one dimension, transposes, masks and transfers to one-dimensional vector ops and
/// shuffles; views with strides and affine arithmetic to plain index arithmetic.
mlir::LogicalResult simplifyVectors(mlir::ModuleOp module);

/// Sets linkage, CPU and manners of every function; stack arrays are moved to the entry block of their function.
void prepareFunctions(mlir::ModuleOp module, const Machines &machines);

/// Removes the attribute that names a function's own machine: all functions are code for the module's machine then, as
/// in the module of a device, or in C++ source.
void forgetMachines(mlir::ModuleOp module);

/// Converts everything to the LLVM dialect at once, with memrefs as bare pointers.
mlir::LogicalResult convertToLLVM(mlir::ModuleOp module, const Machines &machines);

/// Puts a call of ingot_exec.profile before and behind calls with `ingot.launch` in the LLVM dialect.
void profileCalls(mlir::ModuleOp module);

/// Makes calls with `ingot.items` in the LLVM dialect calls of ingot_parallel_for, and those with `ingot.device` calls
/// of ingot_device_launch.
void splitCalls(mlir::ModuleOp module);

/// Does all of these in order.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, const Machines &machines);

/// Registers the passes of ingot-opt: emit-expand-math and emit-lower-to-llvm, both with the option target=SPEC.
void registerPasses();

} // namespace ingot::emit
