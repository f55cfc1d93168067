// Sums products of unsigned by signed bytes where there are no vectors. A step takes four numbers of each factor, as
// two words of two int16 each, where the machine multiplies such words, else one number:
//
//   the machine has          a factor in memory           the weights in memory          a step
//   WordDot2                 columns of int16, or bytes   bytes, four in a word          two dots for each sum
//   no such instruction      bytes                        bytes                          a product for each sum
//
// An instruction makes int16 of bytes 0 and 2 of a word, and behind a rotation of 1 and 3. Bytes of a factor stay in
// their order, and so do the weights; those for columns of int16, where neighbours share a word, are exchanged so while
// compiling that they meet them.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

class WordProducts {
public:
  /// What the left factor is read from: columns that a kernel writes (of int16 where the machine multiplies them), or
  /// bytes that neighbours in memory.
  enum class Factor { Columns, Bytes };

  WordProducts(const target::MachineModel &machine, Factor factor);

  /// The factor by which the cycles of other algorithms are too few here: their estimates are for machines that
  /// multiply two vectors in a cycle.
  static constexpr double aboveOthers = 40;

  /// Returns whether there are instructions for words.
  bool hasDots() const { return dots; }
  /// Returns the numbers of a step.
  int64_t step() const { return dots ? 4 : 1; }
  int64_t stepsOf(int64_t count) const { return llvm::divideCeil(count, step()); }
  /// Returns the bytes of a column of so many numbers.
  int64_t columnBytes(int64_t count) const { return stepsOf(count) * (dots ? 8 : 1); }
  std::string key() const { return dots ? factor == Factor::Columns ? "exchanged words" : "words" : "bytes"; }

  /// Writes the weights of a step, of which `count` are not zero.
  void pack(llvm::ArrayRef<char> weights, char *to) const;
  /// Returns packed weights as elements of which each has a step.
  Buffer weights(Writer &w, Buffer packed) const;
  /// Returns a buffer for columns as the numbers that are written, and as words that are read.
  Buffer numbers(Writer &w, Buffer scratch, int64_t bytes) const;
  Buffer words(Writer &w, Buffer scratch, int64_t bytes) const;
  /// Stores a byte as number `at`.
  void store(Writer &w, mlir::Value byte, Buffer numbers, Ix at) const;

  using Step = llvm::SmallVector<mlir::Value, 2>;
  /// Return a step of a column, of which `words` has columnBytes(); of `count` bytes in memory; of weights.
  Step column(Writer &w, Buffer words, Ix step) const;
  Step bytes(Writer &w, Buffer from, Ix at, int64_t count) const;
  Step weight(Writer &w, Buffer weights, Ix at) const;
  /// Returns the sum + the products of a step.
  mlir::Value add(Writer &w, mlir::Value sum, const Step &x, const Step &weights) const;

  /// Return the int16 of bytes 0 and 2 of a word of unsigned or signed bytes, and those of bytes 1 and 3.
  static Step widened(Writer &w, mlir::Value word);
  static Step widenedSigned(Writer &w, mlir::Value word);
  /// Returns four bytes of memory as a word, the first one lowest.
  static mlir::Value wordAt(Writer &w, Buffer bytes, Ix at);

private:
  bool dots;
  Factor factor;
};

} // namespace ingot::lower
