// Elementwise ops on constants, computed by what their emit() says.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::onnx {

/// The result of an op with the Elementwise interface whose result type is static; `operands` has null for an input
/// left out. Null when an operation or a type in it is not one that can be computed here, or the result would be too
/// large to fold.
mlir::ElementsAttr evaluateElementwise(mlir::Operation *op, llvm::ArrayRef<mlir::ElementsAttr> operands);

} // namespace ingot::onnx
