// Packs and unpacks inputs and outputs whose elements are smaller than a byte.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// The attribute of an argument or a result that is bytes with several elements each. It holds the type of the tensor.
inline constexpr llvm::StringLiteral packedName = "onnx.packed";

/// Makes inputs and outputs whose elements share bytes tensors of these bytes, which the function takes apart at its
/// beginning and puts together at its end: inside of it each element has a byte of its own. Reports those whose sizes
/// are open.
mlir::LogicalResult packInterface(mlir::func::FuncOp function);

} // namespace ingot::graph
