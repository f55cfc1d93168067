// Has the interfaces of ops that graph::expand rewrites before anything is simplified, and what their expansions share.
#pragma once
#include "compiler/onnx/Onnx.h"

#include "compiler/onnx/interfaces/Expansion.h.inc"

namespace ingot::onnx {

/// Returns the name of the attribute that has the names of the inputs of the subgraph called `name`.
std::string inputsAttribute(llvm::StringRef name);
/// Returns the name of an input of a region's subgraph in the model; empty where the op does not have it.
std::string inputName(SubgraphHolder op, unsigned region, unsigned input);

/// Writes the ops of a region's subgraph once more, at the builder's place, with `arguments` in place of its own, and
/// returns its results. Types are inferred anew, and sizes that its ops find get symbols of their own.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> copySubgraph(mlir::OpBuilder &b, mlir::Region &region,
                                                             mlir::ValueRange arguments);

} // namespace ingot::onnx
