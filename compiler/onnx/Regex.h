// Regular expressions in RE2's syntax, made deterministic automata while compiling: a match then reads each byte once.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace ingot::onnx {

/// The table of runtime_support/core/text.h for texts that match as a whole. The error says what is wrong with the
/// pattern, or what of it is unsupported, or that it needs too many states.
llvm::Expected<std::vector<char>> automatonOf(llvm::StringRef pattern);

} // namespace ingot::onnx
