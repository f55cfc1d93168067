// Attributes of the arguments and results of a model's function that rooms behind the importer ask for.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::onnx {

/// Holds what the model calls an input or output. The importer sets it on arguments, and graph::resolve on results;
/// messages, --cache, --bind and the descriptor read it.
inline constexpr llvm::StringLiteral interfaceName = "onnx.name";

/// Returns the number of the output that the model calls `name`; nothing where there is none.
inline std::optional<unsigned> outputCalled(mlir::func::FuncOp function, llvm::StringRef name) {
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto own = function.getResultAttrOfType<mlir::StringAttr>(i, interfaceName);
    if (own && own.getValue() == name) {
      return i;
    }
  }
  return std::nullopt;
}

} // namespace ingot::onnx
