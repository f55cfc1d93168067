// Writes reverse-mode derivatives of operators as operators.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::onnx {

/// Writes, from the derivatives by an op's results (null: zero), those by its operands (null: zero, or the operand has
/// no numbers). Nothing: there is no rule for the operator with these operands.
std::optional<llvm::SmallVector<mlir::Value>> adjointsOf(Formula &f, mlir::Operation *op,
                                                         llvm::ArrayRef<mlir::Value> given);

} // namespace ingot::onnx
