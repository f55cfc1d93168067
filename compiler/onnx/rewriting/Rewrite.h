// Greedy rewriting of a function by patterns, as the rooms that rewrite the graph do it.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::onnx {

/// Applies patterns until none matches. Patterns with one of the labels in `without` are left out. A pattern that
/// changes the function and then fails would be tried on what it made for ever: that ends the compiler and names the
/// pattern.
mlir::LogicalResult rewrite(mlir::func::FuncOp function, mlir::RewritePatternSet patterns,
                            llvm::ArrayRef<std::string> without = {});

} // namespace ingot::onnx
