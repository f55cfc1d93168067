// Sums products of unsigned by signed bytes where sums are scalars. A step takes several numbers of each factor where
// the machine has an instruction for them, else one number:
//
//   the machine has          a factor in memory              the weights in memory      a step
//   dotBytes (MVE)           columns of bytes less 128,      bytes, a vector of them    a dot of vectors for each sum
//                            or bytes
//   WordDot2                 columns of int16, or bytes      bytes, four in a word      two dots of words for each sum
//   none of them             bytes                           bytes                      a product for each sum
//
// A dot of vectors takes two signed factors, so the left one is 128 less there, and 128 times an output's weights,
// which stand behind all weights, are added to its sum (`lacking`). For dots of words an instruction makes int16 of
// bytes 0 and 2 of a word, and behind a rotation of 1 and 3. Bytes of a factor stay in their order, and so do the
// weights; those for columns of int16, where neighbours share a word, are exchanged so while compiling that they meet
// them.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

class Group;
struct Point;
struct Space;

class WordProducts {
public:
  /// What the left factor is read from: columns that a kernel writes, or bytes that are neighbours in memory.
  enum class Factor { Columns, Bytes };

  WordProducts(const target::MachineModel &machine, Factor factor);

  /// The factor by which the cycles of other algorithms are too few here: their estimates are for machines that
  /// multiply two vectors in a cycle.
  static constexpr double aboveOthers = 40;

  /// Return whether the machine has dots of vectors, or of words.
  bool hasVectors() const { return dots == Dots::Vectors; }
  bool hasWords() const { return dots == Dots::Words; }
  /// Returns one of three numbers, for what is multiplied at once.
  template <typename T> T pick(T single, T words, T vectors) const {
    return hasVectors() ? vectors : hasWords() ? words : single;
  }
  /// Returns the numbers of a step.
  int64_t step() const { return numbersOfStep; }
  int64_t stepsOf(int64_t count) const { return llvm::divideCeil(count, step()); }
  /// Returns the bytes of a column of so many numbers.
  int64_t columnBytes(int64_t count) const { return stepsOf(count) * step() * (hasWords() ? 2 : 1); }
  std::string key() const;

  /// Weights in memory, [tile][step][output][number of a step].
  struct Packing {
    int64_t tiles, steps, outputs;
  };
  /// Returns the bytes of packed weights, with the numbers behind them that are added to the sums.
  int64_t packedBytes(const Packing &p) const;
  /// Packs weights: `take` returns up to step() of them, for an output of a tile from a number on.
  void pack(const Packing &p, llvm::MutableArrayRef<char> to,
            llvm::function_ref<llvm::SmallVector<char>(int64_t tile, int64_t output, int64_t number)> take) const;
  /// Returns packed weights as elements of which each has a step, or a byte of one.
  Buffer weights(Writer &w, Buffer packed) const;
  /// Returns what is lacking in the sums of an output and those behind it, in the order of the packed weights; null:
  /// nothing.
  mlir::Value lacking(Writer &w, Buffer packed, const Packing &p, Ix output, int64_t count) const;

  /// Returns a buffer for columns as the numbers that are written, and as words (or bytes) that are read.
  Buffer numbers(Writer &w, Buffer scratch, int64_t bytes) const;
  Buffer words(Writer &w, Buffer scratch, int64_t bytes) const;
  /// Stores a byte, or neighbouring ones, as number `at` of a column.
  void store(Writer &w, mlir::Value byte, Buffer numbers, Ix at) const;

  /// Returns 0, to be added to the index of a factor that is the same in all iterations of a loop: LLVM would widen its
  /// vectors ahead of the loop, where they do not meet their dots, and keep them on the stack.
  Ix zeroIn(Writer &w, Ix iteration) const { return hasVectors() ? w.hidden(iteration) - iteration : Ix(0); }

  using Step = llvm::SmallVector<mlir::Value, 2>;
  /// Return a step of a column, of which `words` has columnBytes() from `first` on; of `count` bytes in memory; of
  /// weights.
  Step column(Writer &w, Buffer words, Ix step, Ix first = 0) const;
  Step bytes(Writer &w, Buffer from, Ix at, int64_t count) const;
  Step weight(Writer &w, Buffer weights, Ix at) const;
  /// Returns the sum + the products of a step.
  mlir::Value add(Writer &w, mlir::Value sum, const Step &x, const Step &weights) const;

  /// Finishes the first `count` sums of a vector, which are neighbours from a point on: as a vector where nothing
  /// around the root compares floats, else one by one. LLVM 22 compares vectors of floats wrongly where one is a NaN
  /// (docs/small-machines.md).
  static void finish(const Group &group, mlir::Value sums, const Space &space, const Point &first, int64_t count);

  /// Return the int16 of bytes 0 and 2 of a word of unsigned or signed bytes, and those of bytes 1 and 3.
  static Step widened(Writer &w, mlir::Value word);
  static Step widenedSigned(Writer &w, mlir::Value word);
  /// Returns four bytes of memory as a word, the first one lowest.
  static mlir::Value wordAt(Writer &w, Buffer bytes, Ix at);

private:
  enum class Dots { Single, Words, Vectors } dots; ///< what the machine multiplies and adds at once
  Factor factor;
  int64_t numbersOfStep;

  /// Returns unsigned bytes less 128.
  static mlir::Value less128(Writer &w, mlir::Value bytes);
};

} // namespace ingot::lower
