// Products with a constant matrix in tiles (Tiles.h): of unsigned by signed bytes, and of bfloat16.
#pragma once
#include "compiler/lower/MatMulPlan.h"
#include "compiler/lower/Tiles.h"

namespace ingot::lower {

struct TileMatMul {
  TileShape shape;
  int64_t depth = 0; ///< bytes of a row of A
  int64_t steps = 1; ///< over them
  int64_t strips = 1, panels = 1;
  support::Size height = 1; ///< rows of a block
  support::Size groups = 1; ///< blocks of rows, of which the last one begins early where it would reach over the end
  int64_t groupsPerItem = 1;
  support::Size items = 1; ///< of a panel and a matrix

  /// Where the step begins that takes the last bytes: what it has in common with the one before it is multiplied with
  /// zeros.
  int64_t lastAt() const { return depth - shape.depth; }
  int64_t panelBytes() const { return shape.wide * steps * shape.rightBytes(); }
  int64_t matrixBytes() const { return strips * steps * shape.rightBytes(); }
};

/// The schedule, where the machine has tiles and they are expected to be faster than its vectors.
std::optional<TileMatMul> tileMatMulOf(const MatMulProblem &problem, const target::MachineModel &machine);
KernelShape tileMatMulShape(plan::KernelOp kernel, const MatMulProblem &problem, const TileMatMul &tiles);
void buildTileMatMul(Build &build, const MatMulProblem &problem, const TileMatMul &tiles);

} // namespace ingot::lower
