// Products with a constant matrix in tiles (Tiles.h): of unsigned by signed bytes, of bfloat16 and of split float32.
#pragma once
#include "compiler/lower/core/CacheLines.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/lower/product/Tiles.h"

namespace ingot::lower {

struct TileMatMul {
  TileShape shape;
  int64_t parts = 1; ///< of A that is float32, of which an item copies its rows, split; else one
  int64_t depth = 0; ///< bytes of a row of A; of one part, padded to whole steps
  int64_t steps = 1; ///< over them
  /// Of rows that are split the steps are in so many parts of the depth, each copied when it is needed, while sums
  /// wait in memory: A stays in the second cache.
  int64_t depths = 1;
  int64_t strips = 1, panels = 1;
  support::Size height = 1;  ///< rows of a block
  support::Size groups = 1;  ///< blocks of rows, of which the last one begins early where it would reach over the end
  int64_t groupsOfStrip = 1; ///< blocks whose rows stay in the second cache, or their copy does
  support::Size stripCount = 1; ///< of a matrix
  int64_t shares = 1;           ///< threads to which the panels of a strip may go
  double copyShare = 0;         ///< StripWork
  double cycles = 0;            ///< expected, of some rows where only the run tells how many

  /// Where the step begins that takes the last bytes: what it has in common with the one before it is multiplied with
  /// zeros.
  int64_t lastAt() const { return depth - shape.depth; }
  int64_t stepsOfPanel() const { return steps / depths; } ///< in one part of the depth
  int64_t chunk = 1;                                      ///< steps of it that all blocks go over before any goes on
  int64_t chunks() const { return stepsOfPanel() / chunk; }
  bool spillsSums() const { return depths > 1 || (chunks() > 1 && groupsOfStrip > 1); }
  int64_t panelBytes() const { return stepsOfPanel() * shape.storedBytes(shape.wide); }
  /// Where a step of a panel, which is `wide`, begins.
  int64_t stepAt(int64_t panel, int64_t step, int64_t wide) const {
    int64_t part = step / stepsOfPanel() * (matrixBytes() / depths);
    return part + panel * panelBytes() + step % stepsOfPanel() * shape.storedBytes(wide);
  }
  int64_t matrixBytes() const {
    return shape.splitsRight ? depths * panels * panelBytes() : steps * shape.storedBytes(strips);
  }
  bool splits() const { return parts > 1; }
  // A copied row has its parts one behind the other. An item has room for the rows of a strip, behind them for two
  // chunks of a panel that are split on the way, and for the sums of its blocks; but if depths are several, those of
  // all panels have room behind all items, strip by strip.
  int64_t partBytes() const { return depth / depths; }
  int64_t copiedRowBytes() const { return oddLines(parts * partBytes(), 64); }
  support::Size copiedBytes() const { return support::Size(groupsOfStrip * copiedRowBytes()) * height; }
  int64_t sumBytes() const { return spillsSums() ? (depths > 1 ? panels : 1) * groupsOfStrip * shape.sumBytes() : 0; }
  support::Size itemBytes() const {
    return copiedBytes() + support::Size(2 * shape.chunkBytes(chunk) + (depths > 1 ? 0 : sumBytes()));
  }
  support::Size items(const support::Size &matrices) const {
    return evenItems(matrices * stripCount * support::Size(shares));
  }
};

/// The schedule, of a machine with tiles and a product by a constant matrix that is not empty; nothing: rows fill no
/// steps. `parts`: of float32 that is split.
std::optional<TileMatMul> tileMatMulOf(plan::KernelOp kernel, const MatMulProblem &problem, int64_t parts,
                                       const target::MachineModel &machine);
KernelShape tileMatMulShape(plan::KernelOp kernel, const MatMulProblem &problem, const TileMatMul &tiles);
void buildTileMatMul(Build &build, const MatMulProblem &problem, const TileMatMul &tiles);

} // namespace ingot::lower
