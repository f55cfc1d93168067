// Ops on narrow floats whose meaning is other ops.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Makes an op that several others will take the place of one on float32 between casts, where operands are narrower
/// floats: what it computes in between is neither rounded nor overflows. Fails for other ops, and quietly.
mlir::LogicalResult widenFloats(mlir::Operation *op, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
