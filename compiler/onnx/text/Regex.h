// Regular expressions in RE2's syntax, made deterministic automata while compiling (regex/): a match then reads each
// byte once, a search twice. Errors say what is wrong with a pattern, or what of it is unsupported, or that it needs
// too many states.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace ingot::onnx {

/// The table of runtime_support/core/text.h for texts that match as a whole.
llvm::Expected<std::vector<char>> automatonOf(llvm::StringRef pattern);

/// Tables that find the first match, and of those that begin there the longest: the first one tells where it ends, the
/// other one, which reads backwards, where it begins.
struct Searcher {
  std::vector<char> end, begin;
};
llvm::Expected<Searcher> searcherOf(llvm::StringRef pattern);

/// What takes texts apart at the first pattern, what is left at the second one, and so on, where nothing is left of
/// pieces without characters: patterns of one character that follow each other are one search.
llvm::Expected<std::vector<Searcher>> separatorsOf(llvm::ArrayRef<llvm::StringRef> patterns);

} // namespace ingot::onnx
