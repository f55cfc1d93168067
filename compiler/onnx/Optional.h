// Marks the inputs that a run may leave out, and finds whether a value is one of them.
#pragma once
#include "mlir/IR/Value.h"
#include <optional>

namespace ingot::onnx {

/// The attribute of a function's argument whose pointer may be null.
inline constexpr llvm::StringRef optionalName = "onnx.optional";

/// Returns the number of the function's argument that `v` is, if that is an optional one.
std::optional<unsigned> optionalInput(mlir::Value v);

} // namespace ingot::onnx
