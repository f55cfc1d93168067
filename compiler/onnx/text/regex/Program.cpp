// Writes instructions from the last to the first, because each names the one that follows it. a|bc becomes
//
//   0 match
//   1 'c' -> 0
//   2 'b' -> 1
//   3 'a' -> 0
//   4 split 3, 2        the start
//
// A program that reads backwards is made of the same tree with sequences in the other order, bytes of a character
// included, and with assertions mirrored: where a text is read from its end, ^ asks what comes last.
#include "compiler/onnx/text/regex/Program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace ingot::onnx::regex {

/// Nested repetitions multiply: (a{1000}){1000} would have a million instructions.
static constexpr size_t mostInstructions = 50'000;

RegexProgram::RegexProgram(const Tree *tree, Direction direction) : direction(direction) {
  uint32_t end = add({RegexInstruction::Match});
  start = write(tree, end);
}

bool RegexProgram::isTooLong() const { return code.size() >= mostInstructions; }

uint32_t RegexProgram::add(RegexInstruction i) {
  if (!isTooLong()) {
    code.push_back(i);
  }
  return static_cast<uint32_t>(code.size()) - 1;
}

uint32_t RegexProgram::split(uint32_t a, uint32_t b) {
  RegexInstruction i{RegexInstruction::Split};
  i.next = a, i.other = b;
  return add(i);
}

uint32_t RegexProgram::bytes(uint8_t first, uint8_t last, uint32_t next) {
  RegexInstruction i{RegexInstruction::Bytes};
  i.first = first, i.last = last, i.next = next;
  return add(i);
}

uint32_t RegexProgram::write(const Tree *tree, uint32_t next) {
  if (isTooLong()) {
    return next;
  }
  switch (tree->kind) {
  case Tree::Empty:
    return next;
  case Tree::Characters:
    return characters(tree->ranges, next);
  case Tree::Join:
    // Code is written from its end, so the part that is read last comes first.
    for (size_t i = 0, n = tree->parts.size(); i < n; ++i) {
      next = write(tree->parts[direction == Direction::Forwards ? n - 1 - i : i], next);
    }
    return next;
  case Tree::Either: {
    uint32_t all = write(tree->parts.back(), next);
    for (const Tree *part : llvm::reverse(llvm::ArrayRef(tree->parts).drop_back())) {
      all = split(write(part, next), all);
    }
    return all;
  }
  case Tree::Place:
    return place(tree->assertion, next);
  case Tree::Repeat:
    return repeat(tree, next);
  }
  llvm_unreachable("a kind of tree");
}

uint32_t RegexProgram::place(Assertion assertion, uint32_t next) {
  static constexpr std::pair<Assertion, Assertion> mirrored[] = {{Assertion::TextBegins, Assertion::TextEnds},
                                                                 {Assertion::TextEnds, Assertion::TextBegins},
                                                                 {Assertion::LineBegins, Assertion::LineEnds},
                                                                 {Assertion::LineEnds, Assertion::LineBegins}};
  RegexInstruction i{RegexInstruction::Place};
  i.assertion = assertion, i.next = next;
  for (auto [from, to] : mirrored) {
    if (direction == Direction::Backwards && assertion == from) {
      i.assertion = to;
    }
  }
  return add(i);
}

/// Writes `least` copies of the part, and behind them either a loop or, where there is a limit, as many copies more,
/// each of which may be skipped to the end.
uint32_t RegexProgram::repeat(const Tree *tree, uint32_t next) {
  const Tree *part = tree->parts.front();
  uint32_t end = next;
  if (tree->most < 0) {
    uint32_t loop = split(next, next);
    uint32_t body = write(part, loop);
    code[loop].next = body;
    next = loop;
  }
  for (int i = tree->least; i < tree->most; ++i) {
    next = split(write(part, next), end);
  }
  for (int i = 0; i < tree->least; ++i) {
    next = write(part, next);
  }
  return next;
}

/// Makes the sequences of ranges of bytes that encode a range of characters. The range is cut where the number of bytes
/// changes, and so that all bytes behind the first one that differs take all of their values.
template <typename Found> static void utf8(uint32_t first, uint32_t last, Found found) {
  static constexpr uint32_t ends[] = {0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff, lastCharacter};
  for (uint32_t end : ends) {
    if (first <= end && end < last) {
      utf8(first, end, found);
      return utf8(end + 1, last, found);
    }
  }
  if (first >= 0xd800 && last <= 0xdfff) {
    return; // halves of surrogates are not characters
  }
  if (last > 0x7f) {
    for (int i = 1; i < 4; ++i) {
      uint32_t mask = (1u << (6 * i)) - 1;
      if ((first & ~mask) == (last & ~mask)) {
        continue;
      }
      if (first & mask) {
        utf8(first, first | mask, found);
        return utf8((first | mask) + 1, last, found);
      }
      if ((last & mask) != mask) {
        utf8(first, (last & ~mask) - 1, found);
        return utf8(last & ~mask, last, found);
      }
    }
  }
  char low[4], high[4], *lowEnd = low, *highEnd = high;
  llvm::ConvertCodePointToUTF8(first, lowEnd);
  llvm::ConvertCodePointToUTF8(last, highEnd);
  llvm::SmallVector<std::pair<uint8_t, uint8_t>, 4> pairs;
  for (ptrdiff_t i = 0; i < lowEnd - low; ++i) {
    pairs.push_back({static_cast<uint8_t>(low[i]), static_cast<uint8_t>(high[i])});
  }
  found(pairs);
}

/// Writes a split over the sequences of bytes of all ranges, each of which goes on at `next`.
uint32_t RegexProgram::characters(const CharacterRanges &ranges, uint32_t next) {
  std::optional<uint32_t> all;
  auto sequence = [&](llvm::SmallVector<std::pair<uint8_t, uint8_t>, 4> pairs) {
    uint32_t at = next;
    if (direction == Direction::Forwards) {
      std::reverse(pairs.begin(), pairs.end());
    }
    for (auto [first, last] : pairs) {
      at = bytes(first, last, at);
    }
    all = all ? split(at, *all) : at;
  };
  for (CharacterRange r : ranges) {
    utf8(r.first, r.last, sequence);
  }
  return all ? *all : bytes(1, 0, next); // an empty set of characters matches nothing
}

} // namespace ingot::onnx::regex
