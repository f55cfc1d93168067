// Products of rows of digits by weights of few bits (DigitMatMul in onnx/ops/MatMul.td), of unsigned by signed bytes:
// the weights are the unsigned ones, in vectors, a column in each lane, and four digits of a row are alike in all
// lanes. For machines that sum quads of bytes by an instruction.
//
//   for a strip of columns / for a tile of rows / for some vectors of the strip / for a block:
//     for each word of weights: as bytes, by a shift and a mask for each quad; multiplied with the quads of three
//     digits sums of the digits together as floats, less the zero point's share, times the scale
//
// A tile has four sums of floats: four vectors of one row, two of two rows or one of four; with three sums of integers
// for each of them the multiplications do not wait for each other.
#include "compiler/lower/ByteProducts.h"
#include "compiler/lower/FewBits.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/MatMul.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <numeric>

using namespace mlir;

namespace ingot::lower {
namespace {

constexpr int64_t digits = 3;   ///< of an element
constexpr int64_t tileSums = 4; ///< sums of floats in a tile
constexpr int64_t mostRows = 4; ///< of a tile
/// Quads of one turn of the innermost loop.
constexpr int64_t quadsTogether = 8;

class Product {
public:
  Product(Build &build, const FewBits &bits)
      : w(build.w), group(build.group), c(bits), bytes(build.w.machine), space(group.space(group.resultType())) {
    auto op = cast<onnx::DigitMatMulOp>(group.root);
    for (Value v : {op.getCoarse(), op.getMiddle(), op.getFine()}) {
      rows.push_back(ByteProducts::words(w, group.buffer(v)));
    }
    unit = group.buffer(op.getUnit()), less = group.buffer(op.getLess());
    weights = group.buffer(op.getB()), scales = group.buffer(op.getScales());
    zeros = onnx::present(op.getZeros()) ? group.buffer(op.getZeros()) : Buffer();
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
  SmallVector<Buffer, digits> rows; ///< as words
  Buffer unit, less, weights, scales, zeros, tail;

  struct Columns {
    Ix strip;
    int64_t count;
  };
  /// Some vectors of a strip for some rows, which lie behind each other.
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
    w.balanced(0, extent, mostRows, [&](Ix i, int64_t height) {
      SmallVector<Ix> first(at);
      first.push_back(i);
      int64_t most = std::max<int64_t>(1, tileSums / height), all = llvm::divideCeil(columns.count, c.lanes);
      for (int64_t v = 0; v < all; v += most) {
        tile({columns, before + i, first, height, v, std::min(most, all - v)});
      }
    });
  }

  void tile(const Tile &t) {
    Values sums(t.height * t.vectors, w.constant(0, w.vectorOf(w.b.getF32Type(), c.lanes)));
    sums =
        w.loop(0, c.blocks, 1, sums, [&](Ix b, ValueRange carried) { return scaled(t, b, blockSums(t, b), carried); });
    for (int64_t i = 0; i < t.height; ++i) {
      for (int64_t v = 0; v < t.vectors; ++v) {
        SmallVector<Ix> at(t.at);
        at.back() = at.back() + i;
        finish(sums[i * t.vectors + v], at, t.columns, (t.first + v) * c.lanes);
      }
    }
  }

  Ix placeOf(const Tile &t, int64_t rowsOfStrip, Ix row, int64_t v) const {
    return c.placeOf(t.columns.strip, rowsOfStrip, row, (t.first + v) * c.lanes);
  }

  /// The products of a block: for each row and vector, a sum for each digit.
  Values blockSums(const Tile &t, Ix b) {
    int64_t ofBlock = c.block / c.each(), words = std::gcd(ofBlock, quadsTogether / c.quads());
    Values none(t.height * t.vectors * digits, w.constant(0, w.vectorOf(w.b.getI32Type(), c.lanes)));
    return w.loop(0, ofBlock, words, none, [&](Ix word, ValueRange carried) {
      Values sums(carried);
      for (int64_t i = 0; i < words; ++i) {
        addWord(t, b * ofBlock + word + i, sums);
      }
      return sums;
    });
  }

  /// One word of each column.
  void addWord(const Tile &t, Ix word, MutableArrayRef<Value> sums) {
    Values words;
    for (int64_t v = 0; v < t.vectors; ++v) {
      words.push_back(w.load(weights, placeOf(t, c.words(), word, v), c.lanes));
    }
    for (int64_t quad = 0; quad < c.quads(); ++quad) {
      Values vectors = llvm::map_to_vector(words, [&](Value v) { return quadOf(v, quad); });
      for (int64_t i = 0; i < t.height; ++i) {
        for (int64_t d = 0; d < digits; ++d) {
          Ix at = ((t.row + i) * c.words() + word) * c.quads() + quad;
          Value element = w.splat(w.load(rows[d], at), c.lanes);
          for (int64_t v = 0; v < t.vectors; ++v) {
            Value &sum = sums[(i * t.vectors + v) * digits + d];
            sum = bytes.add(w, sum, vectors[v], element);
          }
        }
      }
    }
  }

  /// A quad of a word's weights, as bytes.
  Value quadOf(Value word, int64_t quad) {
    Type type = word.getType();
    auto number = [&](int64_t n) { return w.constant(static_cast<double>(n), type); };
    if (quad) {
      word = arith::ShRUIOp::create(w.b, w.loc, word, number(quad * c.bits));
    }
    if (c.bits < 8) {
      int64_t mask = (1 << c.bits) - 1;
      word = arith::AndIOp::create(w.b, w.loc, word, number(mask * 0x01010101));
    }
    return vector::BitCastOp::create(w.b, w.loc, VectorType::get({4 * c.lanes}, w.b.getI8Type()), word);
  }

  /// What a block adds to the sums.
  Values scaled(const Tile &t, Ix b, ArrayRef<Value> products, ValueRange carried) {
    Type floats = w.vectorOf(w.b.getF32Type(), c.lanes);
    constexpr double base = onnx::DigitMatMulOp::base;
    Value once = w.constant(base, floats), twice = w.constant(base * base, floats);
    auto number = [&](Value v) -> Value { return arith::SIToFPOp::create(w.b, w.loc, floats, v); };
    Values sums(carried);
    for (int64_t v = 0; v < t.vectors; ++v) {
      Ix at = placeOf(t, c.blocks, b, v);
      Value scale = w.load(scales, at, c.lanes), zero = c.zeroAt(w, zeros, at);
      for (int64_t i = 0; i < t.height; ++i) {
        Ix block = (t.row + i) * c.blocks + b;
        const Value *p = &products[(i * t.vectors + v) * digits];
        Value sum = w.fma(number(p[0]), twice, w.fma(number(p[1]), once, number(p[2])));
        sum = w.fma(zero, w.splat(w.load(less, block), c.lanes), sum);
        sum = arith::MulFOp::create(w.b, w.loc, sum, w.splat(w.load(unit, block), c.lanes));
        sums[i * t.vectors + v] = w.fma(sum, scale, sums[i * t.vectors + v]);
      }
    }
    return sums;
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

class DigitMatMul : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::DigitMatMulOp>(); }
  std::string unsupported(Operation *root) const override { return FewBits::whyNotConstant(root, 5); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<onnx::DigitMatMulOp>(kernel.root());
    FewBits bits(op, machine);
    KernelShape shape;
    shape.items = bits.strips();
    bits.pack(shape, op);
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    FewBits bits(cast<onnx::DigitMatMulOp>(build.group.root), build.w.machine);
    Product product(build, bits);
    build.w.loop(build.begin, build.end, 1, [&](Ix strip) { product.strip(strip); });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createDigitMatMulFamily() { return std::make_unique<DigitMatMul>(); }

} // namespace ingot::lower
