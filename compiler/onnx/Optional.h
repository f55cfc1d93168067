// Inputs that a run may leave out.
#pragma once
#include "mlir/IR/Value.h"
#include <optional>
#include <string>

namespace ingot::onnx {

/// The attribute of a function's argument whose pointer may be null.
inline constexpr llvm::StringRef optionalName = "onnx.optional";

/// The number of the function's argument that `v` is, if that is an optional one.
std::optional<unsigned> optionalInput(mlir::Value v);

/// Stands in requirements for "input number so-and-so is there": 1 or 0.
std::string presenceSymbol(unsigned input);
/// Whether a SizeCheck's text is about such a symbol.
bool isPresenceCheck(llvm::StringRef text);

} // namespace ingot::onnx
