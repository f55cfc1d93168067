// How much an op does, by its definition: the same for all machines.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/target/OpTime.h"

namespace ingot::onnx {

/// Multiplications with accumulation of a product or a convolution; nothing for other ops, and where sizes are unknown.
std::optional<Size> multiplyAddsOf(mlir::Operation *op);

/// What an op does, with sizes as `numberOf` says: multiplications of products, else results times what is combined for
/// each of them; operands and results once through memory, but for operands of which only a part is read.
target::Work workOf(mlir::Operation *op, llvm::function_ref<double(const Size &)> numberOf);

} // namespace ingot::onnx
