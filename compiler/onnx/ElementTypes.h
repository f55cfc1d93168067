// Element types: ONNX's numbers (TensorProto.DataType) and MLIR's types. Signed integers are signless, unsigned ones
// say so, bool is i1.
#pragma once
#include "mlir/IR/BuiltinTypes.h"

namespace ingot::onnx {

/// The type of an ONNX number, or null when tensors of it are not supported.
mlir::Type elementOfNumber(int64_t number, mlir::MLIRContext *context);
/// The ONNX number of a type; 0 for none.
int64_t numberOfElement(mlir::Type element);

} // namespace ingot::onnx
