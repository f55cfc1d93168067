// Compares shapes that a model declares for its outputs (onnx/sizes/Declared.h) with those that were inferred.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Warns of results whose shape, which is known by now, contradicts what the model declares; the declared shapes are
/// forgotten then.
void compareDeclared(mlir::func::FuncOp function);
void forgetDeclared(mlir::func::FuncOp function);

} // namespace ingot::graph
