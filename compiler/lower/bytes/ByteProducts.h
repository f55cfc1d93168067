// Sums of products of unsigned by signed bytes in lanes of int32, four neighbouring bytes of a row at a time ("a
// quad"): by an instruction that does just this; or widened to int16, where one adds two products, which is exact; or,
// where there is neither, by products of int32.
//
// Of bytes x86 adds two products, too, with saturation to int16. Where weights are known to be so small that nothing
// saturates, whatever the other factor is (integer/Short.h), these sums are taken, perhaps those of two quads, before
// they are added up in int32.
//
// Weights are packed in words of 32 bits, a lane each, and in rows of lanes: a row is a quad of bytes, or two rows are
// its even and its odd numbers as pairs of int16, or four rows its numbers. The other factor is a quad of neighbouring
// bytes, the same for all lanes. Where memory has the bytes as int16 already (integer/Wide.h) a step has two of them,
// and a row a pair. Where the sums of two quads are taken in int16, a step has both, and a row a quad.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

class ByteProducts {
public:
  static constexpr int64_t quad = 4, mostBytes = 8; ///< of a step

  /// `wide`: of bytes that are int16 in memory. `shortQuads`: how many quads' sums fit int16; 0: not one's.
  explicit ByteProducts(const target::MachineModel &machine, bool wide = false, int64_t shortQuads = 0);

  /// Returns the bytes of the other factor in a step.
  int64_t step() const { return form == Form::Int16 ? 2 : form == Form::Short ? shortQuads * quad : quad; }
  /// Returns the rows of packed weights for a step.
  int64_t rows() const {
    return form == Form::Plain ? quad : form == Form::Pairs ? 2 : form == Form::Short ? shortQuads : 1;
  }
  std::string key() const { return std::to_string(step()) + " bytes in " + std::to_string(rows()) + " rows"; }
  /// Numbers that a word has, of weights and of the other factor.
  int64_t perWord() const { return step() / rows(); }
  /// How many elements' sums fit the registers beside `vectors` of weights: with pairs a step has two rows of those,
  /// both rows of an element, a mask and a product; of what is int16 already one row, an element and a product; with
  /// short sums ones, an element and a sum beside vectors that are read once more from memory.
  int64_t heightOf(int64_t vectors, const target::MachineModel &machine) const;
  /// Products and their addition to a sum are two instructions. A loop over those has one step a turn: of several LLVM
  /// reorders the additions (its machine combiner does, for speed), and has no registers for all products.
  bool isOfPairs() const { return form == Form::Pairs || form == Form::Int16 || form == Form::Short; }
  /// Returns the cycles of a byte's products as a share of those that a float's take.
  double share() const;
  /// Returns the word of row `row` (below rows()) with the weights of one lane.
  uint32_t word(const std::array<int8_t, mostBytes> &weights, int64_t row) const;

  /// Returns the packed weights as words.
  static Buffer words(Writer &w, Buffer weights);
  /// Returns a row of elements for each row of weights, which are alike in all lanes: `count` bytes from one on, and
  /// zeros.
  llvm::SmallVector<mlir::Value, quad> elements(Writer &w, Buffer from, Ix at, int64_t lanes, int64_t count) const;
  llvm::SmallVector<mlir::Value, quad> elements(Writer &w, Buffer from, Ix at, int64_t lanes) const {
    return elements(w, from, at, lanes, step());
  }
  /// Returns perWord() vectors of bytes as elements, which have in each lane the bytes that the vectors have there.
  mlir::Value stacked(Writer &w, llvm::ArrayRef<mlir::Value> bytes) const;
  /// Returns the word of perWord() weights for these.
  uint32_t stackedWord(llvm::ArrayRef<int8_t> weights) const;
  /// Returns sums + products of the rows of a step.
  mlir::Value add(Writer &w, mlir::Value sums, llvm::ArrayRef<mlir::Value> elements,
                  llvm::ArrayRef<mlir::Value> weights) const;

  bool isShort() const { return form == Form::Short; }
  /// Adds the sums of the pairs of one row to short sums of int16, if there are any yet.
  static mlir::Value addShort(Writer &w, mlir::Value pairs, mlir::Value elements, mlir::Value weights);
  /// Returns sums + what short ones have in each lane's word.
  static mlir::Value addUp(Writer &w, mlir::Value sums, mlir::Value pairs);

  /// Returns sums + the products of the pairs of int16 in each lane's word. The machine has PairDot, and the lanes are
  /// whole vectors.
  static mlir::Value addPairs(Writer &w, mlir::Value sums, mlir::Value x, mlir::Value weights);
  /// Returns sums + x * weights, lane by lane, of int32 that are int16.
  static mlir::Value addProducts(Writer &w, mlir::Value sums, mlir::Value x, mlir::Value weights);

private:
  enum class Form { Quads, Short, Pairs, Int16, Plain };
  Form form;
  int64_t shortQuads;

  mlir::Value addRow(Writer &w, mlir::Value sums, mlir::Value elements, mlir::Value weights) const;
};

} // namespace ingot::lower
