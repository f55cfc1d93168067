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
// In a library for several machines (MachineModel::packing) constants lie in strips of one vector of that machine,
// [ceil(N / strip)][K][strip], and a panel is some strips side by side, or a part of one.
// Products whose operands both run along k (a vector B; a transposed B under one or two rows) are dot products instead.
//
// Each of the sizes may depend on the run:
//  - rows: all tiles of a work item have one height, the least that does with as few tiles as the highest; the last one
//    begins earlier where it would reach over the end, and computes some rows twice (a result has the same bits
//    whatever tile it is in). There is code for each height, as one more pass over a panel costs more than any other
//    waste;
//  - columns: the panel at the end is walked vector by vector, each with a mask;
//  - k: loops with as many turns as there are.
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

using support::Size;
using support::Sizes;

/// The product as [batch][m][k] * [batch][k][n], with strides in elements.
struct Problem {
  Type element;
  int64_t elementBytes = 4;
  bool vectorA = false, vectorB = false; ///< one-dimensional operands: the result lacks that axis
  Sizes batchSizes, batchA, batchB;      ///< batchA: stride in elements; batchB: in matrices
  Size batch = 1, m = 1, n = 1, k = 1;
  Size rowA = 0, stepA = 1;    ///< of A along m and k
  Size stepB = 1, columnB = 1; ///< of B, where it is read in place, along k and n
  Size matricesB = 1;
  bool constantB = false, transB = false;
  bool merged = false; ///< batch dimensions are part of m
};

enum class From { Packed, Scratch, InPlace };

/// So many tiles of a block fetch the next panel, where it is not known how many tiles there are.
constexpr int64_t fetchingTiles = 2;

/// How the product is cut.
struct Tiling {
  bool dots = false;
  From from = From::Packed;
  int64_t lanes = 1, vectors = 1, width = 1;
  int64_t strip = 1; ///< columns that lie side by side in a packed constant: `width`, or a multiple or part of it
  Size panels = 1, blocks = 1;
  // Columns of the last panel, where their number is known.
  int64_t lastVectors = 1;
  int64_t rest = 0; ///< columns in the last vector when it is not full
  // Rows: either their number is known,
  int64_t tiles = 1, tilesPerBlock = 1;
  // or tiles have so many at most, in this many blocks, none where there are no rows: what may be zero is no divisor
  // that is divided by ahead of the few rows that need no division.
  int64_t highest = 0;
  Size blocksOfRows = 1;
  bool dotsForFew = false; ///< dot products where a work item has two rows at most

  Size panelElements(const Problem &p) const { return p.k * Size(width); }
  Size stripElements(const Problem &p) const { return p.k * Size(strip); }
  Size matrixElements(const Problem &p) const { return ceilDiv(panels * Size(width), strip) * stripElements(p); }
  bool cutsStrips() const { return width < strip; }
  int64_t mostRows(const Problem &p) const { return highest ? highest : llvm::divideCeil(p.m.number(), tiles); }
};

/// Strides of an operand over the result's batch dimensions: 0 where it is broadcast. `step` is the stride of its last
/// batch axis.
Sizes batchStrides(const Sizes &sizes, const Sizes &batchSizes, Size step) {
  Sizes strides(batchSizes.size(), 0);
  size_t own = sizes.size() < 2 ? 0 : sizes.size() - 2, shift = batchSizes.size() - own;
  for (size_t i = own; i-- > 0;) {
    strides[i + shift] = sizes[i].repeats() ? Size(0) : step;
    step = step * sizes[i];
  }
  return strides;
}

/// Whether all that the epilogue reads walks the first `rows` result dimensions as one: everything along them or
/// nothing.
bool rowsMerge(plan::KernelOp kernel, Operation *root, ArrayRef<Size> shape, int64_t rows) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || llvm::all_of(argument.getUsers(), [&](Operation *user) { return user == root; })) {
      continue;
    }
    bool along = false, broadcast = false;
    int64_t shift = static_cast<int64_t>(shape.size()) - type.getRank();
    Sizes sizes = onnx::sizesOf(type);
    for (int64_t d = 0; d < rows; ++d) {
      if (!shape[d].is(1)) {
        (d >= shift && !sizes[d - shift].repeats() ? along : broadcast) = true;
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
  Sizes sa = onnx::sizesOf(a), sb = onnx::sizesOf(b), shape = onnx::sizesOf(y);
  p.k = op.getTransA() ? sa[sa.size() - 2] : sa.back();
  if (!p.k.isNumber()) { // the same by requirement, and perhaps a number
    p.k = p.vectorB ? sb.back() : sb[sb.size() - (p.transB ? 1 : 2)];
  }
  p.m = p.vectorA ? Size(1) : sa[sa.size() - (op.getTransA() ? 1 : 2)];
  p.n = p.vectorB ? Size(1) : sb[sb.size() - (p.transB ? 2 : 1)];
  p.rowA = op.getTransA() ? Size(1) : p.k, p.stepA = op.getTransA() ? p.m : Size(1);
  p.stepB = p.transB ? Size(1) : p.n, p.columnB = p.transB ? p.k : Size(1);
  int64_t matrixDims = !p.vectorA + !p.vectorB;
  p.batchSizes.assign(shape.begin(), shape.end() - matrixDims);
  p.batch = product(p.batchSizes);
  p.matricesB = sb.size() > 2 ? product(ArrayRef<Size>(sb).drop_back(2)) : Size(1);
  bool several = !p.batch.isNumber() || p.batch.number() > 1;
  bool alike = p.matricesB.is(1) && several && !p.vectorA && !op.getTransA();
  if (alike && rowsMerge(kernel, op, shape, y.getRank() - !p.vectorB)) {
    p.merged = true;
    p.m = p.m * p.batch, p.batch = 1;
    p.batchSizes.clear();
  } else {
    p.batchA = batchStrides(sa, p.batchSizes, p.m * p.k);
    p.batchB = batchStrides(sb, p.batchSizes, 1);
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

/// What a size that is not known is taken for where nothing but speed depends on it.
int64_t assumed(const Size &size, int64_t otherwise) { return size.isNumber() ? size.number() : otherwise; }

/// Columns: `most` vectors in a panel, fewer where there are no more or the panels then are alike. Where there are
/// strips of `strip` columns (0: none), whole ones or a part of one.
void cutColumns(Tiling &t, const Problem &p, int64_t most, int64_t strip) {
  if (!p.n.isNumber()) {
    t.vectors = most, t.width = t.strip = most * t.lanes;
    t.panels = max(Size(1), ceilDiv(p.n, t.width));
    return;
  }
  int64_t columns = llvm::divideCeil(p.n.number(), t.lanes);
  t.vectors = std::min(columns, most);
  t.vectors = llvm::divideCeil(columns, llvm::divideCeil(columns, t.vectors)); // panels alike
  while (strip && t.vectors * t.lanes % strip && strip % (t.vectors * t.lanes)) {
    --t.vectors;
  }
  t.width = t.vectors * t.lanes, t.strip = strip ? strip : t.width;
  int64_t panels = llvm::divideCeil(columns, t.vectors);
  t.panels = panels;
  t.lastVectors = columns - (panels - 1) * t.vectors;
  t.rest = p.n.number() % t.lanes;
}

/// Tiles of rows whose number is known, and the blocks that they are run in.
void cutRows(Tiling &t, const Problem &p, const target::MachineModel &machine, int64_t rows) {
  t.tilesPerBlock = t.tiles;
  if (t.from != From::Scratch) {
    int64_t k = assumed(p.k, 256), items = assumed(t.panels * p.batch, 16);
    int64_t held = std::max<int64_t>(1, machine.l2Bytes / 2 / std::max<int64_t>(1, rows * k * p.elementBytes));
    // Enough items for several threads, but none with fewer than so many multiplications.
    int64_t least = llvm::divideCeil(int64_t(1) << 17, std::max<int64_t>(1, rows * k * t.width));
    t.tilesPerBlock = std::min({t.tiles, held, std::max(least, t.tiles * items / 16)});
  }
  t.blocks = static_cast<int64_t>(llvm::divideCeil(t.tiles, t.tilesPerBlock));
}

/// Blocks of rows whose number depends on the run, by the same measures.
void cutOpenRows(Tiling &t, const Problem &p, const target::MachineModel &machine) {
  if (t.from == From::Scratch) { // each block would pack the panel again
    return;
  }
  int64_t k = std::max<int64_t>(1, assumed(p.k, 256)), items = std::max<int64_t>(1, assumed(t.panels * p.batch, 4));
  int64_t held = std::max(t.highest, machine.l2Bytes / 2 / (k * p.elementBytes));
  int64_t least = std::max(t.highest, (int64_t(1) << 17) / (k * t.width));
  Size enough = min(ceilDiv(p.m, least), static_cast<int64_t>(llvm::divideCeil(16, items)));
  t.blocksOfRows = max(ceilDiv(p.m, held), enough);
  t.blocks = max(Size(1), t.blocksOfRows);
}

int64_t lanesOf(const Problem &p, const target::MachineModel &machine) {
  return std::max<int64_t>(1, machine.lanes * 4 / std::max<int64_t>(p.elementBytes, 4));
}

Tiling tilingOf(const Problem &p, const target::MachineModel &machine) {
  Tiling t;
  t.lanes = lanesOf(p, machine);
  bool alongK = p.stepA.is(1) && (p.n.is(1) || p.transB), openRows = !p.m.isNumber();
  bool dotsPay = alongK && !p.constantB;
  t.dots = alongK && (p.n.is(1) || (dotsPay && !openRows && p.m.number() <= 2));
  if (t.dots || p.m.is(0) || p.n.is(0)) {
    t.from = From::InPlace;
    return t;
  }
  // Rows of A that lie a multiple of 4 KiB apart compete for the same cache sets: fewer of them at a time when they are
  // long.
  bool few = openRows || (assumed(p.k, 0) > 768 && p.stepA.is(1));
  int64_t most = few ? std::min<int64_t>(8, machine.matmulTile.rows) : machine.matmulTile.rows;
  t.tiles = openRows ? 1 : llvm::divideCeil(p.m.number(), most);
  int64_t rows = openRows ? most : llvm::divideCeil(p.m.number(), t.tiles);
  t.highest = openRows ? most : 0;
  cutColumns(t, p, vectorsFor(rows, machine), p.constantB && machine.packing ? lanesOf(p, *machine.packing) : 0);
  bool whole = p.n.isNumber() && t.rest == 0;
  bool readable = !p.transB && (whole || machine.maskedAccess || t.lanes == 1);
  t.from = p.constantB ? From::Packed : (readable && t.tiles <= 2 ? From::InPlace : From::Scratch);
  t.dotsForFew = openRows && dotsPay;
  openRows ? cutOpenRows(t, p, machine) : cutRows(t, p, machine, rows);
  return t;
}

/// Constant B -> panels, zero padded.
void packPanels(const Problem &p, const Tiling &t, ArrayRef<char> from, MutableArrayRef<char> to) {
  int64_t size = p.elementBytes, rows = p.k.number(), n = p.n.number();
  int64_t stepB = p.stepB.number(), columnB = p.columnB.number(), strip = t.stripElements(p).number() * size;
  for (int64_t matrix = 0; matrix < p.matricesB.number(); ++matrix) {
    const char *b = from.data() + matrix * rows * n * size;
    char *out = to.data() + matrix * t.matrixElements(p).number() * size;
    for (int64_t n0 = 0; n0 < n; n0 += t.strip, out += strip) {
      int64_t columns = std::min(t.strip, n - n0);
      for (int64_t k = 0; k < rows; ++k) {
        char *row = out + k * t.strip * size;
        const char *source = b + (k * stepB + n0 * columnB) * size;
        if (columnB == 1) {
          std::copy_n(source, columns * size, row);
          continue;
        }
        for (int64_t c = 0; c < columns; ++c) {
          std::copy_n(source + c * columnB * size, size, row + c * size);
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
    if (!t.dots && mayEndEarly() && !w.machine.maskedAccess) {
      tail = w.local(p.element, t.lanes * t.mostRows(p));
    }
  }

  void tiles() {
    w.loop(build.begin, build.end, 1, [&](Ix item) {
      Ix panel = remainder(item, t.panels);
      auto [matrix, rows] = rowsOf(floorDiv(item, t.panels));
      enterBatch(matrix);
      if (!t.dotsForFew) {
        return panelOf(item, panel, rows);
      }
      Value few = w.compare(arith::CmpIPredicate::sle, rows.to - rows.from, 2);
      w.ifThen(few, [&] {
        Ix from = panel * t.width, to = min(from + Ix(t.width), p.n);
        w.loop(rows.from, rows.to, 1, [&](Ix m) { dotRow(m, from, to); });
      });
      w.ifThen(w.compare(arith::CmpIPredicate::sgt, rows.to - rows.from, 2), [&] { panelOf(item, panel, rows); });
    });
  }

  void dots() {
    w.loop(build.begin, build.end, 1, [&](Ix item) {
      enterBatch(item);
      if (p.n.is(1)) {
        return inFours(0, p.m, [&](Ix first, int64_t count) {
          SmallVector<Ix> m;
          for (int64_t i = 0; i < count; ++i) {
            m.push_back(first + Ix(i));
          }
          dotTile(m, SmallVector<Ix>(count, 0));
        });
      }
      w.loop(0, p.m, 1, [&](Ix m) { dotRow(m, 0, p.n); });
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

  /// Whether some size depends on the run: places are then computed by more than a multiplication.
  bool isOpen() const { return !(p.batch * p.m * p.n * p.k).isNumber(); }

  /// Whether some vector of the last panel may have fewer columns than lanes.
  bool mayEndEarly() const { return t.lanes > 1 && (t.rest || !p.n.isNumber()); }

  /// A work item's rows: tiles [from, to) where their number is known, else rows [from, to) in `count` tiles of one
  /// `height`.
  struct Rows {
    Ix from, to, count, height;
  };
  /// Its place in the batch, and its rows.
  std::pair<Ix, Rows> rowsOf(Ix item) {
    if (!t.highest) {
      Ix from = remainder(item, t.blocks) * t.tilesPerBlock;
      return {floorDiv(item, t.blocks), {from, min(from + Ix(t.tilesPerBlock), t.tiles), {}, {}}};
    }
    // Divisions by what is not known take as long as a small product: few rows need none.
    Value few = w.compare(arith::CmpIPredicate::sle, p.m, t.highest);
    Ixs all = w.choose(few, [&] { return Ixs{item, 0, p.m, 1, p.m}; }, [&] { return openRowsOf(item); });
    return {all[0], {all[1], all[2], all[3], all[4]}};
  }
  Ixs openRowsOf(Ix item) {
    Ix height = t.highest, from = 0, to = p.m, matrix = item;
    if (!t.blocksOfRows.is(1)) {
      Ix blocks = w.ix(w.value(t.blocksOfRows)), wanted = floorDiv(blocks + p.m - 1, blocks);
      Ix rows = floorDiv(wanted + (height - 1), height) * height;
      from = min(remainder(item, blocks) * rows, p.m), to = min(from + rows, p.m);
      matrix = floorDiv(item, blocks);
    }
    Ix rows = to - from, count = floorDiv(rows + Ix(height - 1), height);
    return {matrix, from, to, count, floorDiv(rows + count - 1, max(count, 1))};
  }

  void panelOf(Ix item, Ix panel, const Rows &rows) {
    if (!p.n.isNumber()) {
      return openPanel(item, panel, rows);
    }
    bool odd = t.lastVectors != t.vectors || t.rest;
    if (!odd || t.panels.is(1)) {
      return columns(item, panel, panel * t.width, rows, t.lastVectors, t.rest);
    }
    Value last = w.compare(arith::CmpIPredicate::eq, panel, t.panels - Size(1));
    Value before = w.compare(arith::CmpIPredicate::ne, panel, t.panels - Size(1));
    w.ifThen(before, [&] { columns(item, panel, panel * t.width, rows, t.vectors, 0); });
    w.ifThen(last, [&] { columns(item, panel, panel * t.width, rows, t.lastVectors, t.rest); });
  }

  /// A panel of which is not known how many columns it has: all of them, or so many that its vectors are taken one by
  /// one.
  void openPanel(Ix item, Ix panel, const Rows &rows) {
    Ix from = panel * t.width, to = from + Ix(t.width);
    w.ifThen(w.compare(arith::CmpIPredicate::sle, to, p.n), [&] { columns(item, panel, from, rows, t.vectors, 0); });
    w.ifThen(w.compare(arith::CmpIPredicate::sgt, to, p.n), [&] {
      w.loop(from, p.n, t.lanes, [&](Ix column) {
        Ix rest = t.lanes > 1 ? min(Ix(p.n) - column, t.lanes) : Ix(0);
        columns(item, panel, column, rows, 1, rest);
      });
    });
  }

  void enterBatch(Ix index) {
    batchAt.assign(p.batchSizes.size(), 0);
    baseA = 0, matrixB = 0;
    for (size_t d = p.batchSizes.size(); d-- > 0;) {
      bool outermost = d == 0 && !p.batchSizes[d].isNumber();
      batchAt[d] = outermost ? index : remainder(index, p.batchSizes[d]), index = floorDiv(index, p.batchSizes[d]);
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
    Ix step;   ///< from one k to the next
    Ix column; ///< of the result
    int64_t vectors;
    Value mask;   ///< of the last vector, where a load must not run over
    bool partial; ///< the last vector has `rest` columns, those of the mask `live` where the machine has masked access
    Ix rest;
    Value live;
    Ix next;           ///< the panel to fetch meanwhile
    int64_t strip = 0; ///< where its columns lie in strips, and the elements from one to the next
    Size nextStrip = 0;
  };

  /// Results of some rows, of `vectors` vectors from a column on; `rest`: columns of the last one, 0 for all.
  void columns(Ix item, Ix panel, Ix column, const Rows &rows, int64_t vectors, Ix rest) {
    Panel at{b, {}, t.width, column, vectors, {}, !rest.is(0), rest, {}, {}};
    Value mask = at.live = at.partial && w.machine.maskedAccess ? w.maskFor(rest, t.lanes) : Value();
    if (t.from == From::Packed) {
      at.base = matrixB * Ix(t.matrixElements(p)) + panel * Ix(t.panelElements(p));
      if (t.cutsStrips()) {
        Ix parts = t.strip / t.width, strip = floorDiv(panel, parts);
        at.base =
            matrixB * Ix(t.matrixElements(p)) + strip * Ix(t.stripElements(p)) + remainder(panel, parts) * Ix(t.width);
      }
      at.step = t.strip;
      at.strip = t.strip, at.nextStrip = t.stripElements(p);
      at.next = at.base + Ix(t.panelElements(p));
    } else if (t.from == From::InPlace) {
      at.base = baseB + at.column, at.step = p.n, at.mask = mask;
    } else {
      at.buffer = w.scratch(build.scratch, item * Ix(t.panelElements(p) * Size(p.elementBytes)), p.element,
                            memoryExtent(t.panelElements(p)));
      packPanel(at, mask);
    }
    at.base = isOpen() ? w.settled(at.base) : at.base;
    eachTile(at, rows);
  }

  void eachTile(const Panel &at, const Rows &rows) {
    Ix from = rows.from, to = rows.to;
    if (t.highest) {
      return openTiles(at, rows);
    }
    int64_t small = p.m.number() / t.tiles, larger = p.m.number() % t.tiles;
    if (larger) {
      w.loop(from, min(to, larger), 1, [&](Ix i) { tile(at, i * Ix(small + 1), small + 1, i - from); });
    }
    w.loop(max(from, larger), to, 1, [&](Ix i) { tile(at, Ix(larger) + i * Ix(small), small, i - from); });
  }

  void openTiles(const Panel &at, const Rows &rows) {
    for (int64_t h = t.dotsForFew ? 3 : 1; h <= t.highest; ++h) {
      Ix last = rows.to - Ix(h);
      w.ifThen(w.compare(arith::CmpIPredicate::eq, rows.height, h),
               [&] { w.loop(0, rows.count, 1, [&](Ix i) { tile(at, min(rows.from + i * Ix(h), last), h, i); }); });
    }
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
          group.finish(sum, space, point(row + Ix(i), column, t.lanes, partial ? panel.live : Value()));
        }
      }
    }
    if (panel.partial && tail) {
      Ix column = panel.column + Ix((panel.vectors - 1) * t.lanes);
      w.loop(0, rows, 1, [&](Ix i) {
        w.loop(0, panel.rest, 1,
               [&](Ix c) { group.finish(w.load(tail, i * t.lanes + c), space, point(row + i, column + c, 1)); });
      });
    }
  }

  /// How many tiles of so many rows share the fetching of the next panel: a block of them or, where their number
  /// depends on the run, a few. A single tile of few rows reads as fast as memory gives: there is nothing to fetch
  /// ahead.
  int64_t tilesThatFetch(int64_t rows) const {
    bool few = t.highest ? 2 * rows <= t.highest : t.tiles == 1;
    if (t.from != From::Packed || t.cutsStrips() || t.panels.is(1) || few) {
      return 0;
    }
    return t.highest ? fetchingTiles : t.tilesPerBlock;
  }

  SmallVector<Value> accumulate(const Panel &panel, Ix row, int64_t rows, Ix indexInBlock) {
    constexpr int64_t unroll = 4;
    Ix fromA = baseA + row * Ix(p.rowA);
    fromA = isOpen() ? w.settled(fromA) : fromA;
    int64_t lineElements = 64 / p.elementBytes, fetching = tilesThatFetch(rows);
    int64_t ahead = fetching ? llvm::divideCeil(unroll * t.width, lineElements * fetching) : 0; ///< lines
    Ix index = t.highest ? min(indexInBlock, fetching - 1) : indexInBlock;
    auto step = [&](Ix k, int64_t count, ValueRange carried) {
      SmallVector<Value> sums(carried);
      Ix atA = fromA + k * Ix(p.stepA), atB = panel.base + k * panel.step;
      for (int64_t u = 0; u < count; ++u) {
        oneStep(panel, sums, rows, atA + Ix(u) * Ix(p.stepA), atB + Ix(u) * panel.step);
      }
      return sums;
    };
    Ix whole = Ix(p.k) - remainder(Ix(p.k), unroll), rest = Ix(p.k) - whole;
    SmallVector<Value> zeros(rows * panel.vectors, w.constant(0, vector));
    SmallVector<Value> sums = w.loop(0, whole, unroll, zeros, [&](Ix k, ValueRange carried) {
      if (ahead) {
        Ix line = panel.next + (index * whole + k) * Ix(ahead * lineElements / unroll);
        for (int64_t i = 0; i < ahead; ++i) {
          w.prefetch(panel.buffer, line + Ix(i * lineElements));
        }
      }
      return step(k, unroll, carried);
    });
    if (rest.known()) {
      return step(whole, rest.number(), sums);
    }
    return w.loop(whole, p.k, 1, sums, [&](Ix k, ValueRange carried) { return step(k, 1, carried); });
  }

  /// From the beginning of a panel's row to that of a vector in it.
  Ix vectorOf(const Panel &panel, int64_t v) const {
    int64_t column = v * t.lanes;
    return panel.strip ? Ix(column / panel.strip) * Ix(panel.nextStrip) + Ix(column % panel.strip) : Ix(column);
  }

  void oneStep(const Panel &panel, MutableArrayRef<Value> sums, int64_t rows, Ix atA, Ix atB) {
    SmallVector<Value> vectors;
    for (int64_t v = 0; v < panel.vectors; ++v) {
      vectors.push_back(
          w.load(panel.buffer, atB + vectorOf(panel, v), t.lanes, v + 1 == panel.vectors ? panel.mask : Value()));
    }
    for (int64_t i = 0; i < rows; ++i) {
      Value broadcast = w.splat(w.load(a, atA + Ix(i) * Ix(p.rowA)), t.lanes);
      for (int64_t v = 0; v < panel.vectors; ++v) {
        Value &sum = sums[i * panel.vectors + v];
        sum = multiplyAdd(broadcast, vectors[v], sum);
      }
    }
  }

  /// B's columns of this panel into scratch, [k][width].
  void packPanel(const Panel &at, Value mask) {
    Ix rowB = p.n;
    for (int64_t v = 0; v < at.vectors; ++v) {
      bool partial = at.partial && v + 1 == at.vectors;
      Ix column = at.column + Ix(v * t.lanes);
      if (p.transB) {
        packTransposed(at, v, column);
      } else if (partial && !mask) {
        w.loop(0, p.k, 1, [&](Ix k) {
          w.loop(0, at.rest, 1, [&](Ix c) {
            w.store(w.load(b, baseB + k * rowB + column + c), at.buffer, k * t.width + Ix(v * t.lanes) + c);
          });
        });
      } else {
        w.loop(0, p.k, 1, [&](Ix k) {
          w.store(w.load(b, baseB + k * rowB + column, t.lanes, partial ? mask : Value()), at.buffer,
                  k * t.width + Ix(v * t.lanes));
        });
      }
    }
  }

  /// `lanes` columns of a transposed B, square by square. Columns past the end read the last one: nobody looks at their
  /// sums.
  void packTransposed(const Panel &at, int64_t v, Ix column) {
    auto start = [&](Ix c) { return baseB + min(column + c, p.n - Size(1)) * Ix(p.k); };
    Ix whole = Ix(p.k) - remainder(Ix(p.k), t.lanes);
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

  // Dot products.

  /// Calls body(first, count) for [from, to), four at a time or nearly so.
  void inFours(Ix from, Ix to, llvm::function_ref<void(Ix first, int64_t count)> body) {
    if (from.is(0) && to.known()) {
      return w.balanced(to.number(), 4, body);
    }
    Ix whole = to - remainder(to - from, 4);
    w.loop(from, whole, 4, [&](Ix i) { body(i, 4); });
    w.loop(whole, to, 1, [&](Ix i) { body(i, 1); });
  }

  /// Columns [from, to) of one row.
  void dotRow(Ix m, Ix from, Ix to) {
    inFours(from, to, [&](Ix first, int64_t count) {
      SmallVector<Ix> n;
      for (int64_t i = 0; i < count; ++i) {
        n.push_back(first + Ix(i));
      }
      dotTile(SmallVector<Ix>(count, m), n);
    });
  }

  /// Up to four results whose operands both run along k.
  void dotTile(ArrayRef<Ix> m, ArrayRef<Ix> n) {
    SmallVector<Ix> fromA, fromB;
    for (auto [row, column] : llvm::zip_equal(m, n)) {
      fromA.push_back(baseA + row * Ix(p.rowA));
      fromB.push_back(baseB + column * (p.transB ? Ix(p.k) : Ix(1)));
    }
    auto step = [&](Ix k, int64_t lanes, Value mask, ValueRange carried) {
      SmallVector<Value> sums;
      for (size_t i = 0; i < m.size(); ++i) {
        sums.push_back(
            multiplyAdd(w.load(a, fromA[i] + k, lanes, mask), w.load(b, fromB[i] + k, lanes, mask), carried[i]));
      }
      return sums;
    };
    Ix rest = remainder(Ix(p.k), t.lanes), whole = Ix(p.k) - rest;
    SmallVector<Value> sums(m.size(), w.constant(0, vector));
    sums = w.loop(0, whole, t.lanes, sums, [&](Ix k, ValueRange carried) { return step(k, t.lanes, {}, carried); });
    if (!rest.is(0) && w.machine.maskedAccess) {
      sums = step(whole, t.lanes, w.maskFor(rest, t.lanes), sums);
    }
    for (Value &sum : sums) {
      sum = across(w, Combine::Add, sum);
    }
    if (!rest.is(0) && !w.machine.maskedAccess) {
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
    shape.items = t.dots ? p.batch : p.batch * t.blocks * t.panels;
    if (p.m.is(0) || p.n.is(0) || p.batch.is(0)) {
      shape.items = 1;
      return shape;
    }
    if (t.from == From::Scratch) {
      Size bytes = shape.items * t.panelElements(p) * Size(p.elementBytes);
      shape.scratchBytes = max(Size(64), bytes);
    } else if (t.from == From::Packed) {
      plan::WeightTable::Recipe recipe;
      recipe.key = llvm::formatv("panels {0} {1} {2} {3} {4}", t.strip, p.k.number(), p.n.number(),
                                 p.matricesB.number(), p.transB)
                       .str();
      recipe.bytes = (p.matricesB * t.matrixElements(p)).number() * p.elementBytes;
      recipe.pack = [p, t](ArrayRef<char> from, MutableArrayRef<char> to) { packPanels(p, t, from, to); };
      shape.packed[operandNumber(cast<onnx::MatMulOp>(rootOf(kernel)).getB())] = recipe;
    }
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Problem p = problemOf(build.group.kernel);
    Tiling t = tilingOf(p, build.w.machine);
    if (p.m.is(0) || p.n.is(0) || p.batch.is(0)) {
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
