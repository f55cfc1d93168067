// For a panel of B, `wide` tiles wide and K deep / for a block of rows, as many as two tiles have:
//   for k, 64 bytes at a time: load, multiply, add
//   sums to memory; row by row from there as vectors: what follows the product, store
//
// Steps are of one size. Where they are more than a row together, the last one begins early, and its weights are zeros
// for what has been added. With bfloat16 that would make NaN of an infinity: there steps are of a size that
// divides the row, or there are none. Blocks have one height, so that one configuration does for all: the last one
// begins early and computes some rows twice. While a panel is read the next one is prefetched.
#include "compiler/lower/TileMatMul.h"
#include "compiler/lower/LowerKernels.h"
#include "compiler/onnx/Onnx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

using support::Size;

/// Rows of which there are as many as the run says.
static constexpr int64_t someRows = 64;

/// What vectors take: two products of four bytes a cycle and lane; of two bfloat16 one in two cycles, with which such
/// machines have not half of float32's speed (MEASURED.md: 80 of 140 GFLOP/s).
static double vectorCycles(const MatMulProblem &p, int64_t rows, const target::MachineModel &machine) {
  const double each = p.ofHalves ? 2 : 0.5;
  auto words = static_cast<double>(p.k.number()),
       columns = std::ceil(static_cast<double>(p.n.number()) / machine.lanes);
  return each * words * columns * static_cast<double>(rows);
}

static double tileCycles(const TileMatMul &t, int64_t rows, const target::MachineModel &machine) {
  int64_t groups = llvm::divideCeil(rows, t.shape.tall * 16), height = llvm::divideCeil(rows, groups);
  double panel = static_cast<double>(t.steps) * tileStepCycles(t.shape, height, t.shape.wide) +
                 tileBlockCycles(height, t.shape.wide);
  return machine.tiles.startCycles + static_cast<double>(groups * t.panels) * panel;
}

/// Work items: enough for several threads, whose rows of A stay in the second cache.
static void cutRows(TileMatMul &t, const MatMulProblem &p, const target::MachineModel &machine) {
  constexpr int64_t leastWork = int64_t(1) << 20, enough = 16;
  int64_t highest = t.shape.tall * machine.tiles.rows;
  t.groups = ceilDiv(p.m, highest);
  t.height = ceilDiv(p.m, max(t.groups, 1));
  int64_t held = std::max<int64_t>(1, machine.l2Bytes / 2 / (highest * t.depth));
  int64_t least = llvm::divideCeil(leastWork, highest * t.depth * t.shape.wide * machine.lanes);
  int64_t groups = t.groups.isNumber() ? t.groups.number() : held;
  int64_t items = p.batch.isNumber() ? t.panels * p.batch.number() : t.panels;
  t.groupsPerItem = std::max<int64_t>(1, std::min({groups, held, std::max(least, groups * items / enough)}));
  t.items = max(Size(1), ceilDiv(t.groups, t.groupsPerItem));
}

std::optional<TileMatMul> tileMatMulOf(const MatMulProblem &p, const target::MachineModel &machine) {
  bool isEmpty = p.m.is(0) || p.n.is(0) || p.batch.is(0);
  if (!machine.tiles.count || (!p.ofBytes && !p.ofHalves) || !p.constantB || isEmpty) {
    return std::nullopt;
  }
  TileMatMul t;
  constexpr int64_t word = 4;
  t.depth = p.k.number() * word - (p.restA ? word - p.restA : 0);
  int64_t bytes = TileShape::stepBytes(t.depth, p.ofHalves, machine);
  if (bytes <= 0) {
    return std::nullopt;
  }
  int64_t rows = p.m.isNumber() ? p.m.number() : someRows;
  t.strips = llvm::divideCeil(p.n.number(), machine.lanes);
  t.shape = TileShape::of(p.m.isNumber() ? rows : std::numeric_limits<int64_t>::max(), t.strips, bytes, machine);
  t.steps = llvm::divideCeil(t.depth, bytes);
  t.panels = llvm::divideCeil(t.strips, t.shape.wide);
  cutRows(t, p, machine);
  return tileCycles(t, rows, machine) < vectorCycles(p, rows, machine) ? std::optional(t) : std::nullopt;
}

// Weights: for each matrix, panel, step and tile of the panel its words, row by row.

static void packMatrix(const MatMulProblem &p, const TileMatMul &t, const char *from, char *to) {
  constexpr int64_t word = 4, columns = 16;
  int64_t n = p.n.number(), rows = t.shape.depth / word;
  for (int64_t strip = 0; strip < t.strips; ++strip) {
    int64_t panel = strip / t.shape.wide, wide = std::min(t.shape.wide, t.strips - panel * t.shape.wide);
    for (int64_t step = 0; step < t.steps; ++step) {
      int64_t first = step * t.shape.depth, at = std::min(first, t.lastAt());
      char *tile = to + panel * t.panelBytes() + (step * wide + strip % t.shape.wide) * t.shape.rightBytes();
      for (int64_t i = 0; i < rows * columns; ++i) {
        int64_t column = strip * columns + i % columns, k = at + i / columns * word;
        for (int64_t b = 0; column < n && b < word; ++b) {
          if (k + b >= first) {
            // Of bytes a row-major matrix, of bfloat16 one of words.
            tile[word * i + b] = p.ofBytes ? from[(k + b) * n + column] : from[(k / word * n + column) * word + b];
          }
        }
      }
    }
  }
}

KernelShape tileMatMulShape(plan::KernelOp kernel, const MatMulProblem &p, const TileMatMul &t) {
  KernelShape shape;
  shape.ofTiles = true;
  shape.items = p.batch * t.items * Size(t.panels);
  plan::WeightTable::Recipe recipe;
  recipe.key = llvm::formatv("tiles {0} wide {1} deep of {2} x {3} {4} {5}", t.shape.wide, t.shape.depth, t.depth,
                             p.n.number(), p.matricesB.number(), p.ofBytes ? "bytes" : "halves")
                   .str();
  recipe.bytes = p.matricesB.number() * t.matrixBytes();
  recipe.pack = [p, t](ArrayRef<char> from, MutableArrayRef<char> to) {
    for (int64_t matrix = 0; matrix < p.matricesB.number(); ++matrix) {
      packMatrix(p, t, from.data() + matrix * t.depth * p.n.number(), to.data() + matrix * t.matrixBytes());
    }
  };
  shape.packed[operandNumber(kernel.root()->getOperand(1))] = recipe;
  return shape;
}

namespace {

class Product {
public:
  Product(Build &build, const MatMulProblem &p, const TileMatMul &t)
      : build(build), w(build.w), group(build.group), p(p), t(t), block(w, t.shape, p.ofHalves),
        space(group.space(group.resultType())), a(group.buffer(group.root->getOperand(0))),
        b(group.buffer(group.root->getOperand(1))) {
    shapeSpace(space, p);
  }

  void run() {
    height = w.settled(max(Ix(t.height), 1));
    block.configure(height);
    w.loop(build.begin, build.end, 1, [&](Ix item) {
      Ix panel = remainder(item, t.panels), rest = floorDiv(item, t.panels);
      enterMatrix(floorDiv(rest, t.items));
      Ix from = remainder(rest, t.items) * t.groupsPerItem, to = min(from + t.groupsPerItem, t.groups);
      int64_t last = t.strips - (t.panels - 1) * t.shape.wide;
      if (last == t.shape.wide && p.n.number() % w.machine.lanes == 0) {
        return columns(panel, t.shape.wide, from, to, false);
      }
      if (t.panels > 1) {
        w.ifThen(w.compare(arith::CmpIPredicate::slt, panel, t.panels - 1),
                 [&] { columns(panel, t.shape.wide, from, to, false); });
      }
      w.ifThen(w.compare(arith::CmpIPredicate::eq, panel, t.panels - 1),
               [&] { columns(t.panels - 1, last, from, to, true); });
    });
    block.release();
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  const MatMulProblem &p;
  const TileMatMul &t;
  TileBlock block;
  Space space;
  Buffer a, b;
  Ix height;
  SmallVector<Ix> batchAt;
  Ix baseA, baseB; ///< bytes

  int64_t elementBytes() const { return p.ofHalves ? 2 : 1; }
  int64_t weightBytes() const { return p.ofHalves ? 4 : 1; } ///< of what the buffer of weights counts in

  void enterMatrix(Ix index) {
    batchAt.assign(p.batchSizes.size(), 0);
    baseA = 0, baseB = 0;
    for (size_t d = p.batchSizes.size(); d-- > 0;) {
      bool outermost = d == 0 && !p.batchSizes[d].isNumber();
      batchAt[d] = outermost ? index : remainder(index, p.batchSizes[d]), index = floorDiv(index, p.batchSizes[d]);
      baseA = baseA + batchAt[d] * Ix(p.batchA[d]) * elementBytes();
      baseB = baseB + batchAt[d] * Ix(p.batchB[d]) * t.matrixBytes();
    }
  }

  void columns(Ix panel, int64_t wide, Ix from, Ix to, bool isLast) {
    Ix weights = baseB + panel * t.panelBytes();
    w.loop(from, to, 1, [&](Ix g) {
      Ix row = min(g * height, Ix(p.m) - height);
      multiply(row, weights, wide, g - from, isLast);
      finish(row, panel * (t.shape.wide * w.machine.lanes), wide, isLast);
    });
  }

  /// `index` of the block among those of its item.
  void multiply(Ix row, Ix weights, int64_t wide, Ix index, bool isLast) {
    Ix first = baseA + row * t.depth, second = first + block.second() * t.depth;
    block.clear(wide);
    int64_t stepBytes = wide * t.shape.rightBytes();
    auto step = [&](Ix k, Ix at) {
      TileBlock::Rows rows{a, {first + at, second + at}, t.depth};
      block.step(rows, b, weights + k * stepBytes, wide);
      block.stayAwake(k, t.steps);
    };
    bool isEven = t.depth % t.shape.depth == 0;
    w.loop(0, t.steps - (isEven ? 0 : 1), 1, [&](Ix k) {
      if (!isLast && t.panels > 1) {
        block.fetchAhead({b, weights + t.panelBytes(), weightBytes(), t.steps, t.groupsPerItem}, index, k, wide);
      }
      step(k, k * t.shape.depth);
    });
    if (!isEven) {
      step(t.steps - 1, t.lastAt());
    }
    block.leave(wide);
  }

  void finish(Ix row, Ix column, int64_t wide, bool isLast) {
    int64_t lanes = w.machine.lanes, rest = p.n.number() % lanes;
    Value mask = isLast && rest ? w.maskFor(rest, lanes) : Value();
    w.loop(0, height, 1, [&](Ix i) {
      SmallVector<Value> sums;
      SmallVector<Point> points;
      for (int64_t v = 0; v < wide; ++v) {
        Point at{batchAt, lanes, v + 1 == wide ? mask : Value()};
        at.at.push_back(row + i), at.at.push_back(column + v * lanes);
        sums.push_back(block.sums(i, v, wide)), points.push_back(at);
      }
      group.finishSome(sums, space, points);
    });
  }
};

} // namespace

void buildTileMatMul(Build &build, const MatMulProblem &p, const TileMatMul &t) { Product(build, p, t).run(); }

} // namespace ingot::lower
