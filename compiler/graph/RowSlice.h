// Slices of one row whose number is computed.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Replaces a Slice from s to s + 1 along one axis, s being known only when the model runs, by the Gather of row s: its
/// result has a shape. A run in which there is no such row ends with an error. Failure: the op is none.
llvm::LogicalResult sliceToGather(mlir::Operation *op, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
