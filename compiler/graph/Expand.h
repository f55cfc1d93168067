// Rewrites an imported function first: ops whose meaning is other ops are replaced by these.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Replaces each op whose meaning is other ops whatever the sizes are (onnx::Expandable): searches for tokens,
/// derivatives, attention around subgraphs. Ops are expanded in their order, so that a derivative goes through what
/// stands for the ops before it. Failure comes with a message.
mlir::LogicalResult expand(mlir::func::FuncOp function);

} // namespace ingot::graph
