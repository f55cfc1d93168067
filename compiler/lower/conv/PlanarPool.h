// Builds pools of images that are planar in memory, with the columns of a row side by side, in two passes over each row
// of outputs:
//
//   each column of the input: its taps along slices and rows -> a line on the stack
//   each output: its taps along the line
//
// So an output takes as many elements as its window has rows and columns, and not their product. The first pass loads
// whole vectors whatever the stride is. The line has the padding as well, elements that change no window, so that the
// second pass has no bounds.
#pragma once
#include "compiler/lower/conv/PoolWindow.h"

namespace ingot::lower {

class PlanarPool {
public:
  /// Whether a line of a pool fits the stack, and pays.
  static bool fits(const Pool &pool, mlir::Type element, const target::MachineModel &machine);
  /// Makes the lines: outside of all loops, since each time they take room on the stack anew.
  PlanarPool(Build &build, const Pool &pool, Buffer x, const Space &space, Ix rowsOfItem);

  /// Writes the rows of a work item; `rowAt` returns one of them.
  void rows(llvm::function_ref<PoolRow(Ix)> rowAt);

private:
  using Vectors = llvm::SmallVector<mlir::Value>;
  Writer &w;
  const Group &group;
  const Pool &pool;
  Buffer x;
  const Space &space;
  const PoolAxis &axis; ///< the columns
  int64_t most;         ///< outputs that a line is for
  int64_t pitch;        ///< elements from a line to the next one
  int64_t together;     ///< lines
  Ix rowsOfItem;
  Buffer lines;
  Buffer columnTaps; ///< of the outputs of a line, as floats; none: all have the same

  /// Returns how many elements the windows of so many neighbouring outputs reach over.
  static int64_t spanOf(const PoolAxis &axis, int64_t outputs);
  static int64_t outputsOfLine(const PoolAxis &axis, mlir::Type element, int64_t lanes);

  bool tapsDiffer() const;
  mlir::Value tapsOf(Ix output, int64_t lanes);
  void begin(Ix first);
  void foldColumns(const PoolRow &row, Ix line, Ix first, Ix count);
  void outputs(const PoolRow &row, Ix line, Ix first, Ix count);
  void foldLine(const PoolRow &row, Ix line, Ix first, Ix output, int64_t lanes);
};

} // namespace ingot::lower
