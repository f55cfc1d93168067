// Infers sizes that change from one iteration of a Loop to the next (DataDependentSizes.h: Growth): those of carried
// values that grow or shrink, and those of scan outputs whose slices have a size that the iterations find.
#pragma once
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"

namespace ingot::onnx {

class LoopSizes {
public:
  explicit LoopSizes(LoopOp loop);

  /// Infers the body until the carried values have types that all iterations share.
  llvm::LogicalResult inferBody();
  /// Returns the type of carried value `i` after the loop.
  mlir::TensorType carriedAfter(unsigned i);
  /// Returns the sizes of the slices of scan output `i` after the loop.
  Sizes sliceAfter(unsigned i);
  /// Writes what has been found into the loop and the facts of its function.
  void finish();

  /// Whether no condition can end the loop before its trip count does.
  static bool runsAllTrips(LoopOp loop);
  /// Returns the trip count where it is a size, else unknown.
  static Size tripCount(LoopOp loop);
  /// Returns the largest number of iterations that the trip count allows; unknown: it sets no limit.
  static Size maxTripCount(LoopOp loop);

private:
  LoopOp loop;
  bool mayGrow, needsNoBound;
  llvm::SmallVector<Growth> growths;

  static llvm::SmallVector<Growth> readGrowths(LoopOp loop);
  mlir::TensorType entering(unsigned i);
  mlir::TensorType joined(mlir::RankedTensorType before, mlir::RankedTensorType next);
  llvm::FailureOr<bool> joinAll();
  Growth *inside(const Size &size);
  void collectNext();
  bool joinEqualAxes();
  bool joinAlikeAxes();
  void replace(Symbol symbol, const Size &size);
  void removeBounds();
  void findBounds();
  Size sizeAfter(const Growth &growth);
};

} // namespace ingot::onnx
