// Widens ops on narrow floats whose meaning is other ops.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Makes an op that is replaced by several others one on float32 between casts, where operands are narrower floats:
/// values in between are neither rounded nor overflow then. Fails for other ops, and quietly.
mlir::LogicalResult widenFloats(mlir::Operation *op, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
