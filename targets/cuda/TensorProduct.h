// Multiplies matrices of float16 or bfloat16 on tensor cores, by a block of four warps: mma.m16n8k16, whose sums are
// float32. Products of such numbers are exact in float32, so that only the order of the sums differs from
// multiply-adds.
//
// The block brings 32 steps of the depth of either factor into shared memory at a time, from where each thread takes
// pairs of neighbouring steps as the instruction wants them. A warp has 32 rows and 32 columns of a tile of 64 by 64.
// Shared memory has, of each factor,
//
//   element by element   [line][pair of steps]
//   in vectors of eight  [line][vector of steps], or [step][vector of lines] where lines are contiguous in memory
//
// The latter is there twice: while the warps multiply one step of 32, the next one is copied behind their backs
// (cp.async). Pairs and vectors of a row are swizzled: the place of number v is v with some of its bits exchanged by
// the row's, so that what a warp stores or reads of several rows together is in different banks. ldmatrix reads
// vectors, and turns matrices of the latter order.
#pragma once
#include "targets/cuda/TileProduct.h"

namespace ingot::targets::cuda {

class TensorProduct {
public:
  static constexpr int64_t side = 64, threads = 128, lanes = 8;

  /// How memory is accessed: factors by vectors of eight (Factor::address), and results by pairs of a row, where both
  /// may be.
  struct Accesses {
    bool inVectors = false, inPairs = false;
  };
  TensorProduct(lower::Writer &w, mlir::Type element, Accesses accesses) : w(w), element(element), by(accesses) {}

  /// Returns float16 or bfloat16 where both values are of it and the machine has the instruction; else null.
  static mlir::Type elementFor(mlir::Value left, mlir::Value right, const target::MachineModel &machine);
  /// Returns the numbers of a buffer of such floats as they are.
  static lower::Buffer raw(lower::Writer &w, const lower::Buffer &buffer);

  /// Returns the grid of a kernel of such tiles.
  static lower::Grid grid() { return {{threads, 1, 1}, 2 * stageBytes}; }

  /// As TileProduct::write, of factors whose elements are the bits of such numbers; in pairs, `finish` gets vectors of
  /// two sums, the first of which is in an even column.
  void write(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column,
             llvm::function_ref<mlir::Value(lower::Ix row)> first,
             llvm::function_ref<void(lower::Ix row, lower::Ix column, mlir::Value sum)> finish);

private:
  static constexpr int64_t step = 32;
  static constexpr int64_t share = 32; ///< rows and columns of a warp
  static constexpr int64_t factorBytes = side * step * 2, stageBytes = 2 * factorBytes;
  lower::Writer &w;
  mlir::Type element;
  Accesses by;

  /// A factor in shared memory.
  struct Shared {
    lower::Buffer bits, words; ///< which are the same memory as int16 and as int32
    bool alongDepth;
  };
  Shared sharedAt(lower::Ix byte, bool alongDepth);
  void bring(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, const Shared &to);
  /// Begins to copy a step's vectors.
  void copyVectors(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, const Shared &to);
  /// Ends the group of copies that were begun, and waits for all groups but the last `left`.
  void endCopies();
  void waitForCopies(int32_t left);
  /// Returns the pointer to an address (i64) in one of the memories.
  mlir::Value pointer(mlir::Value address, unsigned memory);
  mlir::Value addressOf(const lower::Buffer &shared, lower::Ix element);
  /// Returns where vector `number` of a row of either layout is.
  lower::Ix swizzled(bool alongDepth, lower::Ix row, lower::Ix number);
  /// Returns the four registers with which a warp's threads have 16 lines by 16 steps, from these on: of the right
  /// factor two of each 8 lines.
  llvm::SmallVector<mlir::Value> matrices(const Shared &from, bool isLeft, lower::Ix line, int64_t k);
  /// Returns where pair `number` of a line is, in words.
  lower::Ix pairAt(lower::Ix line, lower::Ix number);
  /// Returns the pair of steps 2 * `pair` and the next of a line.
  mlir::Value pairOf(lower::Buffer words, lower::Ix line, lower::Ix pair);
  /// Returns a word as the instruction takes two numbers.
  mlir::Value numbersOf(mlir::Value word);
  /// Adds the products of 16 steps to the four sums that a thread has of a tile of 16 by 8.
  llvm::SmallVector<mlir::Value> multiply(llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> b,
                                          mlir::ValueRange sums);
  /// Adds the products of a step of the depth.
  llvm::SmallVector<mlir::Value> multiplyStep(const Shared &a, const Shared &b, lower::Ix ownRow, lower::Ix ownColumn,
                                              mlir::ValueRange sums);
};

} // namespace ingot::targets::cuda
