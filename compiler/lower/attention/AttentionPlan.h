// Plans how the work of attention is cut: what a kernel computes, its tiles and blocks, and what lies where in a work
// item's scratch. families/Attention.cpp describes the algorithm.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/lower/product/Tiles.h"
#include "compiler/support/Size.h"

namespace ingot::lower {

/// How an operand is read: strides along the axes of the batch, then rows, then columns.
struct AttentionOperand : support::Strided<support::Size> {
  const support::Size &row() const { return strides[strides.size() - 2]; }
  const support::Size &column() const { return strides.back(); }
};

/// What one kernel computes: products of `q` with `k`, and of their weights with `v`. For each index of the batch these
/// have `queries` rows of `width` columns, `keys` such rows, and `keys` rows of `valueWidth` columns.
struct AttentionProblem {
  /// The axes before queries and keys.
  support::Sizes batch;
  /// Queries and keys of one index of the batch; rows: queries that share keys; outer: how often there are others.
  support::Size queries, keys, rows, outer = 1;
  int64_t width, valueWidth;
  AttentionOperand q, k, v;
  size_t own = 0; ///< batch axes [0, own) have keys of their own; the axes behind share them, and are counted in `rows`
};

/// How many elements of a row a step of products in matrix registers takes.
inline constexpr int64_t elementsOfStep = 32;

/// How the work is cut, and where things lie in a work item's scratch. A vector of rows is `lanes` rows side by side.
struct AttentionCut {
  /// Rows of a vector and of a block, keys of a block and of a tile of scores.
  int64_t lanes, rowsBlock, keysBlock, keyTile;
  int64_t rowVectors = 2; ///< vectors of rows in a tile of scores
  int64_t most;           ///< the most rows that are computed one by one
  int64_t dotLanes;       ///< lanes along the width, for rows that are computed one by one
  /// Lanes of a vector of V's columns, such vectors in a row; rows and vectors of a tile of V's sums.
  int64_t valueLanes, valueVectors, valueTile, panel;
  /// Whole vectors of rows, blocks of them, tasks (blocks for all of `outer`), and work items, each of several tasks.
  support::Size vectors, blocks, tasks, items;
  support::Size left; ///< rows that are left behind the vectors; negative where the last vector is not full
  /// Byte offsets in scratch of the queries, the scores, V's sums, and each row's maximum, sum of weights and rescaling
  /// factor. `bytes` is the size of all scratch.
  int64_t q, k = 0, s, sums, best, total, worth, bytes = 0;
  bool copiesKeys = false;        ///< whether blocks of rows copy each block of keys to scratch, as [width][key]
  std::optional<TileShape> tiles; ///< the block of products in matrix registers; none: vectors multiply
  int64_t splitQ = 0, splitK = 0, splitV = 0, splitWeights = 0; ///< byte offsets of split factors in scratch
  int64_t keyBytes = 0, weightBytes = 0;                        ///< bytes of a split key, and of a row's split weights
  /// Returns the elements from one column of copied keys to the next: whole vectors.
  int64_t keyStride() const { return static_cast<int64_t>(llvm::alignTo(keysBlock, lanes)); }
  /// Returns the elements between the rows of V's sums.
  int64_t valueStride() const { return valueVectors * valueLanes; }
};

/// A value besides the product that the score is computed from, or the last key of each query.
struct AttentionOther {
  mlir::Value inRegion; ///< the value in the kernel's region
  mlir::Value argument; ///< the argument of Attend's region that stands for it
  /// Whether it varies along the rows, along the keys, and along the last axis that has keys of its own.
  bool alongRows = false, alongKeys = false, alongHeads = false;
  int64_t packed = 0; ///< byte offset of its vectors of rows in scratch, where it varies from row to row
  mlir::Type element() const { return valueType(mlir::getElementTypeOrSelf(inRegion.getType())); }
};

/// All that the builder of the loops has to know.
struct AttentionPlan {
  AttentionProblem problem;
  AttentionCut cut;
  llvm::SmallVector<AttentionOther> others;
  std::optional<AttentionOther> lastKey; ///< the last key of each query; nothing: all keys are looked at
};
/// Plans a kernel. The plan depends on the kernel and the machine alone, so shape and build can each ask for it.
AttentionPlan planAttention(plan::KernelOp kernel, const target::MachineModel &machine);

} // namespace ingot::lower
