// Whether a model can run with given symbols, asked before any tensor is touched.
#pragma once
#include "compiler/lower/core/Writer.h"
#include "compiler/support/SizeRange.h"

namespace ingot::entry {

using lower::Writer;

/// A size with its arithmetic watched: `bad` (i1) is true on overflow of 64 bits and on a division by less than one.
struct Watched {
  mlir::Value value; ///< i64
  mlir::Value bad;
};
Watched watched(Writer &w, const support::Size &size);

/// i1: whether for these symbols one size is negative, or two differ.
mlir::Value violated(Writer &w, llvm::ArrayRef<support::Size> check);

/// i1: whether so many bytes are negative, or more than any machine's address space has.
mlir::Value impossible(Writer &w, const support::Size &bytes);

/// What to ask of a run whose symbols are so small that no size can overflow, as those of nearly all runs are: bounds
/// of the symbols, and those checks that they do not imply.
struct UsualRun {
  std::map<support::Symbol, support::Range> symbols;
  std::vector<support::Sizes> checks; ///< see violated()
};

/// Nothing where no bounds of the symbols make all of it safe to compute.
std::optional<UsualRun> usualRun(llvm::ArrayRef<std::string> symbols, llvm::ArrayRef<support::Size> bytes,
                                 llvm::ArrayRef<support::Sizes> checks);

/// i1: whether a run is such a run, and may go on.
mlir::Value isUsual(Writer &w, const UsualRun &run);

} // namespace ingot::entry
