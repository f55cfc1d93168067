// A pool as its kernel sees it: what is folded over a window, and the window on three axes.
#pragma once
#include "compiler/lower/Family.h"
#include <array>

namespace ingot::lower {

struct PoolAxis {
  Ix in = 1, out = 1;
  int64_t taps = 1, step = 1, tapStep = 1;
  Ix before = 0, after = 0;

  /// Taps [first, last) of output `i` that lie inside the input.
  std::pair<Ix, Ix> inside(Ix i) const;
  /// How many taps lie inside the input and its padding.
  Ix padded(Ix i) const;
  /// Outputs [first, last) all of whose taps lie inside the input.
  std::pair<Ix, Ix> interior() const;
};

struct Pool {
  enum Kind { Max, Average, Sum, SumOfSquares };
  Kind kind = Max;
  bool countPadding = false;
  bool isUnsigned = false;  ///< elements, of a Max
  bool columnMajor = false; ///< indices
  int64_t rank = 0;
  std::array<PoolAxis, 3> axes;
};

Pool poolOf(mlir::Operation *op);

/// The folding itself, on scalars or vectors.
mlir::Value poolStart(Writer &w, const Pool &pool, mlir::Type type);
mlir::Value poolFold(Writer &w, const Pool &pool, mlir::Value acc, mlir::Value x);
mlir::Value poolFinish(Writer &w, const Pool &pool, mlir::Value acc, Ix count);
/// Two accumulators become one.
mlir::Value poolJoin(Writer &w, const Pool &pool, mlir::Value a, mlir::Value b);

/// Whole images: the kernels of the global pools.
void buildGlobalPool(Build &build, const Pool &pool);

} // namespace ingot::lower
