// Products with weights of 2, 4 or 8 bits, which are dequantized in registers: few rows, or an open number of them, so
// that reading the weights is what takes time.
//
// A word of 32 bits has neighbouring numbers of one column, and a vector of words as many columns as lanes. The number
// at the j-th place of a word is masked where it stands and converted there, as number * 2^(bits * j), without a shift;
// the elements of A that meet it are multiplied by 2^-(bits * j) before, which rounds nothing. (The one at the last
// place is shifted: masked it would be negative.)
//
//   for a strip of columns / for a tile of rows / for some vectors of the strip:
//     for each block of K: sums = 0
//       for each chunk of the block: A's rows, multiplied, into an array on the stack
//         for each word: load the vectors / for each number: mask, convert, multiply each row's element and add
//       totals += sums * scale
//
// The zero point: with one row the sum of its elements times it is subtracted from a block's sums; with more rows, it
// is subtracted from the numbers.
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/lower/product/FewBits.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/formats/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace ingot::lower {
namespace {

struct Plan : FewBits {
  MatMulProblem p;
  int64_t k;
  int64_t zero;   ///< point of all columns, where they have none of their own
  int64_t height; ///< rows of the highest tile

  /// How many elements of A are multiplied by powers of two at a time: those of a block, or 128 of a larger one.
  int64_t chunk() const { return std::min<int64_t>(block, 128); }
};

/// How many vectors a tile of one row has, and a tile of several rows. More vectors hide the latency of additions,
/// fewer leave registers for rows.
constexpr int64_t vectorsOfRow = 4, vectorsOfRows = 2;

Plan planOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  auto op = cast<formats::FewBitsMatMulOp>(kernel.root());
  // Accumulators, words and numbers of the vectors, an element and a mask.
  int64_t height = std::clamp<int64_t>((machine.registers - 2 - 2 * vectorsOfRows) / vectorsOfRows, 1, 8);
  return {{op, machine},
          matmulProblem(kernel, machine),
          static_cast<int64_t>(op.getK()),
          static_cast<int64_t>(op.getZero()),
          height};
}

class Product {
public:
  Product(Build &build, const Plan &plan)
      : build(build), w(build.w), plan(plan), p(plan.p), space(build.group.space(Group::typeOf(root().getY()))) {
    shapeSpace(space, p);
    a = build.group.buffer(root().getA()), words = build.group.buffer(root().getB());
    scales = build.group.buffer(root().getScales());
    zeros = onnx::present(root().getZeros()) ? build.group.buffer(root().getZeros()) : Buffer();
    number = w.vectorOf(w.b.getF32Type(), plan.lanes);
    elements = w.local(w.b.getF32Type(), plan.height * plan.chunk());
    if (plan.k % plan.chunk()) {
      edge = w.local(w.b.getF32Type(), plan.chunk());
    }
    if (plan.n % plan.lanes && !w.machine.maskedAccess) {
      tail = w.local(w.b.getF32Type(), plan.lanes);
    }
  }

  void item(Ix item) {
    enterBatch(floorDiv(item, plan.strips()));
    Ix strip = remainder(item, plan.strips());
    plan.forStrip(w, strip, [&](int64_t count) { columns(strip, count); });
  }

private:
  using Vectors = SmallVector<Value>;
  /// Some vectors of a strip, over some rows of A.
  struct Tile {
    Ix strip, column; ///< column: in the strip
    int64_t vectors, rest;
    Ix row;
    int64_t rows;
    /// Returns how many sums each result is added up in. An addition waits for the one before it in the same sum, so a
    /// tile of few results has two for each.
    int64_t chains() const { return rows * vectors >= 8 ? 1 : 2; }
    int64_t results() const { return rows * vectors; }
  };

  Build &build;
  Writer &w;
  const Plan &plan;
  const MatMulProblem &p;
  Space space;
  Buffer a, words, scales, zeros, elements, edge, tail;
  Type number; ///< a vector of floats
  Ixs batchAt;
  Ix baseA;

  formats::FewBitsMatMulOp root() const { return cast<formats::FewBitsMatMulOp>(build.group.root); }

  void enterBatch(Ix index) {
    batchAt.assign(p.batchSizes.size(), 0);
    baseA = 0;
    for (size_t d = p.batchSizes.size(); d-- > 0;) {
      batchAt[d] = remainder(index, p.batchSizes[d]), index = floorDiv(index, p.batchSizes[d]);
      baseA = baseA + batchAt[d] * Ix(p.batchA[d]);
    }
  }

  void columns(Ix strip, int64_t count) {
    w.balanced(p.m, plan.height, [&](Ix row, int64_t rows) {
      int64_t vectors = std::min(rows == 1 ? vectorsOfRow : vectorsOfRows, plan.strip / plan.lanes);
      int64_t width = vectors * plan.lanes, whole = count / width * width, left = count - whole;
      w.loop(0, whole, width, [&](Ix column) { tile({strip, column, vectors, 0, row, rows}); });
      if (left) {
        int64_t some = llvm::divideCeil(left, plan.lanes);
        tile({strip, whole, some, left % plan.lanes, row, rows});
      }
    });
  }

  void tile(const Tile &t) {
    int64_t whole = plan.k / plan.block;
    Vectors totals(t.results(), w.constant(0, number));
    totals = w.loop(0, whole, 1, totals, [&](Ix b, ValueRange carried) { return addBlock(t, b, plan.block, carried); });
    if (plan.k % plan.block) {
      totals = addBlock(t, whole, plan.k % plan.block, totals);
    }
    finish(t, totals);
  }

  void finish(const Tile &t, const Vectors &totals) {
    Ix column = t.strip * plan.strip + t.column;
    Value mask = t.rest && w.machine.maskedAccess ? w.maskFor(t.rest, plan.lanes) : Value();
    bool cut = t.rest && !mask;
    int64_t whole = t.vectors - (cut ? 1 : 0);
    Vectors vectors;
    for (auto [i, total] : llvm::enumerate(totals)) {
      int64_t row = static_cast<int64_t>(i) / t.vectors;
      if (static_cast<int64_t>(i) % t.vectors < whole) {
        vectors.push_back(total);
        continue;
      }
      w.store(total, tail, 0);
      w.loop(0, t.rest, 1, [&](Ix c) {
        build.group.finish(w.load(tail, c), space, point(t.row + row, column + whole * plan.lanes + c, 1, {}));
      });
    }
    if (whole) {
      build.group.finishTile(vectors, whole, space, [&](Ix i, int64_t v) {
        return point(t.row + i, column + v * plan.lanes, plan.lanes, v + 1 == t.vectors ? mask : Value());
      });
    }
  }

  Point point(Ix m, Ix n, int64_t lanes, Value mask) const {
    Point at{{batchAt.begin(), batchAt.end()}, lanes, mask};
    at.at.push_back(m), at.at.push_back(n);
    return at;
  }

  /// totals + the products of `count` elements from the beginning of a block on.
  Vectors addBlock(const Tile &t, Ix block, int64_t count, ValueRange totals) {
    // The sums come first; where there is only one row, the sum of its elements follows.
    Vectors sums(t.results() * t.chains(), w.constant(0, number));
    if (t.rows == 1) {
      sums.push_back(w.constant(0, number));
    }
    Ix from = block * plan.block;
    int64_t whole = count / plan.chunk() * plan.chunk();
    sums = w.loop(0, whole, plan.chunk(), sums,
                  [&](Ix at, ValueRange carried) { return addChunk(t, block, from + at, plan.chunk(), carried); });
    if (count != whole) {
      sums = addChunk(t, block, from + whole, count - whole, sums);
    }
    Vectors zeroOf = t.rows == 1 ? zerosOf(t, block) : Vectors();
    Value sumOfRow = t.rows == 1 ? w.splat(across(w, Combine::Add, sums.back()), plan.lanes) : Value();
    Vectors next;
    for (int64_t i = 0; i < t.results(); ++i) {
      Value sum = sums[i * t.chains()];
      for (int64_t c = 1; c < t.chains(); ++c) {
        sum = arith::AddFOp::create(w.b, w.loc, sum, sums[i * t.chains() + c]);
      }
      if (t.rows == 1) {
        sum = w.fma(sumOfRow, arith::NegFOp::create(w.b, w.loc, zeroOf[i]), sum);
      }
      Value scale = w.load(scales, placeOf(t, plan.blocks, block, i % t.vectors), plan.lanes);
      next.push_back(w.fma(sum, scale, totals[i]));
    }
    return next;
  }

  /// Returns where a vector of the tile begins in [strip][rows][columns].
  Ix placeOf(const Tile &t, int64_t rows, Ix row, int64_t v) const {
    return plan.placeOf(t.strip, rows, row, t.column + v * plan.lanes);
  }

  /// The zero points of a block, for each vector.
  Vectors zerosOf(const Tile &t, Ix block) {
    Vectors all;
    for (int64_t v = 0; v < t.vectors; ++v) {
      all.push_back(zeros ? plan.zeroAt(w, zeros, placeOf(t, plan.blocks, block, v)) : w.constant(plan.zero, number));
    }
    return all;
  }

  /// 2^-(bits * place) for the number at a place of a word.
  double factorOf(int64_t place) const {
    return place + 1 == plan.each() ? 1 : std::ldexp(1.0, static_cast<int>(-plan.bits * place));
  }

  /// Multiplies `count` elements of each row by their powers of two and stores them in the array on the stack, with
  /// zeros up to whole words. Returns `sum`, if there is one, with the elements of the only row added.
  Value multiplied(const Tile &t, Ix at, int64_t count, Value sum) {
    int64_t step = std::max(plan.each(), plan.lanes);
    for (int64_t row = 0; row < t.rows; ++row) {
      Ix from = baseA + (t.row + row) * Ix(p.rowA) + at;
      Buffer source = a;
      if (count % step) {
        w.loop(0, plan.chunk(), plan.lanes, [&](Ix i) { w.store(w.constant(0, number), edge, i); });
        w.loop(0, count, 1, [&](Ix i) { w.store(w.load(a, from + i), edge, i); });
        source = edge, from = 0;
      }
      int64_t all = llvm::alignTo(count, step);
      auto body = [&](Ix i, ValueRange carried) {
        Value added = carried.empty() ? Value() : carried[0];
        for (int64_t v = 0; v < step; v += plan.lanes) {
          Value x = w.load(source, from + i + v, plan.lanes);
          w.store(arith::MulFOp::create(w.b, w.loc, x, factors(v)), elements, i + (row * plan.chunk() + v));
          added = added ? arith::AddFOp::create(w.b, w.loc, added, x).getResult() : added;
        }
        return added ? Vectors{added} : Vectors();
      };
      if (sum) {
        sum = w.loop(0, all, step, sum, body)[0];
      } else {
        w.loop(0, all, step, [&](Ix i) { body(i, {}); });
      }
    }
    return sum;
  }

  /// Returns the factors of `lanes` elements, from that at `first` on.
  Value factors(int64_t first) {
    SmallVector<float> ofWord(plan.each());
    for (int64_t place = 0; place < plan.each(); ++place) {
      ofWord[plan.elementAt(place)] = static_cast<float>(factorOf(place));
    }
    if (plan.lanes == 1) {
      return w.constant(ofWord[first % plan.each()], number);
    }
    SmallVector<float> values;
    for (int64_t i = 0; i < plan.lanes; ++i) {
      values.push_back(ofWord[(first + i) % plan.each()]);
    }
    return arith::ConstantOp::create(w.b, w.loc,
                                     DenseElementsAttr::get(cast<ShapedType>(number), ArrayRef<float>(values)));
  }

  /// Sums + the products of `count` elements from `at` on, which are part of one block.
  Vectors addChunk(const Tile &t, Ix block, Ix at, int64_t count, ValueRange sums) {
    Vectors next(sums);
    Value sum = multiplied(t, at, count, t.rows == 1 ? next.pop_back_val() : Value());
    Vectors zero = t.rows == 1 ? Vectors() : zerosOf(t, block);
    Ix word = floorDiv(at, plan.each());
    next = w.loop(0, static_cast<int64_t>(llvm::divideCeil(count, plan.each())), 1, next,
                  [&](Ix i, ValueRange carried) { return addWord(t, word + i, i * plan.each(), zero, carried); });
    if (sum) {
      next.push_back(sum);
    }
    return next;
  }

  Vectors addWord(const Tile &t, Ix word, Ix at, const Vectors &zero, ValueRange sums) {
    Vectors next(sums), row;
    for (int64_t v = 0; v < t.vectors; ++v) {
      row.push_back(w.load(words, placeOf(t, plan.blocks * plan.wordsOfBlock, word, v), plan.lanes));
    }
    for (int64_t j = 0; j < plan.each(); ++j) {
      Vectors numbers;
      for (int64_t v = 0; v < t.vectors; ++v) {
        Value x = numberAt(row[v], j);
        if (!zero.empty()) {
          x = w.fma(zero[v], w.constant(-1 / factorOf(j), number), x);
        }
        numbers.push_back(x);
      }
      for (int64_t i = 0; i < t.rows; ++i) {
        Value x = w.splat(w.load(elements, at + (i * plan.chunk() + plan.elementAt(j))), plan.lanes);
        for (int64_t v = 0; v < t.vectors; ++v) {
          Value &sum = next[(i * t.vectors + v) * t.chains() + j % t.chains()];
          sum = w.fma(x, numbers[v], sum);
        }
      }
    }
    return next;
  }

  /// The number at the j-th place of each word, as a float, where it stands.
  Value numberAt(Value word, int64_t j) {
    Type type = word.getType();
    Value bits =
        j + 1 == plan.each()
            ? arith::ShRUIOp::create(w.b, w.loc, word, w.constant(32 - plan.bits, type)).getResult()
            : arith::AndIOp::create(w.b, w.loc, word, w.constant(((1LL << plan.bits) - 1) << (plan.bits * j), type))
                  .getResult();
    return arith::SIToFPOp::create(w.b, w.loc, number, bits);
  }
};

class FewBitsMatMul : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<formats::FewBitsMatMulOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return FewBits::whyNotConstant(root, 1);
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    Plan plan = planOf(kernel, machine);
    KernelShape shape;
    shape.items = plan.p.batch * support::Size(plan.strips());
    shape.choice = onlyChoice("few bits", {{"columns", plan.strip}, {"rows", plan.height}});
    plan.pack(shape, cast<formats::FewBitsMatMulOp>(kernel.root()));
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Plan plan = planOf(build.group.kernel, build.w.machine);
    Product product(build, plan);
    build.w.loop(build.begin, build.end, 1, [&](Ix item) { product.item(item); });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createFewBitsMatMulFamily() { return std::make_unique<FewBitsMatMul>(); }

} // namespace ingot::lower
