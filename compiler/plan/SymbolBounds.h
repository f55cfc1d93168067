// Says between which values a symbol of the model is, for bounds of what sizes are computed of (support/SizeRange.h).
#pragma once
#include "compiler/plan/Model.h"
#include "compiler/support/SizeRange.h"

namespace ingot::plan {

/// Returns the range of a symbol by its text. What no run may be larger than is missing where nothing bounds it, and
/// for what is no symbol of the model, such as a data-dependent size.
inline support::Range boundsOf(llvm::ArrayRef<SymbolInfo> symbols, llvm::StringRef name) {
  for (const SymbolInfo &symbol : symbols) {
    if (symbol.name == name) {
      return {symbol.least, symbol.most < 0 ? std::nullopt : std::optional(symbol.most)};
    }
  }
  return {0, std::nullopt};
}

} // namespace ingot::plan
