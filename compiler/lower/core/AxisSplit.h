// Writes the loops of a kernel that works along some axes of a tensor (a reduction, a softmax). The axes along which it
// works are inside, the others outside. Where work items are threads of a device, a position is an item, and one of a
// long row a block of threads, a team, each of which has every so many elements of the row.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Vectors.h"

namespace ingot::lower {

/// The two groups of dimensions, and the loops over them.
class AxisSplit {
public:
  /// Splits a tensor `in` by known axes. `along` are these axes, counted from the front. The result has a dimension of
  /// its own for each other axis, and for these axes as well when `keeps` (then of size 1, or of the same size).
  /// Dimensions that all accesses walk as one are merged.
  AxisSplit(const Group &group, mlir::RankedTensorType in, mlir::RankedTensorType out, llvm::ArrayRef<int64_t> along,
            bool keeps);

  /// Splits a tensor each of whose axes is worked along, or kept, as the run determines: its size in `out` is 1, or the
  /// size in `in`. Every axis is two dimensions here, one of which has a single place. `across`: whether the last axis
  /// that is longer than 1 is worked along. Work items are the positions along all other axes.
  AxisSplit(const Group &group, mlir::RankedTensorType in, mlir::RankedTensorType out, bool across);
  /// Returns the last axis that is longer than 1; 0 where there is none.
  static int64_t lastAxis(mlir::RankedTensorType type);

  /// Returns the type of a root operand, which may be computed in the region, in the kernel's layout (that of its
  /// result).
  static mlir::RankedTensorType shaped(plan::KernelOp kernel, mlir::Value v);

  Space in, out;
  llvm::SmallVector<bool> along;     ///< for each dimension of `in`, whether it is worked along
  llvm::SmallVector<int64_t> outDim; ///< for each dimension of `in`, its dimension in `out`; -1: none
  llvm::SmallVector<unsigned> inner; ///< the dimensions worked along, the outermost first
  Ix count = 1;                      ///< how many elements are worked along for one position
  int64_t lanes = 1;                 ///< lanes of a vector: the machine's, or the layout's block
  /// Whether the tensor is row-major and the last dimension is worked along, so that the lanes of a vector are to be
  /// combined.
  bool across = false;
  int64_t team = 1; ///< the threads that walk along a row together

  /// The result with one dimension, where each work item is a row and all accesses go on from the results of one row to
  /// those of the next. So the results of as many rows as there are lanes can be stored together.
  std::optional<Space> rowsOut;
  /// The tensor with one dimension, where in addition rows fill no vector and all accesses go on from one row to the
  /// next.
  std::optional<Space> shortRowsIn;

  /// The body for `lanes` short rows from `row` on: `columns` has a vector for each element of a row, with a row in
  /// each lane.
  using RowsBody = llvm::function_ref<void(Ix row, llvm::SmallVector<mlir::Value> columns)>;
  /// Runs `body` for short rows of `data` in items [begin, end), and returns the first item that is left (`begin` where
  /// rows are not short).
  Ix shortRows(Writer &w, const Group &group, mlir::Value data, Ix begin, Ix end, RowsBody body) const;
  /// Returns the position of an item.
  llvm::SmallVector<Ix> positionOf(Ix item) const;

  /// Gives a kernel that works along these axes its work items: the positions before the first of them, or, where items
  /// are threads, all positions. `teams`: the kernel combines the elements of rows by whole() and stores in once().
  static void share(KernelShape &shape, mlir::RankedTensorType in, llvm::ArrayRef<int64_t> along,
                    const target::MachineModel &machine, bool teams = true);

  /// Combines the lanes of a vector into a scalar, and what all threads of a team have. Each of them gets the result.
  mlir::Value whole(Writer &w, Combine how, mlir::Value v) const;
  /// Runs the body in one thread of a team.
  void once(Writer &w, llvm::function_ref<void()> body) const;

  /// The body for a position. `at` has a coordinate for each dimension of `in`; those worked along are 0. `vectors` is
  /// how many vectors (side by side along the last dimension) the body has to treat; it is 1 when `across`, and then
  /// lanes is 1 too: the position is one row.
  using Body = llvm::function_ref<void(llvm::SmallVector<Ix> at, int64_t vectors, int64_t lanes, mlir::Value mask)>;
  /// Runs `body` for each vector position of the other axes within items [begin, end), with at most `most` vectors.
  void positions(Writer &w, Ix begin, Ix end, int64_t most, Body body) const;

  /// One vector (or scalar) of the elements that are worked along.
  struct Step {
    llvm::ArrayRef<Ix> at;
    int64_t lanes;
    mlir::Value mask; ///< the lanes that count; null: all
    /// The number of an accumulator: steps of one slot follow each other. Scalars behind the last whole vector have the
    /// slot `unroll`.
    int64_t slot;
  };
  using StepBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(const Step &, mlir::ValueRange)>;
  /// Walks along the axes from a position, `unroll` steps in a round, with values carried. Where the lanes are across,
  /// steps are vectors and a tail with a mask or of scalars. Else each step has the position's lanes and mask. The
  /// threads of a team share the steps, all of which have slot 0 then; where these are vectors, rows have to be whole
  /// vectors.
  llvm::SmallVector<mlir::Value> sweep(Writer &w, llvm::ArrayRef<Ix> position, int64_t positionLanes,
                                       mlir::Value positionMask, int64_t unroll, mlir::ValueRange carried,
                                       StepBody body) const;
  /// Returns whether a sweep ends with scalars.
  bool hasScalarTail(const Writer &w) const {
    return across && lanes > 1 && team == 1 && !remainder(in.sizes.back(), lanes).is(0) && !w.machine.maskedAccess;
  }

  /// Returns the result's point for a point of `in`.
  llvm::SmallVector<Ix> outAt(llvm::ArrayRef<Ix> at) const;

private:
  static support::Size items(mlir::RankedTensorType in, llvm::ArrayRef<int64_t> along);
  void merge();
  void findRows();
  void finish(const Group &group, mlir::Type element);
  void eachItem(Writer &w, Ix begin, Ix end, Body body) const;
  void keptLoops(Writer &w, llvm::SmallVector<Ix> &at, size_t d, int64_t most, Body body) const;
};

} // namespace ingot::lower
