// The loops of a kernel that works along some axes of a tensor (a reduction, a softmax): the axes it works along
// inside, the others outside.
#pragma once
#include "compiler/lower/core/Group.h"

namespace ingot::lower {

class Split {
public:
  /// `along` are axes of `in` (normal); the result has a dimension of its own for each other axis, and for those too
  /// when `keeps` (then of size 1, or the same size). Dimensions that everything walks as one are merged.
  Split(const Group &group, mlir::RankedTensorType in, mlir::RankedTensorType out, llvm::ArrayRef<int64_t> along,
        bool keeps);

  /// Of a tensor each of whose axes is worked along, or kept, as the run says: its size in `out` is 1, or that in `in`.
  /// Every axis is two dimensions here, of which one has a single place. `across`: whether the last axis that is no
  /// number 1 is worked along. Work items: the positions along all others.
  Split(const Group &group, mlir::RankedTensorType in, mlir::RankedTensorType out, bool across);
  /// That axis; 0 where all are 1.
  static int64_t lastAxis(mlir::RankedTensorType type);

  /// The type of a root operand, which may be computed in the region, in the kernel's layout (that of its result).
  static mlir::RankedTensorType shaped(plan::KernelOp kernel, mlir::Value v);

  Space in, out;
  llvm::SmallVector<bool> along;     ///< for each dimension of `in`
  llvm::SmallVector<int64_t> outDim; ///< its dimension in `out`; -1: none
  llvm::SmallVector<unsigned> inner; ///< dimensions worked along, outermost first
  Ix count = 1;                      ///< elements worked along
  int64_t lanes = 1;                 ///< of a vector: the machine's, or the layout's block
  bool across = false; ///< row-major and the last dimension is worked along: the lanes of a vector are to be combined

  /// Work items of such a kernel: the positions before the first axis worked along.
  static support::Size items(mlir::RankedTensorType in, llvm::ArrayRef<int64_t> along);

  /// Runs `body` for each vector position of the other axes within items [begin, end). `at` has a coordinate for each
  /// dimension of `in`; those worked along are 0. `vectors` is how many vectors (side by side along the last dimension)
  /// the body is to treat: at most `most`; always 1 when `across` (then lanes is 1 too: one row).
  using Body = llvm::function_ref<void(llvm::SmallVector<Ix> at, int64_t vectors, int64_t lanes, mlir::Value mask)>;
  void positions(Writer &w, Ix begin, Ix end, int64_t most, Body body) const;

  /// One vector (or scalar) on the way along.
  struct Step {
    llvm::ArrayRef<Ix> at;
    int64_t lanes;
    mlir::Value mask; ///< of lanes; null: all
    int64_t slot; ///< which accumulator: steps of one slot follow each other; == unroll for the scalars behind the last
                  ///< whole vector
  };
  using StepBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(const Step &, mlir::ValueRange)>;
  /// Walks along the axes from a position, `unroll` steps in a round, with values carried. Where the lanes are across,
  /// steps are vectors and a tail with a mask or of scalars; else each step has the position's lanes and mask.
  llvm::SmallVector<mlir::Value> sweep(Writer &w, llvm::ArrayRef<Ix> position, int64_t positionLanes,
                                       mlir::Value positionMask, int64_t unroll, mlir::ValueRange carried,
                                       StepBody body) const;
  /// Whether a sweep ends with scalars.
  bool hasScalarTail(const Writer &w) const {
    return across && lanes > 1 && !remainder(in.sizes.back(), lanes).is(0) && !w.machine.maskedAccess;
  }

  /// The result's point for a point of `in`.
  llvm::SmallVector<Ix> outAt(llvm::ArrayRef<Ix> at) const;

private:
  void merge();
  void finish(const Group &group, mlir::Type element);
  void keptLoops(Writer &w, llvm::SmallVector<Ix> &at, size_t d, int64_t most, Body body) const;
};

} // namespace ingot::lower
