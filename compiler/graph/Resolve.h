// Runs the first pass over an imported model: nodes as their file has them (onnx.Node) become ops in their newest
// definition, with types. Sequences and optional values become tensors; subgraphs become loops and branches
// (compiler/graph/resolve).
#pragma once
#include "compiler/support/Problems.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Fails when `problems` are not empty: they are all that could be found at once.
llvm::LogicalResult resolve(mlir::func::FuncOp function, support::Problems &problems);

} // namespace ingot::graph
