// Simplifies whole graphs of onnx ops. A model's main function is one block of ops in topological order.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Infers types, folds constants and writes plain forms in one walk forward: every op gets its result types from its
/// operands, is computed where its operands are constants, and is replaced by simpler ops where its meaning is other
/// ops. Afterwards unused ops are gone. Fails (with messages) on contradictions.
mlir::LogicalResult simplify(mlir::func::FuncOp function);

/// Makes data-dependent sizes of numbers in data, where nothing else tells how large a tensor is; numbers that nothing
/// bounds become sizes only with `unbounded`. Simplifies the function where there are such.
mlir::LogicalResult findSizes(mlir::func::FuncOp function, bool unbounded);

/// Removes common subexpressions, then unused ops.
void eliminateCommon(mlir::func::FuncOp function);

/// Checks that every axis is a number or an expression of the symbols by now. Reports each op for which it is not at
/// once.
mlir::LogicalResult requireSizes(mlir::func::FuncOp function);

} // namespace ingot::graph
