// Makes slices of one row whose number is computed ops of a known shape.
#pragma once
#include "compiler/onnx/ops/Move.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Returns the axis along which a Slice takes row s, from s to s + 1, where only the run knows s; it takes nothing
/// where there is no such row. Nothing: the op does something else.
std::optional<int64_t> rowAxis(mlir::Operation *op);

/// Replaces such a Slice by the Gather of row s, whose result has a shape, where the row is always there or what reads
/// it needs it: a run in which there is no such row ends with an error. Failure: the op is none.
llvm::LogicalResult sliceToGather(mlir::Operation *op, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
