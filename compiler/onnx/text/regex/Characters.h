// Sets of characters as ranges of code points.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace ingot::onnx::regex {

constexpr uint32_t lastCharacter = 0x10ffff;

/// Characters from one to another.
struct Range {
  uint32_t first, last;
};
using Ranges = std::vector<Range>;

/// Sorted, without overlaps.
Ranges normal(Ranges ranges);
Ranges inverse(Ranges ranges);
/// With all letters that are the same to whoever ignores case.
Ranges withCases(const Ranges &ranges);

/// \d, \s, \w or, of a capital letter, all others; empty for any other letter.
Ranges escapedClass(char letter);
/// A class of POSIX as in [:alpha:]; empty where there is none of this name.
Ranges namedClass(llvm::StringRef name);

/// Whether \b has the byte for a part of a word.
inline bool isWordByte(int byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '_';
}

} // namespace ingot::onnx::regex
