#include "compiler/onnx/text/regex/Characters.h"
#include "compiler/onnx/text/Texts.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>
#include <set>

namespace ingot::onnx::regex {

Ranges normal(Ranges ranges) {
  llvm::sort(ranges, [](Range a, Range b) { return a.first < b.first; });
  Ranges result;
  for (Range r : ranges) {
    if (!result.empty() && r.first <= result.back().last + 1) {
      result.back().last = std::max(result.back().last, r.last);
    } else {
      result.push_back(r);
    }
  }
  return result;
}

Ranges inverse(Ranges ranges) {
  Ranges result;
  uint32_t next = 0;
  for (Range r : normal(std::move(ranges))) {
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

Ranges withCases(const Ranges &ranges) {
  const std::multimap<uint32_t, uint32_t> &cases = otherCases();
  llvm::SmallVector<uint32_t> letters;
  for (Range r : ranges) {
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
  Ranges result = ranges;
  for (uint32_t letter : more) {
    result.push_back({letter, letter});
  }
  return normal(result);
}

Ranges escapedClass(char letter) {
  static const Ranges digits = {{'0', '9'}}, words = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
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

Ranges namedClass(llvm::StringRef name) {
  return llvm::StringSwitch<Ranges>(name)
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
