// Spills accumulators of register tiles to the stack while other tiles go over the same K-chunk of a panel
// (WeightRate.h). They are vectors, which are numbered.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

class SpilledAccumulators {
public:
  /// To be made outside of all loops: each time it takes room on the stack anew.
  SpilledAccumulators(Writer &w, mlir::Type element, int64_t lanes, int64_t count);

  /// Stores zeros in the first `count` vectors.
  void clear(Ix count);
  llvm::SmallVector<mlir::Value> load(Ix first, int64_t count);
  void store(llvm::ArrayRef<mlir::Value> sums, Ix first);

private:
  Writer &w;
  mlir::Type element;
  int64_t lanes;
  Buffer buffer;
};

} // namespace ingot::lower
