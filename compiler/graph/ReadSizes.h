// Makes sizes that a model computes from data sizes of the compiler.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Makes sizes of numbers in data that say how large a result of `op` is: where the function reads sizes
/// (onnx::SizeReading), the op has results of unknown size, and nothing but the numbers is missing. Each becomes a
/// data-dependent size (onnx.ReadSize, onnx.RangeSize) in front of the op. Failure: there was nothing to do.
llvm::LogicalResult readSizes(mlir::Operation *op, mlir::PatternRewriter &rewriter);

/// Tells contexts of the registry how operators read sizes (readers/).
void attachReaders(mlir::DialectRegistry &registry);

} // namespace ingot::graph
