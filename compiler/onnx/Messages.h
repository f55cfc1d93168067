// Puts messages about types into words that users know.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace ingot::onnx {

/// Returns a message of MLIR with "strings" in place of their type in the IR (isString).
std::string withStrings(llvm::StringRef message);

} // namespace ingot::onnx
