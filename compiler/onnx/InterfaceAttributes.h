// Attributes of the arguments and results of a model's function that rooms behind the importer ask for.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace ingot::onnx {

/// Holds what the model calls an input or output. The importer sets it on arguments, and graph::resolve on results;
/// messages, --cache, --bind and the descriptor read it.
inline constexpr llvm::StringLiteral interfaceName = "onnx.name";

} // namespace ingot::onnx
