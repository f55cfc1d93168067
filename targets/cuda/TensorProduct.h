// Multiplies matrices of float16 or bfloat16 on tensor cores, by a block of four warps: mma.m16n8k16, whose sums are
// float32. Products of such numbers are exact in float32, so that only the order of the sums differs from
// multiply-adds. Matrices of uint8 and int8 are multiplied with sums of int32: a pair of neighbouring bytes of the
// depth is where a number of 16 bits is otherwise, also in the instruction, which is mma.m16n8k32 for them.
//
// For float32 the instruction (mma.m16n8k8) takes tf32, which has 11 bits of the 24 of a float. With three products
// each factor is the sum of two tf32, x = high + low, up to 2^-22 of it, and
//
//   a * b = low a * high b + high a * low b + high a * high b, up to 3 * 2^-22 of it
//
// Tensor cores cut off what sums are longer than float32. So the products of a step begin with 0, the small ones first,
// and are added to the sums outside of them, where sums are rounded. tf32 has nothing below 2^-136: what factors have
// there is lost. Where a sum of a tile is not finite in the end, the block computes the tile again by multiply-adds: a
// factor may have had no parts (SplitFloats.h).
//
// The block brings 32 steps of the depth of either factor (16 of float32) into shared memory at a time, from where each
// thread takes words, which are pairs of neighbouring steps or float32, as the instruction wants them. A tile of the
// result is 64 by 64, by four warps of 32 by 32 each, or 128 by 128, by eight of 64 by 32: the larger one reads half as
// much for each product. Shared memory has, of each factor,
//
//   element by element      [line][word of steps]
//   in vectors of 16 bytes  [line][vector of steps], or [step][vector of lines] where lines are contiguous in memory
//
// The latter is there three times: while the warps multiply some steps, the next ones and those behind them are copied
// (cp.async), into what the warps have read before. Words and vectors of a row are swizzled: the place of number v is v
// with some of its bits exchanged by the row's, so that what a warp stores or reads of several rows together is in
// different banks. ldmatrix reads vectors, and turns matrices of the latter order if these are of 16 bits; float32 of
// that order are read one by one.
#pragma once
#include "targets/cuda/TileProduct.h"
#include "targets/cuda/Wide.h"

namespace ingot::targets::cuda {

class TensorProduct {
public:
  static constexpr int64_t small = 64, large = 128; ///< sides of tiles

  /// What is multiplied: the type of the left factor's elements, null where tensor cores are not to multiply, and how
  /// many products of tf32 are one of float32.
  struct Numbers {
    mlir::Type element = {};
    int64_t products = 1;
    /// Architectures of the library that do not gain by it, or cannot: threads multiply there (multiplyByThreads).
    llvm::SmallVector<int32_t, 4> without = {};

    explicit operator bool() const { return static_cast<bool>(element); }
    bool areFloats() const { return element.isF32(); }
    int64_t bytes() const { return areFloats() ? 4 : 2; } ///< of an element, or of a pair of bytes
    int64_t lanes() const { return 16 / bytes(); }        ///< of a vector
    int64_t step() const { return 64 / bytes(); }         ///< of the depth
  };

  /// How memory is accessed: factors by vectors of 16 bytes (Factor::address), and results by pairs of a row, where
  /// both may be.
  struct Accesses {
    bool inVectors = false, inPairs = false;
  };
  /// `isWhole`: the depth is whole steps.
  TensorProduct(lower::Writer &w, Numbers numbers, int64_t side, Accesses accesses, bool isWhole)
      : w(w), numbers(numbers), element(numbers.element), by(accesses), side(side), lanes(numbers.lanes()),
        step(numbers.step()), isWhole(isWhole) {}

  /// Writes a tile with accesses of vectors and pairs where a run finds memory so, and else element by element.
  static void writeAsMemoryIs(lower::Writer &w, Wide &vectors, Wide &pairs, llvm::function_ref<void(Accesses)> write);

  /// Returns the numbers of a product if both factors are float16, bfloat16 or float32, or one is uint8 and the other
  /// one int8, and an architecture of the library has the instruction; of float32 only where the user allows it and the
  /// data sheet of one says that it gains by it.
  static Numbers numbersFor(mlir::Operation *root, mlir::Value left, mlir::Value right,
                            const target::MachineModel &machine);
  /// Returns the address (i64) of an element, which has so many bytes.
  static mlir::Value addressIn(lower::Writer &w, const lower::Buffer &buffer, lower::Ix element, int64_t bytes = 2);
  /// Returns the numbers of a buffer as they are, without a conversion to float32.
  static lower::Buffer raw(lower::Writer &w, const lower::Buffer &buffer);

  /// Returns the grid of a kernel of tiles of that side.
  static lower::Grid grid(int64_t side) { return {{threadsOf(side), 1, 1}, stages * stageBytes(side)}; }

  /// As TileProduct::write, of factors whose elements are float32, the bits of narrow floats (i16), or two bytes; in
  /// pairs, `finish` gets vectors of two sums, the first of which is in an even column.
  void write(const Factor &left, const Factor &right, lower::Ix depth, lower::Ix row, lower::Ix column,
             llvm::function_ref<mlir::Value(lower::Ix row)> first,
             llvm::function_ref<void(lower::Ix row, lower::Ix column, mlir::Value sum)> finish);

private:
  static constexpr int64_t stages = 3;
  static constexpr int64_t warpColumns = 32; ///< of the result
  static int64_t threadsOf(int64_t side) { return side == large ? 256 : 128; }
  static int64_t factorBytes(int64_t side) { return side * 64; } ///< of a step, whatever the numbers are
  static int64_t stageBytes(int64_t side) { return 2 * factorBytes(side); }
  lower::Writer &w;
  Numbers numbers;
  mlir::Type element;
  Accesses by;
  int64_t side, lanes, step;
  bool isWhole;
  // Of a tile that is computed again: it is multiplied without the instruction, and threads and places depend on a zero
  // that is known then (againIfNotFinite).
  bool byThreads = false;
  lower::Ix none = 0;

  int64_t threads() const { return threadsOf(side); }
  int64_t warpRows() const { return side / 2; }

  /// A factor in shared memory.
  struct Shared {
    lower::Buffer numbers, words; ///< which are the same memory as elements and as int32
    bool alongDepth;
  };
  Shared sharedAt(lower::Ix byte, bool alongDepth);
  void bring(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, const Shared &to);
  /// Begins to copy a step's vectors.
  void copyVectors(const Factor &factor, lower::Ix from, lower::Ix depth, lower::Ix line, const Shared &to);
  /// Returns where vector `number` of a row of either layout is.
  lower::Ix swizzled(bool alongDepth, lower::Ix row, lower::Ix number);
  /// Returns the four registers with which a warp's threads have 16 lines by 32 bytes of steps, from these on: of the
  /// right factor two of each 8 lines.
  llvm::SmallVector<mlir::Value> registersOf(const Shared &from, bool isLeft, lower::Ix line, int64_t k);
  /// Returns the same, read by instructions of their own.
  llvm::SmallVector<mlir::Value> matrices(const Shared &from, bool isLeft, lower::Ix line, int64_t k);
  /// Returns where word `number` of a line is.
  lower::Ix wordAt(lower::Ix line, lower::Ix number);
  /// Returns word `number` of a line.
  mlir::Value wordOf(const Shared &from, lower::Ix line, lower::Ix number);
  mlir::Type sumType() { return element.isInteger() ? mlir::Type(w.b.getI32Type()) : w.b.getF32Type(); }
  /// A row and a column of the result, or of a tile of it.
  struct Place {
    lower::Ix row, column;
  };
  lower::Ix threadNumber();
  /// Where a thread's warp is in the tile, and the thread's place in the warp: of 8 groups of 4.
  struct Thread {
    Place warp;
    lower::Ix group, within;
  };
  Thread thisThread();
  /// Return where sum `n` of a thread is in a tile: 0 and 1 of 16 by 8 are neighbours, 2 and 3 are eight rows below.
  static lower::Ix rowOf(lower::Ix tile, const Thread &thread, int64_t n);
  static lower::Ix columnOf(lower::Ix tile, const Thread &thread, int64_t n);
  /// Adds the products of a step of the depth to the sums of a warp, which is at `own` in the tile.
  llvm::SmallVector<mlir::Value> multiplyStep(const Shared &a, const Shared &b, Place own, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> multiplyFloats(const Shared &a, const Shared &b, Place own, mlir::ValueRange sums);
  /// Adds the same without the instruction: each thread computes the sums that it would have of it, by multiply-adds.
  llvm::SmallVector<mlir::Value> multiplyByThreads(const Shared &a, const Shared &b, Place own, mlir::ValueRange sums);
  /// Returns number `k` of a line's step as float32.
  mlir::Value numberOf(const Shared &from, lower::Ix line, lower::Ix k);
  /// Adds the products of a step as the image's architecture does it.
  llvm::SmallVector<mlir::Value> multiply(const Shared &a, const Shared &b, Place own, mlir::ValueRange sums);
  using Registers = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;
  /// Returns the two registers of each 8 columns of the warp, from step k on.
  Registers columnsOf(const Shared &b, lower::Ix column, int64_t k);
  std::pair<Shared, Shared> factorsAt(const Factor &left, const Factor &right, lower::Ix stage);
  /// Return the sums over the depth of the tile at `tile`.
  llvm::SmallVector<mlir::Value> sumsOfElements(const Factor &left, const Factor &right, lower::Ix depth, Place tile,
                                                Place own, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> sumsOfVectors(const Factor &left, const Factor &right, lower::Ix depth, Place tile,
                                               Place own, mlir::ValueRange sums);
  /// Returns the same for a thread, beginning with what `first` gives.
  llvm::SmallVector<mlir::Value> sumsOf(const Factor &left, const Factor &right, lower::Ix depth, Place tile,
                                        const Thread &thread, llvm::function_ref<mlir::Value(lower::Ix row)> first);
};

} // namespace ingot::targets::cuda
