// See onnx/sizes/Declared.h.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Warns of results whose shape, which is known by now, contradicts what the model declares; then forgets that.
void compareDeclared(mlir::func::FuncOp function);
void forgetDeclared(mlir::func::FuncOp function);

} // namespace ingot::graph
