// Writes a tree as a program of instructions on bytes, as Thompson does for nondeterministic automata. Characters are
// UTF-8: a range of them becomes several sequences of ranges of bytes.
#pragma once
#include "compiler/onnx/text/regex/Parse.h"
#include <optional>

namespace ingot::onnx::regex {

struct RegexInstruction {
  enum Kind : uint8_t { Split, Bytes, Place, Match } kind = Match;
  uint8_t first = 0, last = 0; ///< the range of an instruction of kind Bytes
  Assertion assertion = Assertion::TextBegins;
  uint32_t next = 0, other = 0;
};

/// The direction in which a text is read; Backwards begins at its end.
enum class Direction : uint8_t { Forwards, Backwards };

class RegexProgram {
public:
  std::vector<RegexInstruction> code;
  uint32_t start = 0;

  RegexProgram(const Tree *tree, Direction direction);
  /// Whether the program is too long to be used: its code is not complete then.
  bool isTooLong() const;

private:
  Direction direction;

  uint32_t add(RegexInstruction i);
  uint32_t split(uint32_t a, uint32_t b);
  uint32_t bytes(uint8_t first, uint8_t last, uint32_t next);
  /// Writes code for a tree that goes on at `next`, and returns where it begins.
  uint32_t write(const Tree *tree, uint32_t next);
  uint32_t place(Assertion assertion, uint32_t next);
  uint32_t repeat(const Tree *tree, uint32_t next);
  uint32_t characters(const CharacterRanges &ranges, uint32_t next);
};

} // namespace ingot::onnx::regex
