// Products of many rows with a constant matrix by Strassen's algorithm, in Winograd's form: seven products of half the
// rows, half the depth and half the columns in the place of eight, and fifteen additions (V. Strassen, "Gaussian
// elimination is not optimal", 1969). One level of it, without a temporary that leaves the second cache:
//
//   for a block of rows, some of the upper half of A and as many of the lower / for a block of the depth's half:
//     the seven left factors: quarters of A and sums of them
//     for a pair of neighbouring panels of B, which are the columns' halves:
//       the right factors that are sums; the others are read in the panels
//       for a register tile of rows: the seven products in three chains, whose sums stay in registers
//         behind the last block of the depth: the epilogue, row by row
//
// With quarters A11 to A22 (rows, depth) and B11 to B22 (depth, columns):
//
//   S1 = A21 + A22, S2 = S1 - A11, S3 = A11 - A21, S4 = A12 - S2
//   T1 = B12 - B11, T2 = B22 - T1, T3 = B22 - B12, T4 = B21 - T2
//   first chain:  P1 = A11 B11;      C11 = P1 + A12 B21
//   second chain: U2 = P1 + S2 T2;   U3 = U2 + S3 T3;   C21 = U3 + A22 T4
//   third chain:  P5 = S1 T1;        C22 = U3 + P5;     C12 = P5 + U2 + S4 B22
//
// The panels are those of a plain product (MatMulPlan.h): weights are no larger. Rows of an odd number are halved so
// that both halves have the middle one. Sums differ from those of the model by a little more than other orders of
// summation do: the error is bounded by a norm of the matrices, not element by element.
#pragma once
#include "compiler/lower/product/MatMulPlan.h"

namespace ingot::lower {

struct Strassen {
  MatMulTiling tiling;           ///< of B: an even number of panels
  int64_t half = 0;              ///< rows of a half of A
  int64_t depth = 0, depths = 0; ///< of a block, and how many blocks are a half of k
  int64_t rows = 0, blocks = 0;  ///< rows of a block; the last block begins early where it would reach over the end
  int64_t height = 0, tiles = 0; ///< rows of a register tile, and how many are in a block
  int64_t pairs = 0;             ///< of panels
  /// Whether T1 and T3 are stored once for a block and a pair. If not, each tile subtracts two panels for them: a
  /// subtraction and a load more in two of seven products, but a third less traffic with the second cache.
  bool makesDifferences = true;
  // Work items: a group of blocks of rows with a share of the pairs.
  int64_t groups = 1, blocksPerGroup = 0, shares = 1, pairsPerShare = 0;

  int64_t items() const { return groups * shares; }
  int64_t paddedRows() const { return tiles * height; }

  // Scratch memory in elements. An item has left and right factors, and what a tile keeps between the chains. Sums are
  // those of a tile where a block is all of the depth, and else those of a block of rows, which a group has.
  int64_t leftStride = 0; ///< from row to row: an odd number of cache lines
  int64_t leftElements() const { return paddedRows() * leftStride; }
  int64_t rightElements() const { return depth * tiling.width; }
  int64_t factorElements() const { return 7 * leftElements() + (makesDifferences ? 4 : 2) * rightElements(); }
  int64_t keptElements() const { return height * tiling.width; }   ///< of a tile, each
  int64_t sumElements() const { return 2 * height * sumStride(); } ///< of a tile
  int64_t sumStride() const { return 2 * tiling.width; }
  int64_t itemElements() const { return factorElements() + 2 * keptElements() + (depths == 1 ? sumElements() : 0); }
  int64_t groupElements() const { return depths == 1 ? 0 : pairs * tiles * sumElements(); }
  int64_t scratchElements() const { return items() * itemElements() + groups * groupElements(); }
  double cycles = 0; ///< expected
  /// Whether it is no loss in other respects than cycles: it takes little scratch memory, and has enough work items for
  /// several threads, as a plain product always has.
  bool isHarmless(const MatMulProblem &problem) const;
  int64_t multiplyAdds() const { return 7 * blocks * rows * depth * depths * pairs * tiling.width; }
};

/// Returns the fastest schedule; nothing where the algorithm cannot compute the product.
std::optional<Strassen> strassenOf(const MatMulProblem &problem, const target::MachineModel &machine);
KernelShape strassenShape(plan::KernelOp kernel, const MatMulProblem &problem, const Strassen &schedule,
                          const target::MachineModel &machine);
void buildStrassen(Build &build, const MatMulProblem &problem, const Strassen &schedule);

} // namespace ingot::lower
