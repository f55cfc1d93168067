// Weights of few bits in memory, as FewBitsMatMul and SplitIntegerMatMul read them (onnx/formats/Products.td): words,
// scales and zero points lie in strips of some columns, the same ones for every machine that reads the weights of a
// library.
#pragma once
#include "compiler/lower/Family.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::lower {

struct FewBits {
  int64_t bits, block, n;
  int64_t wordsOfBlock; ///< of a column
  int64_t rowsOfBlock;  ///< the words and, where they are packed with them, the scales
  int64_t blocks;
  int64_t lanes, strip; ///< strip: columns that lie side by side

  static constexpr int64_t vectorsOfStrip = 4;

  /// `joinsScales`: scales are packed behind the words of their block, so that a product reads one stream of memory and
  /// not two; they have 32 bits, as words have.
  template <typename Op>
  FewBits(Op op, const target::MachineModel &machine, bool joinsScales = false)
      : bits(static_cast<int64_t>(op.getBits())), block(static_cast<int64_t>(op.getBlock())),
        n(onnx::ranked(op.getB()).getDimSize(1)), wordsOfBlock(block * bits / 32),
        rowsOfBlock(wordsOfBlock + (joinsScales ? 1 : 0)), blocks(onnx::ranked(op.getB()).getDimSize(0) / wordsOfBlock),
        lanes(machine.lanes),
        strip(std::min<int64_t>(vectorsOfStrip * machine.blockLanes(), llvm::alignTo(n, machine.blockLanes()))) {}

  int64_t each() const { return 32 / bits; } ///< numbers of a word
  /// Returns how many numbers a byte holds. Four bytes hold four neighbours in the same bits.
  int64_t numbersInByte() const { return 8 / bits; }
  /// Returns which element of A, counted from the first one of a word, meets the number at a place of the word.
  int64_t elementAt(int64_t place) const { return place % numbersInByte() * 4 + place / numbersInByte(); }
  int64_t strips() const { return llvm::divideCeil(n, strip); }
  bool joinsScales() const { return rowsOfBlock != wordsOfBlock; }

  /// Where the columns from one of a strip on lie, in `row` of so many.
  Ix placeOf(Ix ofStrip, int64_t rows, Ix row, Ix column) const { return (ofStrip * rows + row) * strip + column; }
  /// A vector of zero points, as floats.
  mlir::Value zeroAt(Writer &w, const Buffer &zeros, Ix place) const;
  /// Writes what computes a strip, by its number of columns: the last one has a number of its own.
  void forStrip(Writer &w, Ix ofStrip, llvm::function_ref<void(int64_t count)> columns) const;

  template <typename Op> void pack(KernelShape &shape, Op op) const {
    pack(shape, op.getB(), blocks * wordsOfBlock);
    pack(shape, op.getScales(), blocks);
    if (onnx::present(op.getZeros())) {
      pack(shape, op.getZeros(), blocks);
    }
    if (joinsScales()) {
      join(shape, op.getB(), op.getScales());
    }
  }
  /// Why there is no kernel of an op of which all operands from `first` on are to be constants.
  static std::string whyNotConstant(mlir::Operation *root, unsigned first);

private:
  /// Copies a row to its places in strips of so many rows.
  void putRow(const char *from, int64_t bytes, int64_t row, int64_t rows, llvm::MutableArrayRef<char> to) const;
  void pack(KernelShape &shape, mlir::Value v, int64_t rows) const;
  void join(KernelShape &shape, mlir::Value words, mlir::Value scales) const;
};

} // namespace ingot::lower
