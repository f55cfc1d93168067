#include "compiler/lower/product/WordMatMul.h"
#include "compiler/lower/bytes/WordProducts.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/onnx/Onnx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {

namespace {

constexpr int64_t mostColumns = 4; ///< of a tile

struct WordSchedule {
  MatMulProblem problem;
  WordProducts products;
  int64_t k = 0, n = 0; ///< of B
  int64_t width = 1;    ///< columns of a tile

  int64_t steps() const { return products.stepsOf(k); }
  int64_t tiles() const { return llvm::divideCeil(n, width); }
  WordProducts::Packing packing() const { return {tiles(), steps(), width}; }
  /// Returns the first column of a tile.
  Ix columnOf(Ix tile) const { return n % width ? min(tile * width, Ix(n - width)) : tile * width; }
};

/// Returns the most columns up to four, preferably a part of all where sums are finished one by one.
int64_t widthFor(int64_t n, bool inVectors) {
  if (inVectors && n >= mostColumns) {
    return mostColumns;
  }
  for (int64_t width : {mostColumns, int64_t(3), int64_t(2)}) {
    if (n % width == 0) {
      return width;
    }
  }
  return std::min(mostColumns, n);
}

WordSchedule scheduleOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  RankedTensorType b = Group::typeOf(kernel.root()->getOperand(1));
  WordSchedule s{matmulProblem(kernel, machine), WordProducts(machine, WordProducts::Factor::Bytes)};
  s.k = b.getDimSize(0), s.n = b.getDimSize(1), s.width = widthFor(s.n, s.products.hasVectors());
  return s;
}

/// [tile of columns][step][column]
plan::WeightTable::Recipe packed(const WordSchedule &s) {
  std::string key = s.products.key() + " tile " + std::to_string(s.width) + " of " + std::to_string(s.k) + " by " +
                    std::to_string(s.n);
  auto pack = [s](ArrayRef<char> from, MutableArrayRef<char> to) {
    s.products.pack(s.packing(), to, [&](int64_t tile, int64_t column, int64_t k) {
      column += std::min(tile * s.width, s.n - s.width);
      SmallVector<char> weights;
      for (int64_t i = k; i < std::min(k + s.products.step(), s.k); ++i) {
        weights.push_back(from[i * s.n + column]);
      }
      return weights;
    });
  };
  return {key, s.products.packedBytes(s.packing()), pack};
}

/// Builds the loops of one kernel.
class WordMatMul {
public:
  WordMatMul(Build &build, const WordSchedule &s)
      : build(build), w(build.w), s(s), p(s.products), space(build.group.space(build.group.resultType())) {
    Operation *root = build.group.root;
    a = build.group.buffer(root->getOperand(0));
    packed = build.group.buffer(root->getOperand(1)), weights = p.weights(w, packed);
    shapeSpace(space, s.problem);
    vectorSums = p.hasVectors() && s.width == mostColumns;
    beginsSums = !vectorSums && build.group.beginSums(space);
  }

  void all() {
    w.loop(0, s.problem.m, 1, [&](Ix row) { w.loop(0, s.tiles(), 1, [&](Ix tile) { sums(row, tile); }); });
  }

private:
  Build &build;
  Writer &w;
  const WordSchedule &s;
  const WordProducts &p;
  Space space;
  Buffer a, packed, weights;
  bool vectorSums; ///< whether the sums of a tile are finished as a vector
  bool beginsSums;

  Point point(Ix row, Ix column) const {
    Point at;
    at.at.assign(space.sizes.size(), 0);
    at.at[at.at.size() - 2] = row, at.at.back() = column;
    return at;
  }

  /// Adds the products of one step of a row that begins at `row`, of which `count` numbers are there.
  SmallVector<Value> step(Ix row, Ix tile, Ix k, int64_t count, ValueRange before) {
    WordProducts::Step x = p.bytes(w, a, row + k * p.step(), count);
    SmallVector<Value> after;
    for (int64_t i = 0; i < s.width; ++i) {
      after.push_back(p.add(w, before[i], x, p.weight(w, weights, (tile * s.steps() + k) * s.width + i)));
    }
    return after;
  }

  void finish(ArrayRef<Value> sums, Ix row, Ix tile) {
    Ix column = s.columnOf(tile), output = tile * s.width;
    if (vectorSums) {
      Value all = vector::FromElementsOp::create(w.b, w.loc, VectorType::get({s.width}, w.b.getI32Type()), sums);
      Value lacking = p.lacking(w, packed, s.packing(), output, s.width);
      return p.finish(build.group, arith::AddIOp::create(w.b, w.loc, all, lacking), space, point(row, column), s.width);
    }
    for (int64_t i = 0; i < s.width; ++i) {
      Value lacking = p.lacking(w, packed, s.packing(), output + i, 1);
      build.group.finish(lacking ? arith::AddIOp::create(w.b, w.loc, sums[i], lacking).getResult() : sums[i], space,
                         point(row, column + i));
    }
  }

  /// Computes a tile of columns of one row.
  void sums(Ix row, Ix tile) {
    Ix column = s.columnOf(tile);
    SmallVector<Value> acc;
    for (int64_t i = 0; i < s.width; ++i) {
      acc.push_back(beginsSums ? build.group.firstSums(space, point(row, column + i))
                               : w.constant(0, w.b.getI32Type()));
    }
    Ix from = row * s.k + p.zeroIn(w, tile);
    constexpr int64_t unroll = 2;
    int64_t whole = s.k / p.step(), pairs = whole / unroll * unroll;
    acc = w.loop(0, pairs, unroll, acc, [&](Ix k, ValueRange before) {
      return step(from, tile, k + 1, p.step(), step(from, tile, k, p.step(), before));
    });
    if (pairs < whole) {
      acc = step(from, tile, pairs, p.step(), acc);
    }
    if (whole < s.steps()) {
      acc = step(from, tile, whole, s.k - whole * p.step(), acc);
    }
    finish(acc, row, tile);
  }
};

} // namespace

std::string whyNoWords(plan::KernelOp kernel, const target::MachineModel &machine) {
  Operation *op = kernel.root();
  if (machine.lanes > 1) {
    return "the machine has vectors";
  }
  MatMulProblem p = matmulProblem(kernel, machine);
  if (Group::typeOf(op->getOperand(1)).getRank() != 2 || !p.batch.is(1)) {
    return "it has several matrices";
  }
  return p.n.is(0) || p.k.is(0) ? "it is empty" : "";
}

double wordCycles(plan::KernelOp kernel, const target::MachineModel &machine) {
  WordSchedule s = scheduleOf(kernel, machine);
  double product = s.products.pick(3.5, 1.5, 0.2);
  constexpr double finished = 20; // of a result
  constexpr int64_t typicalRows = 16;
  int64_t rows = s.problem.m.isNumber() ? s.problem.m.number() : typicalRows;
  return static_cast<double>(rows * s.n) * (static_cast<double>(s.k) * product + finished);
}

KernelShape wordMatMulShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  WordSchedule s = scheduleOf(kernel, machine);
  KernelShape shape;
  shape.packed[operandNumber(kernel.root()->getOperand(1))] = packed(s);
  shape.build = [s](Build &build) { WordMatMul(build, s).all(); };
  return shape;
}

} // namespace ingot::lower
