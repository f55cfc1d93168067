// How Attention's work is cut: what a kernel computes, tiles and blocks, and what lies where in a work item's scratch.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/lower/product/Tiles.h"
#include "compiler/support/Size.h"

namespace ingot::lower {

/// How an operand is read: along the batch, then rows, then columns.
struct AttentionOperand : support::Strided<support::Size> {
  const support::Size &row() const { return strides[strides.size() - 2]; }
  const support::Size &column() const { return strides.back(); }
};

/// What one kernel computes.
struct AttentionProblem {
  support::Sizes batch;
  support::Size queries, keys, rows, outer = 1;
  int64_t width, valueWidth;
  AttentionOperand q, k, v;
  size_t own = 0; ///< batch axes [0, own) have keys of their own; those behind share them: rows
};

/// Of a row, in a step of products in matrix registers.
inline constexpr int64_t elementsOfStep = 32;

/// How the work is cut, and where things lie in a work item's scratch (in bytes).
struct AttentionCut {
  int64_t lanes, rowsBlock, keysBlock, keyTile;
  int64_t wide = 2;                                   ///< vectors of rows of a tile of scores
  int64_t most;                                       ///< rows that are computed one by one
  int64_t dotLanes;                                   ///< along the width, for few rows
  int64_t valueLanes, valueVectors, valueTile, panel; ///< columns of V in vectors; rows and vectors of a tile
  support::Size vectors, blocks, tasks, items;
  support::Size left; ///< rows behind the vectors; negative where the last vector is not full
  int64_t q, s, sums, best, total, worth, others, bytes = 0;
  std::optional<TileShape> tiles; ///< blocks of products in matrix registers; none: vectors multiply
  int64_t splitQ = 0, splitK = 0, splitV = 0, splitWeights = 0; ///< factors in scratch, split
  int64_t keyBytes = 0, weightBytes = 0;                        ///< of a split key, and of a row's weights
  int64_t valueStride() const { return valueVectors * valueLanes; }
};

/// What the region reads besides the product.
struct AttentionOther {
  mlir::Value inRegion; ///< of the kernel
  mlir::Value argument; ///< of Attend's region
  bool alongRows = false, alongKeys = false, alongHeads = false;
  int64_t packed = 0; ///< where its vectors of rows lie in scratch, when it differs from row to row
  mlir::Type element() const { return valueType(mlir::getElementTypeOrSelf(inRegion.getType())); }
};

struct AttentionPlan {
  AttentionProblem problem;
  AttentionCut cut;
  llvm::SmallVector<AttentionOther> others;
};
AttentionPlan planAttention(plan::KernelOp kernel, const target::MachineModel &machine);

} // namespace ingot::lower
