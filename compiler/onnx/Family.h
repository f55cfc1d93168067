// Has what the files of ops/ include. A family's .cpp defines its ops' methods and register<Family>(), which the
// dialect calls.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {
/// Whether the operands with these numbers (none given: all) have one element type; one that is left out has any.
bool haveSameElements(mlir::Operation *op, llvm::ArrayRef<unsigned> numbers);
/// Checks that an attribute of text has one of its possible values, which the message lists.
mlir::LogicalResult oneOf(mlir::Operation *op, llvm::StringRef name, llvm::StringRef value,
                          llvm::ArrayRef<llvm::StringRef> allowed);

#define FAMILY(Name) void register##Name(OnnxDialect &dialect);
#include "compiler/onnx/ops/All.inc"
#undef FAMILY
} // namespace ingot::onnx
