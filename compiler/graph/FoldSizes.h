// Folds shape arithmetic on sizes that are expressions.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Replaces an op on small integer tensors of sizes (onnx.Sizes and constants), as they stand between Shape and
/// Reshape, by its result. Failure: it is no such op.
llvm::LogicalResult foldSizes(mlir::Operation *op, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
