// Makes ops the region of a kernel.
#pragma once
#include "compiler/plan/Plan.h"

namespace ingot::partition {

/// Makes a kernel of copies of the ops, which are in the order of their block, with `ins` as its operands; the other
/// values that they read are copied into its region: constants, parameters, or none. The ops stay where they are, and
/// so do uses of `outs`.
plan::KernelOp wrapOps(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<mlir::Value> ins,
                       llvm::ArrayRef<mlir::Value> outs, llvm::StringRef target, plan::PieceAttr piece = {});

} // namespace ingot::partition
