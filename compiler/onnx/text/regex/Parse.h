// Parses a pattern in RE2's syntax, without classes of Unicode, into a tree.
#pragma once
#include "compiler/onnx/text/regex/Characters.h"
#include "llvm/Support/Error.h"
#include <deque>

namespace ingot::onnx::regex {

/// The assertions about a place between two characters.
enum class Assertion : uint8_t { TextBegins, TextEnds, LineBegins, LineEnds, WordEdge, NoWordEdge };

struct Tree {
  enum Kind : uint8_t { Empty, Characters, Join, Either, Repeat, Place } kind = Empty;
  CharacterRanges ranges = {};
  std::vector<const Tree *> parts = {};
  int least = 0, most = -1; ///< the least and the most repetitions; -1: any number
  Assertion assertion = Assertion::TextBegins;
};

/// Returns the root of the tree, whose nodes are put into `trees`. The error says what is wrong with the pattern, or
/// which part of it is unsupported.
llvm::Expected<const Tree *> parse(llvm::StringRef pattern, std::deque<Tree> &trees);

} // namespace ingot::onnx::regex
