// Finds numbers that are quantized and cannot be too large for an integer on the way.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

/// Marks each Quantize whose numbers are known to be of int32 before they saturate (`bounded`). Where `strict` does not
/// ask for more, also each function of sums of which only a Quantize to bytes is left, perhaps times something
/// (onnx::onlyBytesName): Gelu and Tanh, and Sigmoid and Swish if their error then (onnx::errorForBytes) is at most a
/// sixteenth of a step. One of bytes, which has 256 results, is exact.
void markBounds(mlir::func::FuncOp function, bool strict);

} // namespace ingot::integer
