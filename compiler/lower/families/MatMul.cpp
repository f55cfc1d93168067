// Matrix products. C[M, N] = A * B as register tiles of `rows` broadcasts of A times `vectors` vectors of B (reference:
// cpu-kernels/MEASURED.md, sections 3 and 8):
//
//   for a block of rows that the L2 cache holds / for a panel of B, `vectors` wide and K deep / for a tile of rows:
//     for k, four at a time: load the panel's vectors, broadcast each row's A, multiply and add
//     epilogue on the accumulators, store
//
// B lies in panels [ceil(N / width)][K][width]: packed at compile time when it is constant, into scratch while running
// when many rows read it or it is transposed, and read where it is for few rows. A is read where it is. Rows are cut
// into tiles that differ by one at most. While one panel is read, the next one is prefetched a few lines at a time.
// Products whose operands both run along k (a vector B; a transposed B under one or two rows) are dot products instead.
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/lower/Family.h"
#include "compiler/lower/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// The product as [batch][m][k] * [batch][k][n], with strides in elements.
struct Problem {
  Type element;
  int64_t elementBytes = 4;
  bool vectorA = false, vectorB = false;           ///< one-dimensional operands: the result lacks that axis
  SmallVector<int64_t> batchSizes, batchA, batchB; ///< batchA: stride in elements; batchB: in matrices
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t rowA = 0, stepA = 1;    ///< of A along m and k
  int64_t stepB = 1, columnB = 1; ///< of B, where it is read in place, along k and n
  int64_t matricesB = 1;
  bool constantB = false, transB = false;
  bool merged = false; ///< batch dimensions are part of m
};

enum class From { Packed, Scratch, InPlace };

/// How the product is cut.
struct Tiling {
  bool dots = false;
  From from = From::Packed;
  int64_t lanes = 1, vectors = 1, width = 1, panels = 1, lastVectors = 1;
  int64_t rest = 0; ///< columns in the last vector when it is not full
  int64_t tiles = 1, tilesPerBlock = 1, blocks = 1;
  int64_t panelElements(const Problem &p) const { return p.k * width; }
  int64_t matrixElements(const Problem &p) const { return panels * panelElements(p); }
};

/// Strides of an operand over the result's batch dimensions: 0 where it is broadcast. `step` is the stride of its last
/// batch axis.
SmallVector<int64_t> batchStrides(RankedTensorType type, ArrayRef<int64_t> batchSizes, int64_t step) {
  SmallVector<int64_t> strides(batchSizes.size(), 0);
  int64_t own = std::max<int64_t>(type.getRank() - 2, 0), shift = static_cast<int64_t>(batchSizes.size()) - own;
  for (int64_t i = own; i-- > 0;) {
    strides[i + shift] = type.getDimSize(i) == 1 ? 0 : step;
    step *= type.getDimSize(i);
  }
  return strides;
}

/// Whether all that the epilogue reads walks the first `rows` result dimensions as one: everything along them or
/// nothing.
bool rowsMerge(plan::KernelOp kernel, Operation *root, ArrayRef<int64_t> shape, int64_t rows) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || llvm::all_of(argument.getUsers(), [&](Operation *user) { return user == root; })) {
      continue;
    }
    bool along = false, broadcast = false;
    int64_t shift = static_cast<int64_t>(shape.size()) - type.getRank();
    for (int64_t d = 0; d < rows; ++d) {
      if (shape[d] != 1) {
        (d >= shift && type.getDimSize(d - shift) == shape[d] ? along : broadcast) = true;
      }
    }
    if (along && broadcast) {
      return false;
    }
  }
  return true;
}

Problem problemOf(plan::KernelOp kernel) {
  auto op = cast<onnx::MatMulOp>(rootOf(kernel));
  RankedTensorType a = Group::typeOf(op.getA()), b = Group::typeOf(op.getB()), y = Group::typeOf(op.getY());
  Problem p;
  p.element = valueType(a.getElementType());
  p.elementBytes = onnx::elementBytes(p.element);
  p.vectorA = a.getRank() == 1, p.vectorB = b.getRank() == 1;
  p.transB = op.getTransB();
  p.constantB = static_cast<bool>(constantOperand(kernel, op.getB()));
  int64_t ra = a.getRank(), rb = b.getRank();
  p.k = op.getTransA() ? a.getDimSize(ra - 2) : a.getShape().back();
  p.m = p.vectorA ? 1 : a.getDimSize(ra - (op.getTransA() ? 1 : 2));
  p.n = p.vectorB ? 1 : b.getDimSize(rb - (p.transB ? 2 : 1));
  p.rowA = op.getTransA() ? 1 : p.k, p.stepA = op.getTransA() ? p.m : 1;
  p.stepB = p.transB ? 1 : p.n, p.columnB = p.transB ? p.k : 1;
  ArrayRef<int64_t> shape = y.getShape();
  int64_t matrixDims = !p.vectorA + !p.vectorB;
  p.batchSizes.assign(shape.begin(), shape.end() - matrixDims);
  p.batch = onnx::elements(p.batchSizes);
  p.matricesB = rb > 2 ? onnx::elements(b.getShape().drop_back(2)) : 1;
  bool alike = p.matricesB == 1 && p.batch > 1 && !p.vectorA && !op.getTransA();
  if (alike && rowsMerge(kernel, op, shape, y.getRank() - !p.vectorB)) {
    p.merged = true;
    p.m *= p.batch, p.batch = 1;
    p.batchSizes.clear();
  } else {
    p.batchA = batchStrides(a, p.batchSizes, p.m * p.k);
    p.batchB = batchStrides(b, p.batchSizes, 1);
  }
  return p;
}

/// The most vectors that fit the registers beside `rows` rows; at most eight, which hide the latency of any
/// multiply-add.
int64_t vectorsFor(int64_t rows, const target::MachineModel &machine) {
  int64_t spare = machine.fusedMultiplyAdd ? 1 : 2, v = 8; // without fusing, a register for the product
  while (v > 1 && rows * v + v + spare > machine.registers - 1) {
    --v;
  }
  return v;
}

Tiling tilingOf(const Problem &p, const target::MachineModel &machine) {
  Tiling t;
  t.lanes = std::max<int64_t>(1, machine.lanes * 4 / std::max<int64_t>(p.elementBytes, 4));
  bool alongK = p.stepA == 1 && (p.n == 1 || p.transB);
  t.dots = alongK && (p.n == 1 || (p.m <= 2 && !p.constantB));
  if (t.dots || p.m == 0 || p.n == 0) {
    t.from = From::InPlace;
    return t;
  }
  int64_t columns = llvm::divideCeil(p.n, t.lanes);
  // Rows of A that lie a multiple of 4 KiB apart compete for the same cache sets: fewer of them at a time when they are
  // long.
  int64_t most = p.k > 768 && p.stepA == 1 ? std::min<int64_t>(8, machine.matmulTile.rows) : machine.matmulTile.rows;
  t.tiles = llvm::divideCeil(p.m, most);
  int64_t rows = llvm::divideCeil(p.m, t.tiles);
  t.vectors = std::min(columns, vectorsFor(rows, machine));
  t.vectors = llvm::divideCeil(columns, llvm::divideCeil(columns, t.vectors)); // panels alike
  t.width = t.vectors * t.lanes;
  t.panels = llvm::divideCeil(columns, t.vectors);
  t.lastVectors = columns - (t.panels - 1) * t.vectors;
  t.rest = p.n % t.lanes;
  bool readable = !p.transB && (t.rest == 0 || machine.maskedAccess);
  t.from = p.constantB ? From::Packed : (readable && t.tiles <= 2 ? From::InPlace : From::Scratch);
  t.tilesPerBlock = t.tiles;
  if (t.from != From::Scratch) {
    int64_t held = std::max<int64_t>(1, machine.l2Bytes / 2 / std::max<int64_t>(1, rows * p.k * p.elementBytes));
    // Enough items for several threads, but none with fewer than so many multiplications.
    int64_t least = llvm::divideCeil(int64_t(1) << 17, std::max<int64_t>(1, rows * p.k * t.width));
    t.tilesPerBlock = std::min({t.tiles, held, std::max(least, t.tiles * t.panels * p.batch / 16)});
  }
  t.blocks = llvm::divideCeil(t.tiles, t.tilesPerBlock);
  return t;
}

/// Constant B -> panels, zero padded.
void packPanels(const Problem &p, const Tiling &t, ArrayRef<char> from, MutableArrayRef<char> to) {
  int64_t size = p.elementBytes;
  for (int64_t matrix = 0; matrix < p.matricesB; ++matrix) {
    const char *b = from.data() + matrix * p.k * p.n * size;
    char *out = to.data() + matrix * t.matrixElements(p) * size;
    for (int64_t n0 = 0; n0 < p.n; n0 += t.width, out += t.panelElements(p) * size) {
      int64_t columns = std::min(t.width, p.n - n0);
      for (int64_t k = 0; k < p.k; ++k) {
        char *row = out + k * t.width * size;
        const char *source = b + (k * p.stepB + n0 * p.columnB) * size;
        if (p.columnB == 1) {
          std::copy_n(source, columns * size, row);
          continue;
        }
        for (int64_t c = 0; c < columns; ++c) {
          std::copy_n(source + c * p.columnB * size, size, row + c * size);
        }
      }
    }
  }
}

/// Makes the space's dimensions [batch..., m, n], or [m, n] when the batch is part of m.
void shapeSpace(Space &space, const Problem &p) {
  auto insert = [&](size_t at) {
    space.sizes.insert(space.sizes.begin() + at, 1);
    for (auto &[value, access] : space.accesses) {
      access.strides.insert(access.strides.begin() + at, 0);
    }
    for (Access &access : space.results) {
      access.strides.insert(access.strides.begin() + at, 0);
    }
  };
  if (p.vectorB) {
    insert(space.sizes.size());
  }
  if (p.vectorA) {
    insert(space.sizes.size() - 1);
  }
  if (!p.merged) {
    return;
  }
  // The stride of the innermost row dimension that has an extent is the stride of all of them together.
  size_t rows = space.sizes.size() - 1, inner = rows - 1;
  while (inner > 0 && space.sizes[inner].is(1)) {
    --inner;
  }
  auto merge = [&](Access &access) { access.strides = {access.strides[inner], access.strides.back()}; };
  for (auto &[value, access] : space.accesses) {
    merge(access);
  }
  llvm::for_each(space.results, merge);
  space.sizes = {p.m, space.sizes.back()};
}

/// Writes one kernel.
class Product {
public:
  Product(Build &build, const Problem &p, const Tiling &t)
      : build(build), w(build.w), group(build.group), p(p), t(t), space(group.space(rootType())) {
    shapeSpace(space, p);
    auto op = cast<onnx::MatMulOp>(group.root);
    a = group.buffer(op.getA()), b = group.buffer(op.getB());
    vector = w.vectorOf(p.element, t.lanes);
    if (t.rest && !w.machine.maskedAccess) {
      tail = w.local(p.element, t.lanes * llvm::divideCeil(p.m, t.tiles));
    }
  }

  void tiles() {
    w.loop(build.begin, build.end, 1, [&](Ix item) {
      Ix panel = remainder(item, t.panels), outer = floorDiv(item, t.panels);
      Ix block = remainder(outer, t.blocks);
      enterBatch(floorDiv(outer, t.blocks));
      Ix from = block * t.tilesPerBlock, to = min(from + Ix(t.tilesPerBlock), t.tiles);
      bool odd = t.lastVectors != t.vectors || t.rest;
      if (!odd || t.panels == 1) {
        return columns(item, panel, from, to, t.lastVectors, odd);
      }
      Value last = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, w.value(panel), w.value(t.panels - 1));
      Value before = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::ne, w.value(panel), w.value(t.panels - 1));
      w.ifThen(before, [&] { columns(item, panel, from, to, t.vectors, false); });
      w.ifThen(last, [&] { columns(item, panel, from, to, t.lastVectors, true); });
    });
  }

  void dots() {
    bool down = p.n == 1;
    w.loop(build.begin, build.end, 1, [&](Ix item) {
      enterBatch(item);
      w.loop(0, down ? 1 : p.m, 1, [&](Ix other) {
        w.balanced(down ? p.m : p.n, 4, [&](Ix first, int64_t count) {
          SmallVector<Ix> m, n;
          for (int64_t i = 0; i < count; ++i) {
            m.push_back(down ? first + Ix(i) : other), n.push_back(down ? Ix(0) : first + Ix(i));
          }
          dotTile(m, n);
        });
      });
    });
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  const Problem &p;
  const Tiling &t;
  Space space;
  Buffer a, b, tail;
  Type vector;
  SmallVector<Ix> batchAt; ///< coordinates of the current batch
  Ix baseA, baseB;         ///< its matrices' first elements
  Ix matrixB;

  RankedTensorType rootType() const { return Group::typeOf(group.root->getResult(0)); }

  void enterBatch(Ix index) {
    batchAt.assign(p.batchSizes.size(), 0);
    baseA = 0, matrixB = 0;
    for (size_t d = p.batchSizes.size(); d-- > 0;) {
      batchAt[d] = remainder(index, p.batchSizes[d]), index = floorDiv(index, p.batchSizes[d]);
      baseA = baseA + batchAt[d] * Ix(p.batchA[d]), matrixB = matrixB + batchAt[d] * Ix(p.batchB[d]);
    }
    baseB = matrixB * Ix(p.k * p.n);
  }

  Point point(Ix m, Ix n, int64_t lanes, Value mask = {}) const {
    Point at{batchAt, lanes, mask};
    at.at.push_back(m), at.at.push_back(n);
    return at;
  }

  Value multiplyAdd(Value x, Value y, Value z) {
    if (isa<FloatType>(p.element)) {
      return w.fma(x, y, z);
    }
    return arith::AddIOp::create(w.b, w.loc, arith::MulIOp::create(w.b, w.loc, x, y), z);
  }

  /// Where the vectors of a panel are read.
  struct Panel {
    Buffer buffer;
    Ix base;
    int64_t step; ///< from one k to the next
    Ix column;    ///< of the result
    int64_t vectors;
    Value mask;   ///< of the last vector, where a load must not run over
    bool partial; ///< the last vector has t.rest columns
  };

  void columns(Ix item, Ix panel, Ix from, Ix to, int64_t vectors, bool odd) {
    Panel at{b, {}, t.width, panel * t.width, vectors, {}, odd && t.rest};
    Value mask = at.partial && w.machine.maskedAccess ? w.maskFor(t.rest, t.lanes) : Value();
    if (t.from == From::Packed) {
      at.base = matrixB * Ix(t.matrixElements(p)) + panel * Ix(t.panelElements(p));
    } else if (t.from == From::InPlace) {
      at.base = baseB + at.column, at.step = p.n, at.mask = mask;
    } else {
      at.buffer =
          w.scratch(build.scratch, item * Ix(t.panelElements(p) * p.elementBytes), p.element, t.panelElements(p));
      packPanel(at, mask);
    }
    int64_t small = p.m / t.tiles, larger = p.m % t.tiles;
    if (larger) {
      w.loop(from, min(to, larger), 1, [&](Ix i) { tile(at, i * Ix(small + 1), small + 1, i - from); });
    }
    w.loop(max(from, larger), to, 1, [&](Ix i) { tile(at, Ix(larger) + i * Ix(small), small, i - from); });
  }

  void tile(const Panel &panel, Ix row, int64_t rows, Ix indexInBlock) {
    SmallVector<Value> sums = accumulate(panel, row, rows, indexInBlock);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t v = 0; v < panel.vectors; ++v) {
        Value sum = sums[i * panel.vectors + v];
        Ix column = panel.column + Ix(v * t.lanes);
        bool partial = panel.partial && v + 1 == panel.vectors;
        if (partial && tail) {
          w.store(sum, tail, i * t.lanes);
        } else {
          group.finish(sum, space, point(row + Ix(i), column, t.lanes, partial ? w.maskFor(t.rest, t.lanes) : Value()));
        }
      }
    }
    if (panel.partial && tail) {
      Ix column = panel.column + Ix((panel.vectors - 1) * t.lanes);
      w.loop(0, rows, 1, [&](Ix i) {
        w.loop(0, t.rest, 1,
               [&](Ix c) { group.finish(w.load(tail, i * t.lanes + c), space, point(row + i, column + c, 1)); });
      });
    }
  }

  SmallVector<Value> accumulate(const Panel &panel, Ix row, int64_t rows, Ix indexInBlock) {
    constexpr int64_t unroll = 4;
    Ix fromA = baseA + row * Ix(p.rowA);
    int64_t lineElements = 64 / p.elementBytes, ahead = 0;
    if (t.from == From::Packed && t.panels > 1 && t.tiles > 1) { // lines of the next panel to fetch in each step
      ahead = llvm::divideCeil(unroll * t.width, lineElements * t.tilesPerBlock);
    }
    auto step = [&](Ix k, int64_t count, ValueRange carried) {
      SmallVector<Value> sums(carried);
      Ix atA = fromA + k * Ix(p.stepA), atB = panel.base + k * Ix(panel.step);
      for (int64_t u = 0; u < count; ++u) {
        oneStep(panel, sums, rows, atA + Ix(u * p.stepA), atB + Ix(u * panel.step));
      }
      return sums;
    };
    int64_t whole = p.k - p.k % unroll;
    SmallVector<Value> zeros(rows * panel.vectors, w.constant(0, vector));
    SmallVector<Value> sums = w.loop(0, whole, unroll, zeros, [&](Ix k, ValueRange carried) {
      if (ahead) {
        Ix line =
            panel.base + Ix(t.panelElements(p)) + (indexInBlock * Ix(whole) + k) * Ix(ahead * lineElements / unroll);
        for (int64_t i = 0; i < ahead; ++i) {
          w.prefetch(panel.buffer, line + Ix(i * lineElements));
        }
      }
      return step(k, unroll, carried);
    });
    return step(whole, p.k - whole, sums);
  }

  void oneStep(const Panel &panel, MutableArrayRef<Value> sums, int64_t rows, Ix atA, Ix atB) {
    SmallVector<Value> vectors;
    for (int64_t v = 0; v < panel.vectors; ++v) {
      vectors.push_back(
          w.load(panel.buffer, atB + Ix(v * t.lanes), t.lanes, v + 1 == panel.vectors ? panel.mask : Value()));
    }
    for (int64_t i = 0; i < rows; ++i) {
      Value broadcast = w.splat(w.load(a, atA + Ix(i * p.rowA)), t.lanes);
      for (int64_t v = 0; v < panel.vectors; ++v) {
        Value &sum = sums[i * panel.vectors + v];
        sum = multiplyAdd(broadcast, vectors[v], sum);
      }
    }
  }

  /// B's columns of this panel into scratch, [k][width].
  void packPanel(const Panel &at, Value mask) {
    for (int64_t v = 0; v < at.vectors; ++v) {
      bool partial = at.partial && v + 1 == at.vectors;
      Ix column = at.column + Ix(v * t.lanes);
      if (p.transB) {
        packTransposed(at, v, column);
      } else if (partial && !mask) {
        w.loop(0, p.k, 1, [&](Ix k) {
          w.loop(0, t.rest, 1, [&](Ix c) {
            w.store(w.load(b, baseB + k * p.n + column + c), at.buffer, k * t.width + Ix(v * t.lanes) + c);
          });
        });
      } else {
        w.loop(0, p.k, 1, [&](Ix k) {
          w.store(w.load(b, baseB + k * p.n + column, t.lanes, partial ? mask : Value()), at.buffer,
                  k * t.width + Ix(v * t.lanes));
        });
      }
    }
  }

  /// `lanes` columns of a transposed B, square by square. Columns past the end read the last one: nobody looks at their
  /// sums.
  void packTransposed(const Panel &at, int64_t v, Ix column) {
    auto start = [&](Ix c) { return baseB + min(column + c, p.n - 1) * Ix(p.k); };
    int64_t whole = p.k - p.k % t.lanes;
    w.loop(0, whole, t.lanes, [&](Ix k) {
      SmallVector<Value> square;
      for (int64_t c = 0; c < t.lanes; ++c) {
        square.push_back(w.load(b, start(c) + k, t.lanes));
      }
      square = t.lanes > 1 ? transpose(w, square) : square;
      for (int64_t i = 0; i < t.lanes; ++i) {
        w.store(square[i], at.buffer, (k + Ix(i)) * t.width + Ix(v * t.lanes));
      }
    });
    w.loop(whole, p.k, 1, [&](Ix k) {
      w.loop(0, t.lanes, 1,
             [&](Ix c) { w.store(w.load(b, start(c) + k), at.buffer, k * t.width + Ix(v * t.lanes) + c); });
    });
  }

  /// Up to four results whose operands both run along k.
  void dotTile(ArrayRef<Ix> m, ArrayRef<Ix> n) {
    SmallVector<Ix> fromA, fromB;
    for (auto [row, column] : llvm::zip_equal(m, n)) {
      fromA.push_back(baseA + row * Ix(p.rowA));
      fromB.push_back(baseB + column * Ix(p.transB ? p.k : 1));
    }
    auto step = [&](Ix k, int64_t lanes, Value mask, ValueRange carried) {
      SmallVector<Value> sums;
      for (size_t i = 0; i < m.size(); ++i) {
        sums.push_back(
            multiplyAdd(w.load(a, fromA[i] + k, lanes, mask), w.load(b, fromB[i] + k, lanes, mask), carried[i]));
      }
      return sums;
    };
    int64_t rest = p.k % t.lanes, whole = p.k - rest;
    SmallVector<Value> sums(m.size(), w.constant(0, vector));
    sums = w.loop(0, whole, t.lanes, sums, [&](Ix k, ValueRange carried) { return step(k, t.lanes, {}, carried); });
    if (rest && w.machine.maskedAccess) {
      sums = step(whole, t.lanes, w.maskFor(rest, t.lanes), sums);
    }
    for (Value &sum : sums) {
      sum = across(w, Combine::Add, sum);
    }
    if (rest && !w.machine.maskedAccess) {
      sums = w.loop(whole, p.k, 1, sums, [&](Ix k, ValueRange carried) { return step(k, 1, {}, carried); });
    }
    for (size_t i = 0; i < m.size(); ++i) {
      group.finish(sums[i], space, point(m[i], n[i], 1));
    }
  }
};

class MatMul : public KernelFamily {
public:
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    Problem p = problemOf(kernel);
    Tiling t = tilingOf(p, machine);
    shape.items = std::max<int64_t>(1, t.dots ? p.batch : p.batch * t.blocks * t.panels);
    if (p.m == 0 || p.n == 0) {
      return shape;
    }
    if (t.from == From::Scratch) {
      shape.scratchBytes = std::max<int64_t>(64, shape.items.number() * t.panelElements(p) * p.elementBytes);
    } else if (t.from == From::Packed) {
      plan::WeightTable::Recipe recipe;
      recipe.key = llvm::formatv("panels {0} {1} {2} {3} {4}", t.width, p.k, p.n, p.matricesB, p.transB).str();
      recipe.bytes = p.matricesB * t.matrixElements(p) * p.elementBytes;
      recipe.pack = [p, t](ArrayRef<char> from, MutableArrayRef<char> to) { packPanels(p, t, from, to); };
      shape.packed[operandNumber(cast<onnx::MatMulOp>(rootOf(kernel)).getB())] = recipe;
    }
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Problem p = problemOf(build.group.kernel);
    Tiling t = tilingOf(p, build.w.machine);
    if (p.m == 0 || p.n == 0 || p.batch == 0) {
      return success();
    }
    Product product(build, p, t);
    t.dots ? product.dots() : product.tiles();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createMatMulFamily() { return std::make_unique<MatMul>(); }

} // namespace ingot::lower
