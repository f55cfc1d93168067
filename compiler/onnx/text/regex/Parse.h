// A pattern in RE2's syntax, without Unicode classes, as a tree.
#pragma once
#include "compiler/onnx/text/regex/Characters.h"
#include "llvm/Support/Error.h"
#include <deque>

namespace ingot::onnx::regex {

/// What may be asked about a place between two characters.
enum class Ask : uint8_t { TextBegins, TextEnds, LineBegins, LineEnds, WordEdge, NoWordEdge };

struct Tree {
  enum Kind : uint8_t { Empty, Characters, Join, Either, Repeat, Place } kind = Empty;
  Ranges ranges = {};
  std::vector<const Tree *> parts = {};
  int least = 0, most = -1; ///< of a repetition; -1: any number
  Ask ask = Ask::TextBegins;
};

/// The root of the tree, whose nodes are put into `trees`. The error says what is wrong with the pattern, or what of it
/// is unsupported.
llvm::Expected<const Tree *> parse(llvm::StringRef pattern, std::deque<Tree> &trees);

} // namespace ingot::onnx::regex
