// Rewrites how ops of opsets before 7 broadcast: attributes `broadcast` and `axis` say where the second operand's axes
// lie in the first's.
#pragma once
#include "compiler/onnx/Onnx.h"

namespace ingot::onnx {

/// Removes the attributes and reshapes operand 1, so that numpy's rules mean the same.
llvm::LogicalResult upgradeBroadcast(Node &node);

/// Returns a value with `count` axes of size one appended to its shape.
mlir::Value appendAxes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, int64_t count);

} // namespace ingot::onnx
