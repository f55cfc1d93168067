// Compiles regular expressions in RE2's syntax to tables of deterministic automata (regex/), so that a run reads each
// byte of a text once for a match and twice for a search. Errors say what is wrong with a pattern, which part of it is
// unsupported, or that it needs too many states.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace ingot::onnx {

/// Returns the table of an automaton (runtime_support/core/text.h) that accepts the texts which match as a whole.
llvm::Expected<std::vector<char>> automatonOf(llvm::StringRef pattern);

/// Two tables that find the first match, and the longest of those that begin there: `end` tells where it ends, and
/// `begin`, which reads backwards from there, where it begins.
struct Searcher {
  std::vector<char> end, begin;
};
llvm::Expected<Searcher> searcherOf(llvm::StringRef pattern);

/// Returns searches that take texts apart: the first one at the first pattern, the next one what is left at the next
/// pattern, and so on; pieces without characters are dropped. Patterns of one character that follow each other become
/// one search.
llvm::Expected<std::vector<Searcher>> separatorsOf(llvm::ArrayRef<llvm::StringRef> patterns);

} // namespace ingot::onnx
