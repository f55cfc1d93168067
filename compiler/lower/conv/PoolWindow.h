// Describes a pool as its kernel sees it: what is folded over a window, and the window on three axes.
#pragma once
#include "compiler/lower/Family.h"
#include <array>

namespace ingot::lower {

/// One axis: `in` elements with `before` and `after` elements of padding, over which a window of `taps` taps, `tapStep`
/// elements apart, moves in steps of `step` to `out` places.
struct PoolAxis {
  Ix in = 1, out = 1;
  int64_t taps = 1, step = 1, tapStep = 1;
  Ix before = 0, after = 0;

  /// Returns the taps [first, last) of output `i` that lie inside the input.
  std::pair<Ix, Ix> inside(Ix i) const;
  /// Returns how many taps of output `i` lie inside the input and its padding.
  Ix padded(Ix i) const;
  /// Returns the outputs [first, last) all of whose taps lie inside the input.
  std::pair<Ix, Ix> interior() const;
};

/// What a pool computes.
struct Pool {
  enum Kind { Max, Average, Sum, SumOfSquares };
  Kind kind = Max;
  /// Whether an average counts the padding.
  bool countPadding = false;
  bool isUnsigned = false;  ///< whether the elements of a Max are unsigned
  bool columnMajor = false; ///< whether the indices of a Max count column by column
  int64_t rank = 0;
  std::array<PoolAxis, 3> axes;
};

/// Returns the pool that an op asks for.
Pool poolOf(mlir::Operation *op);

/// A row of outputs: its image, channel (or block of channels), slice and row.
struct PoolRow {
  Ix n, c, d, h;
  std::pair<Ix, Ix> slices, rows;     ///< taps inside of the input, as [first, last)
  Ix base;                            ///< where the first tap of output 0 is, in the padding perhaps
  Ix padded;                          ///< taps along slices and rows that are inside of the input and the padding
  std::array<Ix, 2> tapDistance = {}; ///< between two taps along slices and rows, in elements

  /// Returns how many taps along slices and rows an average counts.
  Ix taps(const Pool &pool) const;
  /// Returns the place of the outputs that begin at a column.
  Point pointAt(const Pool &pool, Ix column, int64_t lanes, mlir::Value mask = {}) const;
  /// Folds over slices and rows, of taps whose first one is at `at`: `columns` folds a row of them, given where it
  /// begins.
  llvm::SmallVector<mlir::Value>
  fold(Writer &w, Ix at, mlir::ValueRange acc,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(Ix at, mlir::ValueRange acc)> columns) const;
};

/// Return the value of an empty window, the window with one more element, and the result for `count` elements. They
/// work on scalars and on vectors.
mlir::Value poolStart(Writer &w, const Pool &pool, mlir::Type type);
mlir::Value poolFold(Writer &w, const Pool &pool, mlir::Value acc, mlir::Value x);
mlir::Value poolFinish(Writer &w, const Pool &pool, mlir::Value acc, Ix count);
/// Returns two accumulators in one.
mlir::Value poolJoin(Writer &w, const Pool &pool, mlir::Value a, mlir::Value b);

/// Builds the kernels of the global pools, whose window is the whole image.
void buildGlobalPool(Build &build, const Pool &pool);

} // namespace ingot::lower
