// What users are told about types.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace ingot::onnx {

/// A message of MLIR's with strings for what the IR has in their place (isString).
std::string withStrings(llvm::StringRef message);

} // namespace ingot::onnx
