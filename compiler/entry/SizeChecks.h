// Writes checks whether a model can run with given symbols, which are made before any tensor is touched.
#pragma once
#include "compiler/lower/core/Writer.h"
#include "compiler/support/SizeRange.h"

namespace ingot::entry {

using lower::Writer;

/// A size whose arithmetic is watched.
struct Watched {
  mlir::Value value; ///< i64, right unless `bad` is true
  /// Is i1, and true on overflow of 64 bits or on a division by less than one.
  mlir::Value bad;
};
/// Computes a size and watches every step.
Watched watched(Writer &w, const support::Size &size);

/// Returns (i1) whether, for these symbols, the one size of the check is negative, or its two sizes differ.
mlir::Value violated(Writer &w, llvm::ArrayRef<support::Size> check);

/// Returns (i1) whether so many bytes are negative, or more than any machine's address space has.
mlir::Value impossible(Writer &w, const support::Size &bytes);

/// The conditions for a run whose symbols are so small that no size can overflow, as those of nearly all runs are:
/// bounds of the symbols, and those checks that the bounds do not imply.
struct UsualRun {
  std::map<support::Symbol, support::Range> symbols;
  std::vector<support::Sizes> checks; ///< see violated()
};

/// Returns these conditions; nothing where no bounds of the symbols make it safe to compute all sizes.
std::optional<UsualRun> usualRun(llvm::ArrayRef<std::string> symbols, llvm::ArrayRef<support::Size> bytes,
                                 llvm::ArrayRef<support::Sizes> checks);

/// Returns (i1) whether a run is such a run, and may go on.
mlir::Value isUsual(Writer &w, const UsualRun &run);

} // namespace ingot::entry
