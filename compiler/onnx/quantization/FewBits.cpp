// Packs weights of few bits as their kernels read them. For products, 32 / bits numbers of a column's consecutive rows
// are a word; their order in it spreads numbers 0 to 3 over the four bytes, then 4 to 7 behind these, so that one mask
// and one shift give four bytes at a time. With 4 bits:
//
//   bits of the word   0-3  4-7  8-11  12-15  16-19  20-23  24-27  28-31
//   number             0    4    1     5      2      6      3      7
//
// For tables of rows the j-th bits of byte i hold column j * part + i, so that a row comes out as `each` parts one
// behind the other.
#include "compiler/onnx/quantization/FewBits.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Formats.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "llvm/Support/Endian.h"

using namespace mlir;

namespace ingot::onnx {

/// Rows above which weights are read many times, and a product of floats is at its best.
static constexpr int64_t mostRows = 16;

bool isBlockOfFewBits(int64_t bits, int64_t block) {
  return (bits == 2 || bits == 4 || bits == 8) && block > 0 && block % 16 == 0;
}

bool isForFewBits(Value a) {
  auto type = ranked(a);
  Type element = type ? type.getElementType() : Type();
  return type && type.getRank() && (element.isF32() || element.isF16() || element.isBF16());
}

Size rowCountOf(Value a) {
  Sizes sizes = sizesOf(ranked(a));
  return support::product(ArrayRef<Size>(sizes).drop_back());
}

bool hasFewRows(Value a) {
  Size rows = rowCountOf(a);
  return !rows.isNumber() || rows.number() <= mostRows;
}

/// The word of the numbers in `count` bytes, 32 / bits at most: four of them lie as in memory, the next ones behind
/// them.
static uint32_t wordOf(const char *numbers, int64_t count, int64_t bits) {
  uint32_t word = 0;
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    word |= llvm::support::endian::read32le(numbers + i) << (i / 4 * bits);
  }
  for (; i < count; ++i) {
    word |= uint32_t(static_cast<unsigned char>(numbers[i])) << (i % 4 * 8 + i / 4 * bits);
  }
  return word;
}

/// The numbers as words of FewBitsMatMul, with zeros behind the last one of a row. Weights are billions of numbers, so
/// words are made from a cache line of each row at a time, and not from all rows for one word.
static ElementsAttr wordsOf(const FewBitsWeights &weights, Type i32) {
  constexpr int64_t line = 64;
  int64_t each = 32 / weights.bits, n = weights.rows, k = weights.columns, padded = weights.blocks() * weights.block;
  std::vector<char> bytes(n * padded * weights.bits / 8, 0);
  for (int64_t begin = 0; begin < k; begin += line) {
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t first = begin; first < std::min(begin + line, k); first += each) {
        uint32_t word = wordOf(&weights.numbers[row * k + first], std::min(each, k - first), weights.bits);
        std::memcpy(&bytes[(first / each * n + row) * sizeof(word)], &word, sizeof(word));
      }
    }
  }
  return constantFromBytes(tensorOf({padded / each, n}, i32), std::move(bytes));
}

/// Returns [rows, columns] as [columns, rows].
static Value transposed(Formula &f, ElementsAttr constant) {
  auto shape = constant.getShapedType().getShape();
  auto type = tensorOf({shape[1], shape[0]}, constant.getElementType());
  return makeConstant(f.b, f.loc, gatherStrided(constant, type, {0, ArrayRef<int64_t>{1, shape[1]}}));
}

Value productOfFewBits(Formula &f, Value a, const FewBitsWeights &weights) {
  Value words = makeConstant(f.b, f.loc, wordsOf(weights, f.b.getI32Type()));
  Value zeros = weights.zeros ? transposed(f, weights.zeros) : makeNone(f.b, f.loc);
  SmallVector<NamedAttribute> attributes = {f.integer("bits", weights.bits), f.integer("block", weights.block),
                                            f.integer("k", weights.columns), f.integer("zero", weights.zero)};
  if (weights.bytesA) {
    attributes.push_back(f.b.getNamedAttr("bytesA", f.b.getUnitAttr()));
  }
  return formats::make(f, "FewBitsMatMul", {a, words, transposed(f, weights.scales), zeros}, attributes);
}

/// Bytes [rows, part]: in the j-th bits of the i-th byte stands the number of column j * part + i.
static ElementsAttr packedParts(const FewBitsWeights &table, int64_t part, Type u8) {
  std::vector<char> bytes(table.rows * part, 0);
  for (int64_t row = 0; row < table.rows; ++row) {
    for (int64_t c = 0; c < table.columns; ++c) {
      auto number = static_cast<unsigned char>(table.numbers[row * table.columns + c]);
      char &byte = bytes[row * part + c % part];
      byte = static_cast<char>(static_cast<unsigned char>(byte) | number << (c / part * table.bits));
    }
  }
  return constantFromBytes(tensorOf({table.rows, part}, u8), std::move(bytes));
}

Value rowsOfFewBits(Formula &f, const FewBitsWeights &table, Value indices) {
  Type u8 = f.b.getIntegerType(8, /*isSigned=*/false);
  int64_t each = 8 / table.bits, blocks = table.blocks(), padded = blocks * table.block,
          part = llvm::divideCeil(padded, each);
  auto byte = [&](int64_t n) { return makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, u8), {n})); };
  auto gathered = [&](ElementsAttr from) {
    return f.op("Gather", {makeConstant(f.b, f.loc, from), indices}, {f.integer("axis", 0)});
  };
  Sizes whole = sizesOf(ranked(indices)), byBlocks = whole, perBlock = whole;
  auto withColumns = [&](int64_t count) {
    Sizes sizes = whole;
    sizes.push_back(count);
    return sizes;
  };
  Value bytes = gathered(packedParts(table, part, u8)), numbers = bytes;
  if (each > 1) {
    SmallVector<Value> parts;
    for (int64_t j = 0; j < each; ++j) {
      Value shifted = j ? f.op("BitShift", {bytes, byte(j * table.bits)},
                               {f.b.getNamedAttr("direction", f.b.getStringAttr("RIGHT"))})
                        : bytes;
      parts.push_back(j + 1 < each ? f.op("BitwiseAnd", {shifted, byte((1 << table.bits) - 1)}) : shifted);
    }
    numbers = f.op("Concat", parts, {f.integer("axis", -1)});
  }
  auto first = [&](Value v, int64_t count, int64_t of) {
    return count == of
               ? v
               : f.op("Slice", {v, makeIntegers(f.b, f.loc, {0}), makeIntegers(f.b, f.loc, {count}),
                                makeIntegers(f.b, f.loc, {ranked(v).getRank() - 1}), makeIntegers(f.b, f.loc, {1})});
  };
  numbers = first(numbers, padded, part * each);
  byBlocks.push_back(blocks), byBlocks.push_back(table.block);
  perBlock.push_back(blocks), perBlock.push_back(1);
  Value scale = f.reshapeTo(gathered(table.scales), perBlock),
        zero = table.zeros ? f.reshapeTo(gathered(table.zeros), perBlock) : byte(table.zero);
  Value y = dequantize(f, f.reshapeTo(numbers, byBlocks), scale, zero);
  return first(f.reshapeTo(y, withColumns(padded)), table.columns, padded);
}

} // namespace ingot::onnx
