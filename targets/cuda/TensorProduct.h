// Multiplies matrices of float16 or bfloat16 on tensor cores, by a block of four warps: mma.m16n8k16, whose sums are
// float32. Products of such numbers are exact in float32, so that only the order of the sums differs from
// multiply-adds. Matrices of uint8 and int8 are multiplied with sums of int32: a pair of neighbouring bytes of the
// depth is where a number of 16 bits is otherwise, also in the instruction, which is mma.m16n8k32 for them.
//
// The block brings 32 steps of the depth of either factor into shared memory at a time, from where each thread takes
// pairs of neighbouring steps as the instruction wants them. A tile of the result is 64 by 64, by four warps of 32 by
// 32 each, or 128 by 128, by eight of 64 by 32: the larger one reads half as much for each product. Shared memory has,
// of each factor,
//
//   element by element   [line][pair of steps]
//   in vectors of eight  [line][vector of steps], or [step][vector of lines] where lines are contiguous in memory
//
// The latter is there three times: while the warps multiply 32 steps, the next ones and those behind them are copied
// (cp.async), into what the warps have read before. Pairs and vectors of a row are swizzled: the place of number v is v
// with some of its bits exchanged by the row's, so that what a warp stores or reads of several rows together is in
// different banks. ldmatrix reads vectors, and turns matrices of the latter order.
#pragma once
#include "targets/cuda/TileProduct.h"
#include "targets/cuda/Wide.h"

namespace ingot::targets::cuda {

class TensorProduct {
public:
  static constexpr int64_t small = 64, large = 128; ///< sides of tiles
  static constexpr int64_t lanes = 8, step = 32;    ///< step: of the depth

  /// How memory is accessed: factors by vectors of eight (Factor::address), and results by pairs of a row, where both
  /// may be.
  struct Accesses {
    bool inVectors = false, inPairs = false;
  };
  TensorProduct(lower::Writer &w, mlir::Type element, int64_t side, Accesses accesses)
      : w(w), element(element), by(accesses), side(side) {}

  /// Writes a tile with accesses of vectors and pairs where a run finds memory so, and else element by element.
  static void writeAsMemoryIs(lower::Writer &w, Wide &vectors, Wide &pairs, llvm::function_ref<void(Accesses)> write);

  /// Returns the type of the left factor's elements if both factors are float16 or bfloat16, or one is uint8 and the
  /// other one int8, and the machine has the instruction; else null.
  static mlir::Type elementFor(mlir::Value left, mlir::Value right, const target::MachineModel &machine);
  /// Returns the address (i64) of an element, which has so many bytes.
  static mlir::Value addressIn(lower::Writer &w, const lower::Buffer &buffer, lower::Ix element, int64_t bytes = 2);
  /// Returns the numbers of a buffer of such floats as they are.
  static lower::Buffer raw(lower::Writer &w, const lower::Buffer &buffer);

  /// Returns the grid of a kernel of tiles of that side.
  static lower::Grid grid(int64_t side) { return {{threadsOf(side), 1, 1}, stages * stageBytes(side)}; }

  /// As TileProduct::write, of factors whose elements are the bits of such numbers (i16), or of two bytes; in pairs,
  /// `finish` gets vectors of two sums, the first of which is in an even column.
  void write(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column,
             llvm::function_ref<mlir::Value(lower::Ix row)> first,
             llvm::function_ref<void(lower::Ix row, lower::Ix column, mlir::Value sum)> finish);

private:
  static constexpr int64_t stages = 3;
  static constexpr int64_t warpColumns = 32; ///< of the result
  static int64_t threadsOf(int64_t side) { return side == large ? 256 : 128; }
  static int64_t factorBytes(int64_t side) { return side * step * 2; }
  static int64_t stageBytes(int64_t side) { return 2 * factorBytes(side); }
  lower::Writer &w;
  mlir::Type element;
  Accesses by;
  int64_t side;

  int64_t threads() const { return threadsOf(side); }
  int64_t warpRows() const { return side / 2; }

  /// A factor in shared memory.
  struct Shared {
    lower::Buffer bits, words; ///< which are the same memory as int16 and as int32
    bool alongDepth;
  };
  Shared sharedAt(lower::Ix byte, bool alongDepth);
  void bring(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, const Shared &to);
  /// Begins to copy a step's vectors.
  void copyVectors(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, const Shared &to);
  /// Ends the group of copies that were begun.
  void endCopies();
  /// Waits for all groups but the last `left`.
  void waitForCopies(int32_t left);
  /// Returns the pointer to an address (i64) in one of the memories.
  mlir::Value pointer(mlir::Value address, unsigned memory);
  /// Returns where vector `number` of a row of either layout is.
  lower::Ix swizzled(bool alongDepth, lower::Ix row, lower::Ix number);
  /// Returns the four registers with which a warp's threads have 16 lines by 16 steps, from these on: of the right
  /// factor two of each 8 lines.
  llvm::SmallVector<mlir::Value> matrices(const Shared &from, bool isLeft, lower::Ix line, int64_t k);
  /// Returns where pair `number` of a line is, in words.
  lower::Ix pairAt(lower::Ix line, lower::Ix number);
  /// Returns the pair of steps 2 * `pair` and the next of a line.
  mlir::Value pairOf(lower::Buffer words, lower::Ix line, lower::Ix pair);
  /// Returns a word as the instruction takes two numbers, or four bytes.
  mlir::Value numbersOf(mlir::Value word);
  mlir::Type sumType() { return element.isInteger() ? mlir::Type(w.b.getI32Type()) : w.b.getF32Type(); }
  /// Adds the products of 16 steps to the four sums that a thread has of a tile of 16 by 8.
  llvm::SmallVector<mlir::Value> multiply(llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> b,
                                          mlir::ValueRange sums);
  /// A row and a column of the result, or of a tile of it.
  struct Place {
    lower::Ix row, column;
  };
  /// Adds the products of a step of the depth to the sums of a warp, which is at `own` in the tile.
  llvm::SmallVector<mlir::Value> multiplyStep(const Shared &a, const Shared &b, Place own, mlir::ValueRange sums);
  std::pair<Shared, Shared> factorsAt(const Factor &left, const Factor &right, lower::Ix stage);
  /// Return the sums over the depth of the tile at `tile`.
  llvm::SmallVector<mlir::Value> sumsOfElements(const Factor &left, const Factor &right, lower::Ix depth, Place tile,
                                                Place own, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> sumsOfVectors(const Factor &left, const Factor &right, lower::Ix depth, Place tile,
                                               Place own, mlir::ValueRange sums);
};

} // namespace ingot::targets::cuda
