// Lowers loop IR to the LLVM dialect, in place. lowerToLLVM() does all steps, in the order in which they are declared:
// expandMath, simplifyVectors, prepareFunctions, convertToLLVM, splitCalls.
//
// Functions of loop IR and math ops in them may carry the attributes of plan/KernelAttributes.h and
// support/Attributes.h. Private functions become local symbols.
#pragma once
#include "compiler/emit/Kinds.h"
#include "compiler/target/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir {
class Pass;
}

namespace ingot::emit {

/// The machines of a module's functions: the module's own one, and others for functions that name one in the attribute
/// plan::machineName.
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

/// The attribute, in LLVM IR, of a function that uses AMX, x86's registers for tiles of matrices.
inline constexpr llvm::StringLiteral usesAmx = "ingot-tiles";

/// Replaces math ops that have no instruction (exp, tanh, pow ...), arith.remf, and conversions of floats below 32 bits
/// by arithmetic. Fails with a diagnostic for an op that it does not know: left alone, it would become a call of a C
/// library.
mlir::LogicalResult expandMath(mlir::ModuleOp module, const Machines &machines);

/// Gives one meaning to what the IR leaves to machines, in a module with support::reproducibleName (MakeDefined.cpp).
/// The first step of expandMath.
void makeDefined(mlir::ModuleOp module);

/// Brings vectors of more than one dimension, transposes, masks and transfers to one-dimensional vector ops and
/// shuffles; views with strides and affine arithmetic to plain index arithmetic.
mlir::LogicalResult simplifyVectors(mlir::ModuleOp module);

/// Sets the linkage, the CPU and the other attributes of LLVM of every function (PrepareFunctions.cpp), and moves stack
/// arrays to the entry block.
void prepareFunctions(mlir::ModuleOp module, const Machines &machines, Optimize aim);

/// Removes the attribute plan::machineName of all functions, so that all are code for the module's own machine. The
/// module of a device, and C++ source, have only one.
void forgetMachines(mlir::ModuleOp module);

/// Converts all ops to the LLVM dialect in one conversion. A memref becomes a bare pointer, without sizes and strides.
mlir::LogicalResult convertToLLVM(mlir::ModuleOp module, const Machines &machines);

/// Replaces run.over_items, in the LLVM dialect, by calls of ingot_parallel_for, which divides the work items among
/// threads.
void splitCalls(mlir::ModuleOp module);

/// Does all steps that the head of this file lists.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, const Machines &machines, Optimize aim = Optimize::Balanced);

/// Registers the passes of ingot-opt: emit-expand-math and emit-lower-to-llvm, both with the option target=SPEC.
void registerPasses();

} // namespace ingot::emit
