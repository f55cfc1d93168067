// Products of rows of digits by weights of few bits (SplitIntegerMatMul in onnx/formats/Products.td), of unsigned by
// signed bytes: the weights are the unsigned ones, in vectors, a column in each lane, and four digits of a row are
// alike in all lanes.
//
//   for a strip of columns / for a tile of rows / for a block / for some vectors of the strip:
//     for each word of weights: four at a time as bytes, by a shift and a mask; multiplied with four digits
//     sums of the digits together as floats, less the zero point's share, times the scale
//
// A machine either adds four products of bytes up in an instruction, or two of them as int16. Sums of int16 hold some
// products of weights of 4 bits, with which eight groups of four end, or of 2; a product with 1 and 254 makes int32 of
// them, for two digits together. (Bytes of weights would leave room for no sum.)
//
// One row, as decoders of language models have it, reads each strip once from its beginning to its end, and asks for
// what it will read some kilobytes later: memory is what it waits for.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/bytes/ByteProducts.h"
#include "compiler/lower/core/Instructions.h"
#include "compiler/lower/product/FewBits.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/formats/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;

namespace ingot::lower {
namespace {

/// Groups of four digits in one iteration of the innermost loop.
constexpr int64_t groupsTogether = 8;
/// How far ahead of a row's weights memory is asked: on Zen 5 8 to 20 KB were alike, and 2 too late.
constexpr int64_t aheadBytes = 10 << 10;

/// Sums of floats that are computed together, as a vector of a row each; there is one of integers for each digit. Four
/// rows that share a vector of bytes were as fast as more of them, or as bytes that are made once for 64 rows (Zen 4).
int64_t tileSums(const target::MachineModel &machine, int64_t digits) {
  return machine.registers >= 32 || digits == 1 ? 4 : 2;
}

class Product {
public:
  Product(Build &build, const FewBits &bits)
      : w(build.w), group(build.group), c(bits), bytes(build.w.machine), space(group.space(group.resultType())) {
    auto op = cast<formats::SplitIntegerMatMulOp>(group.root);
    for (Value v : {Value(op.getCoarse()), Value(op.getMiddle()), Value(op.getFine())}) {
      if (onnx::present(v)) {
        rows.push_back(ByteProducts::words(w, group.buffer(v)));
      }
    }
    auto optional = [&](Value v) { return onnx::present(v) ? group.buffer(v) : Buffer(); };
    high = optional(op.getHigh()), unit = group.buffer(op.getUnit()), less = group.buffer(op.getLess());
    weights = group.buffer(op.getB()), scales = group.buffer(op.getScales()), zeros = optional(op.getZeros());
    for (size_t i = space.sizes.size() - 1; i-- > 1;) {
      if (space.mergeable(i)) {
        space.merge(i);
      }
    }
    if (c.n % c.lanes && !w.machine.maskedAccess) {
      tail = w.local(w.b.getF32Type(), c.lanes);
    }
  }

  void strip(Ix strip) {
    c.forStrip(w, strip, [&](int64_t count) { eachRow({strip, count}, {}, 0); });
  }

private:
  using Values = SmallVector<Value>;
  Writer &w;
  Group &group;
  const FewBits &c;
  ByteProducts bytes;
  Space space;
  SmallVector<Buffer> rows; ///< of each digit, as words
  Buffer high, unit, less, weights, scales, zeros, tail;

  struct Columns {
    Ix strip;
    int64_t count;
  };
  /// Vectors of a strip for some rows, which lie behind each other.
  struct Tile {
    Columns columns;
    Ix row;
    SmallVector<Ix> at; ///< of the first row's results; the last coordinate is missing
    int64_t height, first, vectors;
  };

  /// All rows whose first coordinates are `at`; `before` is how many there are before them.
  void eachRow(const Columns &columns, SmallVector<Ix> at, Ix before) {
    Ix extent = space.sizes[at.size()];
    if (at.size() + 2 < space.sizes.size()) {
      return w.loop(0, extent, 1, [&](Ix i) {
        SmallVector<Ix> next(at);
        next.push_back(i);
        eachRow(columns, next, (before + i) * space.sizes[at.size() + 1]);
      });
    }
    int64_t sums = tileSums(w.machine, digits());
    w.balanced(0, extent, sums, [&](Ix i, int64_t height) {
      SmallVector<Ix> first(at);
      first.push_back(i);
      int64_t all = llvm::divideCeil(columns.count, c.lanes), most = height == 1 ? all : sums / height;
      for (int64_t v = 0; v < all; v += most) {
        tile({columns, before + i, first, height, v, std::min(most, all - v)});
      }
    });
  }

  void tile(const Tile &t) {
    Values sums(t.height * t.vectors, w.constant(0, w.vectorOf(w.b.getF32Type(), c.lanes)));
    int64_t most = std::max<int64_t>(1, tileSums(w.machine, digits()) / t.height);
    sums = w.loop(0, c.blocks, 1, sums, [&](Ix b, ValueRange carried) {
      Values next(carried);
      for (int64_t v = 0; v < t.vectors; v += most) {
        Tile part = t;
        part.first += v, part.vectors = std::min(most, t.vectors - v);
        addBlock(part, b, MutableArrayRef(next).slice(v * t.height, part.vectors * t.height));
      }
      return next;
    });
    for (int64_t v = 0; v < t.vectors; ++v) {
      for (int64_t i = 0; i < t.height; ++i) {
        SmallVector<Ix> at(t.at);
        at.back() = at.back() + i;
        finish(sums[v * t.height + i], at, t.columns, (t.first + v) * c.lanes);
      }
    }
  }

  Ix placeOf(const Tile &t, int64_t rowsOfStrip, Ix row, int64_t v) const {
    return c.placeOf(t.columns.strip, rowsOfStrip, row, (t.first + v) * c.lanes);
  }
  /// Returns where a vector of the i-th row of a block of B begins.
  Ix placeIn(const Tile &t, Ix block, Ix i, int64_t v) const {
    return placeOf(t, c.blocks * c.rowsOfBlock, block * c.rowsOfBlock + i, v);
  }

  /// The products of a block: for each vector and row, sums of the digits, or of the first one and the others together.
  Values blockSums(const Tile &t, Ix b) {
    int64_t words = std::gcd(c.wordsOfBlock, groupsTogether / std::min<int64_t>(2, c.numbersInByte()));
    Values none(t.vectors * t.height * kinds(), w.constant(0, w.vectorOf(w.b.getI32Type(), c.lanes)));
    return w.loop(0, c.wordsOfBlock, words, none, [&](Ix word, ValueRange carried) {
      Values sums(carried), pairs(ofPairs() ? t.vectors * t.height * digits() : 0);
      for (int64_t i = 0; i < words; ++i) {
        addWord(t, b, word + i, ofPairs() ? pairs : sums);
      }
      for (int64_t i = 0; ofPairs() && i < t.vectors * t.height; ++i) {
        addPairs(MutableArrayRef(sums).slice(i * kinds(), kinds()), ArrayRef(pairs).slice(i * digits(), digits()));
      }
      return sums;
    });
  }

  bool ofPairs() const { return !w.machine.has(Instruction::ByteDot4); }
  int64_t digits() const { return static_cast<int64_t>(rows.size()); }
  /// Returns how many sums of int32 there are for a vector and a row.
  int64_t kinds() const { return ofPairs() ? std::min<int64_t>(2, digits()) : digits(); }

  /// Adds sums of int16 to those of int32.
  void addPairs(MutableArrayRef<Value> sums, ArrayRef<Value> pairs) {
    auto add = [&](Value &sum, Value of, double factor) {
      sum = ByteProducts::addPairs(w, sum, of, w.constant(factor, of.getType()));
    };
    add(sums[0], pairs[0], 1);
    if (pairs.size() > 1) {
      add(sums[1], pairs.back(), 1);
    }
    if (pairs.size() > 2) {
      add(sums[1], pairs[1], formats::SplitIntegerMatMulOp::base);
    }
  }

  /// Loads a vector of a row of a block of B.
  Value loaded(const Tile &t, Ix block, Ix row, int64_t v) {
    Ix at = placeIn(t, block, row, v);
    if (t.height == 1 && (t.first + v) * c.lanes * 4 % w.machine.lineBytes == 0) {
      w.prefetch(weights, at + aheadBytes / 4, /*locality=*/3);
    }
    return w.load(weights, at, c.lanes);
  }

  /// Adds the products with one word of each column.
  void addWord(const Tile &t, Ix block, Ix word, MutableArrayRef<Value> sums) {
    Values words;
    for (int64_t v = 0; v < t.vectors; ++v) {
      words.push_back(loaded(t, block, word, v));
    }
    for (int64_t group = 0; group < c.numbersInByte(); ++group) {
      Values vectors = llvm::map_to_vector(words, [&](Value v) { return bytesOf(v, group); });
      for (int64_t i = 0; i < t.height; ++i) {
        for (int64_t d = 0; d < digits(); ++d) {
          Ix at = ((t.row + i) * c.blocks * c.wordsOfBlock + block * c.wordsOfBlock + word) * c.numbersInByte() + group;
          Value element = w.splat(w.load(rows[d], at), c.lanes);
          for (int64_t v = 0; v < t.vectors; ++v) {
            Value &sum = sums[(v * t.height + i) * digits() + d];
            sum = ofPairs() ? plusPairs(sum, vectors[v], element) : bytes.add(w, sum, vectors[v], element);
          }
        }
      }
    }
  }

  /// Adds the products of pairs of bytes to `sums`, which are of int16; null sums count as zero.
  Value plusPairs(Value sums, Value vector, Value element) {
    Value y = vector::BitCastOp::create(w.b, w.loc, vector.getType(), element);
    Value products = instruction(w, Instruction::ByteDot2, {vector, y});
    return sums ? arith::AddIOp::create(w.b, w.loc, sums, products).getResult() : products;
  }

  /// Returns the weights of a word that belong to one group of four digits, as bytes.
  Value bytesOf(Value word, int64_t group) {
    Type type = word.getType();
    auto number = [&](int64_t n) { return w.constant(n, type); };
    if (group) {
      word = arith::ShRUIOp::create(w.b, w.loc, word, number(group * c.bits));
    }
    if (c.bits < 8) {
      int64_t mask = (1 << c.bits) - 1;
      word = arith::AndIOp::create(w.b, w.loc, word, number(mask * 0x01010101));
    }
    return vector::BitCastOp::create(w.b, w.loc, VectorType::get({4 * c.lanes}, w.b.getI8Type()), word);
  }

  /// Sums of vectors and rows + what a block adds to them.
  void addBlock(const Tile &t, Ix b, MutableArrayRef<Value> sums) {
    Values products = blockSums(t, b);
    for (int64_t v = 0; v < t.vectors; ++v) {
      Value scale = scaleOf(t, b, v), zero = zeros ? c.zeroAt(w, zeros, placeOf(t, c.blocks, b, v)) : Value();
      for (int64_t i = 0; i < t.height; ++i) {
        int64_t index = v * t.height + i;
        Value value = valueOf(ArrayRef(products).slice(index * kinds(), kinds()), zero, (t.row + i) * c.blocks + b);
        sums[index] = w.fma(value, scale, sums[index]);
      }
    }
  }

  /// Returns what the sums of a block of a row mean, but for the scale of the weights.
  Value valueOf(ArrayRef<Value> products, Value zero, Ix block) {
    Type floats = w.vectorOf(w.b.getF32Type(), c.lanes);
    auto number = [&](Value v) -> Value { return arith::SIToFPOp::create(w.b, w.loc, floats, v); };
    auto ofBlock = [&](const Buffer &from) { return w.splat(w.load(from, block), c.lanes); };
    Value last = number(products[products.size() > 1 ? 1 : 0]); // of all digits but the first one, if there are others
    if (products.size() > 2) {
      last = w.fma(last, w.constant(formats::SplitIntegerMatMulOp::base, floats), number(products[2]));
    }
    Value sum = zero ? w.fma(zero, ofBlock(less), arith::MulFOp::create(w.b, w.loc, last, ofBlock(unit)))
                     : w.fma(last, ofBlock(unit), ofBlock(less));
    return products.size() > 1 ? w.fma(number(products[0]), ofBlock(high), sum) : sum;
  }

  Value scaleOf(const Tile &t, Ix b, int64_t v) {
    if (!c.joinsScales()) {
      return w.load(scales, placeOf(t, c.blocks, b, v), c.lanes);
    }
    Value bits = loaded(t, b, c.wordsOfBlock, v);
    return arith::BitcastOp::create(w.b, w.loc, w.vectorOf(w.b.getF32Type(), c.lanes), bits);
  }

  /// Stores the columns of a vector that there are.
  void finish(Value sums, SmallVector<Ix> row, const Columns &columns, int64_t first) {
    Ix column = columns.strip * c.strip + first;
    auto point = [&](Ix at, int64_t lanes, Value mask = {}) {
      Point p{row, lanes, mask};
      p.at.push_back(at);
      return p;
    };
    int64_t count = columns.count - first;
    if (count >= c.lanes) {
      return group.finish(sums, space, point(column, c.lanes));
    }
    if (w.machine.maskedAccess) {
      return group.finish(sums, space, point(column, c.lanes, w.maskFor(count, c.lanes)));
    }
    w.store(sums, tail, 0);
    w.loop(0, count, 1, [&](Ix i) { group.finish(w.load(tail, i), space, point(column + i, 1)); });
  }
};

class SplitIntegerMatMul : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<formats::SplitIntegerMatMulOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return FewBits::whyNotConstant(root, 6);
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<formats::SplitIntegerMatMulOp>(kernel.root());
    FewBits bits = bitsOf(op, machine);
    KernelShape shape;
    shape.items = bits.strips();
    shape.choice = onlyChoice("digits", {{"columns", bits.strip}});
    bits.pack(shape, op);
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    FewBits bits = bitsOf(cast<formats::SplitIntegerMatMulOp>(build.group.root), build.w.machine);
    Product product(build, bits);
    build.w.loop(build.begin, build.end, 1, [&](Ix strip) { product.strip(strip); });
    return success();
  }

private:
  static FewBits bitsOf(formats::SplitIntegerMatMulOp op, const target::MachineModel &machine) {
    return FewBits(op, machine, /*joinsScales=*/onnx::elementOf(op.getScales()).isF32());
  }
};

} // namespace

std::unique_ptr<KernelFamily> createSplitIntegerMatMulFamily() { return std::make_unique<SplitIntegerMatMul>(); }

} // namespace ingot::lower
