// Walks down the columns of a row-major tensor, many of them together. A few vectors that walk down a large tensor wait
// at each row for memory: its lines are too far from each other to be fetched ahead, and where a row has a power of two
// of bytes they share a few places of a cache. A strip of many columns reads rows as they lie in memory, and what is
// carried from row to row lies in small arrays that stay in the first cache.
#pragma once
#include "compiler/lower/core/AxisSplit.h"

namespace ingot::lower {

/// Neighbouring columns at a position of the outer axes.
struct Strip {
  const AxisSplit &split;
  llvm::SmallVector<Ix> position;
  Ix first;      ///< the first column
  int64_t width; ///< how many there are

  /// The body for a vector: the position of its first element in the first row, and its place in the strip.
  using VectorBody = llvm::function_ref<void(llvm::SmallVector<Ix> at, Ix place, int64_t lanes, mlir::Value mask)>;
  /// Runs `body` for the vectors of a row.
  void vectors(Writer &w, VectorBody body) const;
  /// Runs `body` for all rows from the top down: for `together` of them at a time, and for those that are left (one by
  /// one where their number is open).
  void down(Writer &w, int64_t together, llvm::function_ref<void(Ix row, int64_t rows)> body) const;
  /// Returns the position `row` rows below `at`.
  llvm::SmallVector<Ix> below(llvm::ArrayRef<Ix> at, Ix row) const;
};

/// Whether a split by one axis has columns that are many and long enough for strips.
bool hasWideColumns(const Writer &w, const AxisSplit &split);
/// Makes an array with an element for each of `columns` columns, whole vectors of them.
Buffer arrayForColumns(Writer &w, const AxisSplit &split, mlir::Type element, int64_t columns);
/// Returns how many columns a strip is to have: at most `most`, and not more than there are.
int64_t widthOfStrips(const AxisSplit &split, int64_t most);
/// Runs `body` for the strips of items [begin, end), which are `width` columns wide, or what is left of a row.
void eachStrip(Writer &w, const AxisSplit &split, Ix begin, Ix end, int64_t width,
               llvm::function_ref<void(const Strip &)> body);

} // namespace ingot::lower
