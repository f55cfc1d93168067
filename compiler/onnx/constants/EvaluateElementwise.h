// Computes elementwise ops on constants by what their emit() writes, so that folding and a run do the same operations.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::onnx {

/// Returns the result of an op with the Elementwise interface whose result type is static. `operands` has null for an
/// input that is left out. Null: an operation or a type in it cannot be computed here, or the result would be too large
/// to fold.
mlir::ElementsAttr evaluateElementwise(mlir::Operation *op, llvm::ArrayRef<mlir::ElementsAttr> operands);

} // namespace ingot::onnx
