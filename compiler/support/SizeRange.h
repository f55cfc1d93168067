// Computes what a size can be where the symbols have bounds, by interval arithmetic.
#pragma once
#include "compiler/support/Size.h"

namespace ingot::support {

/// An inclusive range. An end without a number is open.
struct Range {
  std::optional<int64_t> least, most;
};

/// Returns a range that the size does not leave while each symbol stays in its own. Where a symbol occurs several times
/// the range may be wider than need be. Runs in which the size divides by less than 1 are refused, and do not count.
Range rangeOf(const Size &size, llvm::function_ref<Range(Symbol)> symbol);

/// Returns that range where computing the size step by step can neither leave 62 bits nor divide by less than 1;
/// nothing otherwise.
std::optional<Range> safeRangeOf(const Size &size, llvm::function_ref<Range(Symbol)> symbol);

} // namespace ingot::support
