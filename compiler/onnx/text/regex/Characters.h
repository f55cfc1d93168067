// Sets of characters are lists of ranges of code points.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace ingot::onnx::regex {

constexpr uint32_t lastCharacter = 0x10ffff;

/// The characters from `first` to `last`, which is one of them.
struct CharacterRange {
  uint32_t first, last;
};
using CharacterRanges = std::vector<CharacterRange>;

/// Returns the same characters in ranges that are sorted and do not overlap; inverse() returns all other characters.
CharacterRanges normal(CharacterRanges ranges);
CharacterRanges inverse(CharacterRanges ranges);
/// Returns the characters and all letters that differ from one of them by their case only.
CharacterRanges withCases(const CharacterRanges &ranges);

/// Returns the characters of \d, \s or \w, and for a capital letter all others; empty for any other letter.
CharacterRanges escapedClass(char letter);
/// Returns a class of POSIX, as [:alpha:] names one; empty where there is none of this name.
CharacterRanges namedClass(llvm::StringRef name);

/// Whether \b takes the byte for a part of a word.
inline bool isWordByte(int byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

} // namespace ingot::onnx::regex
