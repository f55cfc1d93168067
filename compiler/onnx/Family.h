// For the files of ops/: what a family includes. A family's .cpp defines its ops' methods and register<Family>(), which
// the dialect calls.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {
/// Whether the operands of these numbers (none given: all) have one element type; one left out has any.
bool haveSameElements(mlir::Operation *op, llvm::ArrayRef<unsigned> numbers);
/// That an attribute of text has one of the values that it may have; the message lists them.
mlir::LogicalResult oneOf(mlir::Operation *op, llvm::StringRef name, llvm::StringRef value,
                          llvm::ArrayRef<llvm::StringRef> allowed);

#define FAMILY(Name) void register##Name(OnnxDialect &dialect);
#include "compiler/onnx/ops/All.inc"
#undef FAMILY
} // namespace ingot::onnx
