// What a size can be where the symbols have bounds.
#pragma once
#include "compiler/support/Size.h"

namespace ingot::support {

/// An inclusive range; without a number it goes on without end.
struct Range {
  std::optional<int64_t> least, most;
};

/// A range that the size does not leave while each symbol stays in its own, by interval arithmetic: where a symbol
/// occurs several times it may be wider than need be. Runs in which the size divides by less than 1 are refused and do
/// not count.
Range rangeOf(const Size &size, llvm::function_ref<Range(Symbol)> symbol);

/// The same where computing it step by step cannot leave 62 bits nor divide by less than 1; nothing otherwise.
std::optional<Range> safeRangeOf(const Size &size, llvm::function_ref<Range(Symbol)> symbol);

} // namespace ingot::support
