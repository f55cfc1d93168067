// Leaves the last row of an output where its caller reads no other.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Makes each of the outputs called `names` its last row, along the last axis but one, which keeps a size of 1. A run
/// in which there is no row ends with an error. Fails with a message for a name that no output has, and for an output
/// of fewer than two axes. Fusions then leave out what only the other rows need (fusion/SelectedRows.cpp).
mlir::LogicalResult keepLastRows(mlir::func::FuncOp function, llvm::ArrayRef<std::string> names);

} // namespace ingot::graph
