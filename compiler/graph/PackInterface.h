// Tensors below a byte at the edge of a model.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// The attribute of an argument or a result that is bytes with several elements each: the type of the tensor.
inline constexpr llvm::StringLiteral packedName = "onnx.packed";

/// Inputs and outputs whose elements share bytes become tensors of these bytes, which the function takes apart at its
/// beginning and puts together at its end: inside of it each element has a byte of its own. Reports those whose sizes
/// are open.
mlir::LogicalResult packInterface(mlir::func::FuncOp function);

} // namespace ingot::graph
