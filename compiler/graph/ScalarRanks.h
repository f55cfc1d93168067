// Gives values of one element whose rank is not always the same one rank.
#pragma once
#include "compiler/onnx/ops/Control.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Makes scalars of results of an If, or of carried values of a loop, that have one element but no common rank, where
/// nobody asks for the rank. Returns whether there were some.
bool makeScalars(onnx::IfOp op, mlir::PatternRewriter &rewriter);
bool makeScalars(onnx::LoopOp loop, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
