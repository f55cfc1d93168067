// Makes a kernel (plan.kernel) from ops of a function: their copies become its region, and its operands and results the
// region's way in and out.
#pragma once
#include "compiler/plan/Plan.h"

namespace ingot::partition {

/// Makes a kernel that computes `outs`, from copies of `ops`, which are in the order of their block. Its operands are
/// `ins`; whatever else the ops read (constants, parameters, an operand that is left out) is copied into the region.
/// The caller replaces the uses of `outs` by the kernel's results, and erases the ops.
plan::KernelOp wrapOps(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> ins,
                       llvm::ArrayRef<mlir::Value> outs, llvm::StringRef target, plan::PieceAttr piece = {});

} // namespace ingot::partition
