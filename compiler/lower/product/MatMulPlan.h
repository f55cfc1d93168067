// How matrix products are cut: what a kernel computes, its tiles, panels and blocks, and how constants are packed. See
// PanelProduct.cpp.
#pragma once
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/bytes/ByteProducts.h"
#include "compiler/support/Size.h"

namespace ingot::lower {

/// The product as [batch][m][k] * [batch][k][n], with strides in elements.
struct MatMulProblem {
  mlir::Type element;
  int64_t elementBytes = 4, weightBytes = 4; ///< of values, and of B (or its packed words) in memory
  /// What A and B have. Products of Bfloat16 are summed in float32: `k` counts pairs, of which a word of B has one.
  /// Bytes, and Int16 by bytes, are summed in int32 (ByteProducts): `k` counts steps, each with `stepRows` rows of
  /// packed words, and `restA` elements of A are in a last step that is not whole.
  enum class Factors { Floats, Bfloat16, Bytes, Int16 };
  Factors factors = Factors::Floats;
  bool isInteger() const { return factors == Factors::Bytes || factors == Factors::Int16; }
  bool isBf16() const { return factors == Factors::Bfloat16; }
  int64_t int16Dots = 0; ///< of bytes: how many dot products of four have a sum that fits int16
  int64_t stepRows = 1, restA = 0;
  ByteProducts bytes(const target::MachineModel &machine) const {
    return ByteProducts(machine, factors == Factors::Int16, int16Dots);
  }
  bool vectorA = false, vectorB = false;     ///< one-dimensional operands: the result lacks that axis
  support::Sizes batchSizes, batchA, batchB; ///< batchA: stride in elements; batchB: in matrices
  support::Size batch = 1, m = 1, n = 1, k = 1;
  support::Size rowA = 0, stepA = 1;    ///< of A along m and k
  support::Size stepB = 1, columnB = 1; ///< of B, where it is read in place, along k and n
  support::Size matricesB = 1;
  bool constantB = false, transB = false;
  bool merged = false;             ///< batch dimensions are part of m
  target::Schedule requested = {}; ///< what a table or the user asks of its kernel
};

/// How the product is cut.
struct MatMulTiling {
  enum class From { Packed, Scratch, InPlace }; ///< what B is read from
  friend bool operator==(const MatMulTiling &a, const MatMulTiling &b) = default;

  bool dots = false;
  From from = From::Packed;
  int64_t lanes = 1, vectors = 1, width = 1;
  int64_t strip = 1; ///< columns that lie side by side in a packed constant: `width`, or a multiple or part of it
  support::Size panels = 1, blocks = 1;
  // Columns of the last panel, where their number is known.
  int64_t lastVectors = 1;
  int64_t rest = 0; ///< columns in the last vector when it is not full
  // Rows: either their number is known,
  int64_t tiles = 1, tilesPerBlock = 1;
  /// The size of a K-chunk in steps: every tile, of `spilledTiles` at most, computes so many steps of a panel and
  /// spills its accumulators before any tile goes on. 0: no chunks.
  int64_t chunkSteps = 0, spilledTiles = 0;
  // or tiles have so many at most, in this many blocks, none where there are no rows: what may be zero is no divisor
  // that is divided by ahead of the few rows that need no division.
  int64_t highest = 0;
  support::Size blocksOfRows = 1;
  bool dotsForFew = false; ///< dot products where a work item has two rows at most

  support::Size panelElements(const MatMulProblem &p) const { return p.k * support::Size(p.stepRows * width); }
  support::Size stripElements(const MatMulProblem &p) const { return p.k * support::Size(p.stepRows * strip); }
  support::Size matrixElements(const MatMulProblem &p) const {
    return ceilDiv(panels * support::Size(width), strip) * stripElements(p);
  }
  bool cutsStrips() const { return width < strip; }
  int64_t mostRows(const MatMulProblem &p) const { return highest ? highest : llvm::divideCeil(p.m.number(), tiles); }
};

/// Returns the largest number of row tiles that are too few to fetch half of the next panel meanwhile: then one of them
/// reads the weights from memory as a stream.
inline int64_t streamedTiles(const target::MachineModel &machine) {
  return std::max<int64_t>(1, machine.tuning.fetchingTiles / 2 - 1);
}

MatMulProblem matmulProblem(plan::KernelOp kernel, const target::MachineModel &machine);
/// Makes the space's dimensions [batch..., m, n], or [m, n] when the batch is part of m.
void shapeSpace(Space &space, const MatMulProblem &p);
MatMulTiling matmulTiling(const MatMulProblem &problem, const target::MachineModel &machine);
/// Schedules that a table may ask for instead of a tiling: rows and vectors of a tile, and the number of tiles of rows
/// in a work item.
std::vector<target::Schedule> matmulSchedules(const MatMulProblem &problem, const MatMulTiling &tiling,
                                              const target::MachineModel &machine);
/// Cycles of a step of a register tile on a core that multiplies and adds two vectors in each: an instruction takes
/// about four, so that fewer than twelve sums wait for each other.
double registerStepCycles(int64_t rows, int64_t vectors);
/// Cycles of a matrix, in tiles from the panels of B or in dot products: A is read and the result written while they
/// are multiplied, and constants are waited for.
double panelCycles(plan::KernelOp kernel, const MatMulProblem &problem, const MatMulTiling &tiling,
                   const target::MachineModel &machine);

/// Writes the loops of a product that is not empty.
void buildPanels(Build &build, const MatMulProblem &problem, const MatMulTiling &tiling);

/// Constant B -> panels, zero padded.
plan::WeightTable::Recipe packedPanels(const MatMulProblem &problem, const MatMulTiling &tiling,
                                       const target::MachineModel &machine);

} // namespace ingot::lower
