// Computes with sets of characters as sorted ranges that neither overlap nor touch (normal form), which makes the
// complement one walk. Classes of characters are those of ASCII, as in RE2 without its Unicode flags.
#include "compiler/onnx/text/regex/Characters.h"
#include "compiler/onnx/text/Texts.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>
#include <set>

namespace ingot::onnx::regex {

CharacterRanges normal(CharacterRanges ranges) {
  llvm::sort(ranges, [](CharacterRange a, CharacterRange b) { return a.first < b.first; });
  CharacterRanges result;
  for (CharacterRange r : ranges) {
    if (!result.empty() && r.first <= result.back().last + 1) {
      result.back().last = std::max(result.back().last, r.last);
    } else {
      result.push_back(r);
    }
  }
  return result;
}

/// Everything from 0 to the last character that lies between the ranges: not [b-d] is [0-a] and [e-last].
CharacterRanges inverse(CharacterRanges ranges) {
  CharacterRanges result;
  uint32_t next = 0;
  for (CharacterRange r : normal(std::move(ranges))) {
    if (r.first > next) {
      result.push_back({next, r.first - 1});
    }
    next = r.last + 1;
  }
  if (next <= lastCharacter) {
    result.push_back({next, lastCharacter});
  }
  return result;
}

/// Returns the pairs of letters that are equal where case is ignored. The dotted capital and the dotless small i of
/// Turkish are left out, since they are no i in any other language.
static const std::multimap<uint32_t, uint32_t> &otherCases() {
  static const std::multimap<uint32_t, uint32_t> cases = [] {
    static constexpr uint32_t dottedCapital = 0x130, dotless = 0x131;
    std::multimap<uint32_t, uint32_t> pairs;
    for (bool upper : {false, true}) {
      eachLetter(upper, [&](uint32_t from, uint32_t to) {
        if (from != dottedCapital && from != dotless) {
          pairs.insert({from, to});
          pairs.insert({to, from});
        }
      });
    }
    return pairs;
  }();
  return cases;
}

/// Adds what equals the set's letters without regard to case, and what equals those: k, K and the Kelvin sign are one
/// class, of which each leads to the others in one or two steps.
CharacterRanges withCases(const CharacterRanges &ranges) {
  const std::multimap<uint32_t, uint32_t> &cases = otherCases();
  llvm::SmallVector<uint32_t> letters;
  for (CharacterRange r : ranges) {
    for (auto it = cases.lower_bound(r.first); it != cases.end() && it->first <= r.last; ++it) {
      letters.push_back(it->second);
    }
  }
  std::set<uint32_t> more;
  while (!letters.empty()) {
    uint32_t letter = letters.pop_back_val();
    if (more.insert(letter).second) {
      auto [begin, end] = cases.equal_range(letter);
      for (auto it = begin; it != end; ++it) {
        letters.push_back(it->second);
      }
    }
  }
  CharacterRanges result = ranges;
  for (uint32_t letter : more) {
    result.push_back({letter, letter});
  }
  return normal(result);
}

CharacterRanges escapedClass(char letter) {
  static const CharacterRanges digits = {{'0', '9'}}, words = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
                               spaces = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  switch (letter) {
  case 'd':
    return digits;
  case 'D':
    return inverse(digits);
  case 's':
    return spaces;
  case 'S':
    return inverse(spaces);
  case 'w':
    return words;
  case 'W':
    return inverse(words);
  default:
    return {};
  }
}

CharacterRanges namedClass(llvm::StringRef name) {
  return llvm::StringSwitch<CharacterRanges>(name)
      .Case("alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}})
      .Case("alpha", {{'A', 'Z'}, {'a', 'z'}})
      .Case("ascii", {{0, 0x7f}})
      .Case("blank", {{'\t', '\t'}, {' ', ' '}})
      .Case("cntrl", {{0, 0x1f}, {0x7f, 0x7f}})
      .Case("digit", escapedClass('d'))
      .Case("graph", {{'!', '~'}})
      .Case("lower", {{'a', 'z'}})
      .Case("print", {{' ', '~'}})
      .Case("punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}})
      .Case("space", {{'\t', '\r'}, {' ', ' '}})
      .Case("upper", {{'A', 'Z'}})
      .Case("word", escapedClass('w'))
      .Case("xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}})
      .Default({});
}

} // namespace ingot::onnx::regex
