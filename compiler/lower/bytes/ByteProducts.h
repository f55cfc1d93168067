// Sums products of unsigned by signed bytes in lanes of int32. A step of such a sum takes some neighbouring bytes of
// a row of the one factor, mostly channels of a pixel, the same in all lanes, and the weights that belong to them:
//
//   method       bytes of a step   rows of weights, each a word of 32 bits in a lane
//   ByteDot4     4                 1: four bytes, which an instruction multiplies and adds up
//   ByteDot2     4, or 8           1 for each four: four bytes. An instruction adds two products and saturates to
//   int16,
//                                  which weights are too small for, whatever the other factor is
//                                  (integer/Int16Sums.h); the sums of eight bytes are added before they become int32
//   WidenedDot2  4                 2: the even and the odd bytes as int16, of which an instruction adds two products
//   Int16Dot2    2                 1: two int16; memory has the other factor as int16, too (integer/Int16Factors.h)
//   Multiply     4                 4: a byte each, as int32, where the machine has none of these instructions
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

class ByteProducts {
public:
  /// The bytes that a dot product of four adds up in a lane, and the most of a step.
  static constexpr int64_t dotBytes = 4, mostBytes = 8;

  /// `isInt16`: memory has the other factor as int16. `int16Dots`: how many dot products of four bytes have a sum that
  /// fits int16; 0: not even one has.
  explicit ByteProducts(const target::MachineModel &machine, bool isInt16 = false, int64_t int16Dots = 0);

  /// Returns the bytes of the other factor in a step.
  int64_t step() const {
    return method == Method::Int16Dot2 ? 2 : method == Method::ByteDot2 ? int16Dots * dotBytes : dotBytes;
  }
  /// Returns the rows of packed weights for a step.
  int64_t rows() const {
    return method == Method::Multiply      ? dotBytes
           : method == Method::WidenedDot2 ? 2
           : method == Method::ByteDot2    ? int16Dots
                                           : 1;
  }
  std::string key() const { return std::to_string(step()) + " bytes in " + std::to_string(rows()) + " rows"; }
  /// Numbers that a word has, of weights and of the other factor.
  int64_t perWord() const { return step() / rows(); }
  /// Returns for how many elements the registers hold sums of `vectors` vectors. Beside the sums and the weights of a
  /// step there are: by WidenedDot2 both rows of an element, a mask and a product; by Int16Dot2 an element and a
  /// product; by ByteDot2 a vector of ones, an element and a sum of int16, while weights are read from memory each
  /// time.
  int64_t heightOf(int64_t vectors, const target::MachineModel &machine) const;
  /// Products and their addition to a sum are two instructions. A loop over those has one step in an iteration: of
  /// several LLVM reorders the additions (its machine combiner does, for speed), and has no registers for all products.
  bool takesTwoInstructions() const { return method != Method::ByteDot4 && method != Method::Multiply; }
  /// Returns the cycles of a byte's products as a share of those that a float's take.
  double share() const;
  /// Returns the word of row `row` (below rows()) with the weights of one lane.
  uint32_t word(const std::array<int8_t, mostBytes> &weights, int64_t row) const;

  /// Returns the packed weights as words.
  static Buffer words(Writer &w, Buffer weights);
  /// Returns a row of elements for each row of weights, which are alike in all lanes: `count` bytes from one on, and
  /// zeros.
  llvm::SmallVector<mlir::Value, dotBytes> elements(Writer &w, Buffer from, Ix at, int64_t lanes, int64_t count) const;
  llvm::SmallVector<mlir::Value, dotBytes> elements(Writer &w, Buffer from, Ix at, int64_t lanes) const {
    return elements(w, from, at, lanes, step());
  }
  /// Returns perWord() vectors of bytes as elements, which have in each lane the bytes that the vectors have there.
  mlir::Value stacked(Writer &w, llvm::ArrayRef<mlir::Value> bytes) const;
  /// Returns the word of perWord() weights for these.
  uint32_t stackedWord(llvm::ArrayRef<int8_t> weights) const;
  /// Returns sums + products of the rows of a step.
  mlir::Value add(Writer &w, mlir::Value sums, llvm::ArrayRef<mlir::Value> elements,
                  llvm::ArrayRef<mlir::Value> weights) const;

  bool sumsInt16() const { return method == Method::ByteDot2; }
  /// Adds the sums of the pairs of one row to sums of int16; null: there are none yet.
  static mlir::Value addInt16(Writer &w, mlir::Value pairs, mlir::Value elements, mlir::Value weights);
  /// Returns sums + the two sums of int16 in each lane.
  static mlir::Value addUp(Writer &w, mlir::Value sums, mlir::Value pairs);

  /// Returns sums + the products of the pairs of int16 in each lane's word. The machine has Int16Dot2, and the lanes
  /// are whole vectors.
  static mlir::Value addPairs(Writer &w, mlir::Value sums, mlir::Value x, mlir::Value weights);
  /// Returns sums + x * weights, lane by lane, of int32 that are int16.
  static mlir::Value addProducts(Writer &w, mlir::Value sums, mlir::Value x, mlir::Value weights);

private:
  enum class Method { ByteDot4, ByteDot2, WidenedDot2, Int16Dot2, Multiply };
  Method method;
  int64_t int16Dots;

  mlir::Value addRow(Writer &w, mlir::Value sums, mlir::Value elements, mlir::Value weights) const;
};

} // namespace ingot::lower
