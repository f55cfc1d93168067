// Writes matrix products C[M, N] = A * B as register tiles of `rows` broadcasts of A times `vectors` vectors of B
// (docs/performance.md):
//
//   for a block of rows that the L2 cache holds / for a panel of B, `vectors` wide and K deep / for a tile of rows:
//     for k, four at a time: load the panel's vectors, broadcast each row's A, multiply and add
//     epilogue on the accumulators, store
//
// Of a long panel that comes from memory a K-chunk is read by all tiles before the next one, and accumulators are
// spilled to the stack meanwhile.
//
// B lies in panels [ceil(N / width)][K][width]: packed at compile time when it is constant, into scratch while running
// when many tiles of rows read it or it is transposed, and read where it is by few. A is read where it is. Rows are cut
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
//  - k: loops with as many iterations as there are.
#include "compiler/lower/core/Instructions.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/lower/product/MatMulPlan.h"
#include "compiler/lower/product/SpilledAccumulators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

using support::Size;
using Problem = MatMulProblem;
using Tiling = MatMulTiling;
using From = Tiling::From;

/// Writes one kernel.
class Product {
public:
  Product(Build &build, const Problem &p, const Tiling &t)
      : build(build), w(build.w), group(build.group), p(p), t(t), bytes(p.bytes(build.w.machine)),
        space(group.space(rootType())) {
    shapeSpace(space, p);
    a = group.buffer(group.root->getOperand(0)), b = group.buffer(group.root->getOperand(1));
    b = p.isInteger() ? ByteProducts::words(w, b) : b;
    vector = w.vectorOf(p.element, t.lanes);
    if (!t.dots && mayEndEarly() && !w.machine.maskedAccess) {
      tail = w.local(p.element, t.lanes * t.mostRows(p));
    }
    if (t.chunkSteps) {
      spilled.emplace(w, p.element, t.lanes, t.spilledTiles * t.mostRows(p) * t.vectors);
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
  ByteProducts bytes; ///< where the problem is of them
  Space space;
  Buffer a, b, tail;
  std::optional<SpilledAccumulators> spilled;
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
  /// Returns the place of a work item in the batch, and its rows.
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

  /// Computes a panel whose number of columns the run determines: with all its vectors if it is whole, else vector by
  /// vector.
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

  /// Returns an element of A in all lanes; of bfloat16 it is a pair of elements, as a word of 32 bits.
  Value elementOf(Ix at) {
    if (!p.isBf16()) {
      return w.splat(w.load(a, at), t.lanes);
    }
    Value pair = w.load(Buffer{a.memref, w.b.getI16Type()}, at, 2);
    Value word = vector::BitCastOp::create(w.b, w.loc, VectorType::get({1}, w.b.getI32Type()), pair);
    return w.splat(vector::ExtractOp::create(w.b, w.loc, word, 0), t.lanes);
  }

  Value multiplyAdd(Value x, Value y, Value z) {
    if (p.isBf16()) {
      auto bf16 = [&](Value v) -> Value {
        return vector::BitCastOp::create(w.b, w.loc, VectorType::get({2 * t.lanes}, w.b.getBF16Type()), v);
      };
      return instruction(w, Instruction::Bfloat16Dot, {z, bf16(x), bf16(y)});
    }
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
    Ix next;                 ///< the panel to fetch meanwhile
    bool isStreamed = false; ///< `next` is this panel itself, some pages further on
    int64_t strip = 0;       ///< columns of a strip; 0: they do not lie in strips
    Size nextStrip = 0;      ///< elements from one strip to the next
  };

  /// Computes results of some rows, `vectors` vectors from a column on. `rest` is how many columns the last vector has;
  /// 0: all.
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
      at.step = t.strip * p.stepRows;
      at.strip = t.strip, at.nextStrip = t.stripElements(p);
      at.next = nextPanel(at.base, rows);
    } else if (t.from == From::InPlace) {
      at.base = baseB + at.column, at.step = p.n, at.mask = mask;
    } else {
      at.buffer = w.scratch(build.scratch, item * Ix(t.panelElements(p) * Size(p.elementBytes)), p.element,
                            memoryExtent(t.panelElements(p)));
      packPanel(at, mask);
    }
    at.base = isOpen() ? w.hidden(at.base) : at.base;
    if (t.highest) {
      return openTiles(at, rows);
    }
    auto tiles = [&](TileBody body) { eachTile(rows, body); };
    if (t.chunkSteps) {
      return inParts(at, rows.to - rows.from, tiles);
    }
    Panel read = t.tiles == 1 && isStream(p.m.number()) ? streamed(at) : at;
    tiles([&](Ix row, int64_t count, Ix index) { tile(read, row, count, index); });
  }

  /// The body of a loop over tiles: the first row of a tile, how many rows it has, and its number in the work item.
  using TileBody = llvm::function_ref<void(Ix row, int64_t count, Ix index)>;

  /// Goes over the panel in K-chunks, each with all tiles. The chunk that is prefetched meanwhile is the next one,
  /// which may be the first one of the next panel.
  void inParts(Panel at, Ix tiles, llvm::function_ref<void(TileBody)> eachTile) {
    int64_t vectorsOfTile = t.mostRows(p) * t.vectors;
    auto load = [&](Ix index, int64_t count) { return spilled->load(index * vectorsOfTile, count * at.vectors); };
    spilled->clear(tiles * vectorsOfTile);
    w.loop(0, p.k, t.chunkSteps, [&](Ix from) {
      Steps part{from, min(from + Ix(t.chunkSteps), Ix(p.k))};
      at.next = w.hidden(at.base + part.to * at.step);
      eachTile([&](Ix row, int64_t count, Ix index) {
        spilled->store(accumulate(at, row, count, index, part, load(index, count)), index * vectorsOfTile);
      });
    });
    eachTile([&](Ix row, int64_t count, Ix index) { finish(at, row, count, load(index, count)); });
  }

  /// Returns where the panel begins that is prefetched while this one is read: the next one. A single tile of rows
  /// would be held up by that, because it reads as fast as memory gives: its prefetches are of the panel that it reads.
  Ix nextPanel(Ix base, const Rows &rows) {
    Ix next = base + Ix(t.panelElements(p));
    if (!t.highest) {
      return next;
    }
    Value single = w.compare(arith::CmpIPredicate::eq, rows.count, 1);
    return w.ix(arith::SelectOp::create(w.b, w.loc, single, w.value(base), w.value(next)));
  }

  /// Returns the panel as a single tile of rows streams it from memory, with prefetches of what it reads some pages
  /// later.
  Panel streamed(Panel panel) const {
    panel.isStreamed = true, panel.next = panel.base + Ix(linesAhead * lineElements());
    return panel;
  }
  /// Whether streaming pays: weights do not stay in the second cache, and a line is multiplied for some cycles. With
  /// fewer rows the machine itself looks far enough ahead, and prefetches cost a tenth.
  bool isStream(int64_t rows) const {
    if (t.from != From::Packed || t.cutsStrips()) {
      return false;
    }
    int64_t bytes = (t.matrixElements(p) * p.matricesB).number() * p.weightBytes;
    return bytes > w.machine.l2Bytes / 2 &&
           2 * w.machine.tuning.streamCycles * t.lanes * p.weightBytes <= rows * w.machine.lineBytes;
  }
  static constexpr int64_t linesAhead = 256;

  /// Calls `body` with tiles of rows whose number is known: first those that have one row more.
  void eachTile(const Rows &rows, TileBody body) {
    Ix from = rows.from, to = rows.to;
    int64_t small = p.m.number() / t.tiles, larger = p.m.number() % t.tiles;
    if (larger) {
      w.loop(from, min(to, larger), 1, [&](Ix i) { body(i * Ix(small + 1), small + 1, i - from); });
    }
    w.loop(max(from, larger), to, 1, [&](Ix i) { body(Ix(larger) + i * Ix(small), small, i - from); });
  }

  /// Computes tiles of rows whose number the run determines. If the tiles are too few to prefetch half of the next
  /// panel, the first one streams this panel instead.
  void openTiles(const Panel &at, const Rows &rows) {
    const int64_t few = streamedTiles(w.machine);
    for (int64_t h = t.dotsForFew ? 3 : 1; h <= t.highest; ++h) {
      auto each = [&](Ix first, TileBody body) {
        Ix last = rows.to - Ix(h);
        w.loop(first, rows.count, 1, [&](Ix i) { body(min(rows.from + i * Ix(h), last), h, i); });
      };
      auto tiles = [&](Ix first) { each(first, [&](Ix row, int64_t count, Ix i) { tile(at, row, count, i); }); };
      w.ifThen(w.compare(arith::CmpIPredicate::eq, rows.height, h), [&] {
        if (h < t.highest && isStream(h)) {
          Value areFew = w.compare(arith::CmpIPredicate::sle, rows.count, few);
          w.ifThen(areFew, [&] { tile(streamed(at), rows.from, h, 0); });
          return tiles(w.ix(arith::SelectOp::create(w.b, w.loc, areFew, w.value(1), w.value(0))));
        }
        // The highest is that of many rows: beside code for one tile its loop became 4 % slower.
        if (h < t.highest || !t.chunkSteps) {
          return tiles(0);
        }
        w.ifElse(
            w.compare(arith::CmpIPredicate::sgt, rows.count, t.spilledTiles), [&] { tiles(0); },
            [&] { inParts(at, rows.count, [&](TileBody body) { each(0, body); }); });
      });
    }
  }

  void tile(const Panel &panel, Ix row, int64_t rows, Ix indexInBlock) {
    SmallVector<Value> zeros(rows * panel.vectors, w.constant(0, vector));
    finish(panel, row, rows, accumulate(panel, row, rows, indexInBlock, {0, Ix(p.k) - Ix(p.restA ? 1 : 0)}, zeros));
  }

  void finish(const Panel &panel, Ix row, int64_t rows, ArrayRef<Value> sums) {
    bool cut = panel.partial && tail; // the last vectors are finished element by element
    int64_t whole = panel.vectors - (cut ? 1 : 0);
    SmallVector<Value> vectors;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      int64_t v = static_cast<int64_t>(i) % panel.vectors;
      if (v < whole) {
        vectors.push_back(sum);
      } else {
        w.store(sum, tail, static_cast<int64_t>(i) / panel.vectors * t.lanes);
      }
    }
    if (whole) {
      group.finishTile(vectors, whole, space, [&](Ix i, int64_t v) {
        bool partial = panel.partial && v + 1 == panel.vectors;
        return point(row + i, panel.column + Ix(v * t.lanes), t.lanes, partial ? panel.live : Value());
      });
    }
    if (cut) {
      Ix column = panel.column + Ix((panel.vectors - 1) * t.lanes);
      w.loop(0, rows, 1, [&](Ix i) {
        w.loop(0, panel.rest, 1,
               [&](Ix c) { group.finish(w.load(tail, i * t.lanes + c), space, point(row + i, column + c, 1)); });
      });
    }
  }

  /// Returns how many tiles of so many rows share the prefetches of the next panel: all of a block or, where their
  /// number depends on the run, a few. A single tile prefetches nothing of it; tiles of at most half of the highest
  /// one's rows are taken for single ones.
  int64_t tilesThatFetch(int64_t rows) const {
    bool few = t.highest ? 2 * rows <= t.highest : t.tiles == 1;
    if (t.from != From::Packed || t.cutsStrips() || t.panels.is(1) || few) {
      return 0;
    }
    return t.highest ? w.machine.tuning.fetchingTiles : t.tilesPerBlock;
  }

  /// Elements of B in a cache line.
  int64_t lineElements() const {
    return w.machine.lineBytes / (t.from == From::Scratch ? p.elementBytes : p.weightBytes);
  }

  /// A range of steps along K. A last step of fewer bytes than others is not among them.
  struct Steps {
    Ix from, to;
  };

  SmallVector<Value> accumulate(const Panel &panel, Ix row, int64_t rows, Ix indexInBlock, const Steps &steps,
                                SmallVector<Value> sums) {
    const bool byOne = p.isInteger() && bytes.takesTwoInstructions();
    const int64_t unroll = byOne ? 1 : w.machine.tuning.unroll;
    Ix fromA = baseA + row * Ix(p.rowA);
    fromA = isOpen() ? w.hidden(fromA) : fromA;
    int64_t fetching = panel.isStreamed ? 1 : tilesThatFetch(rows);
    int64_t ahead =
        fetching ? llvm::divideCeil(unroll * p.stepRows * t.width, lineElements() * fetching) : 0; ///< lines
    Ix index = t.highest ? min(indexInBlock, fetching - 1) : indexInBlock;
    Ix aheadStep = panel.isStreamed ? panel.step : Ix(ahead * lineElements() / unroll);
    auto step = [&](Ix k, int64_t count, ValueRange carried, std::optional<int64_t> elements = {}) {
      SmallVector<Value> sums(carried);
      Ix atA = fromA + k * Ix(p.stepA), atB = panel.base + k * panel.step;
      for (int64_t u = 0; u < count; ++u) {
        p.isInteger() ? byteStep(panel, sums, rows, atA + Ix(u) * Ix(p.stepA), atB + Ix(u) * panel.step,
                                 elements.value_or(bytes.step()))
                      : oneStep(panel, sums, rows, atA + Ix(u) * Ix(p.stepA), atB + Ix(u) * panel.step);
      }
      return sums;
    };
    Ix count = steps.to - steps.from, rest = remainder(count, unroll), whole = steps.to - rest;
    auto iteration = [&](Ix k, ValueRange carried) {
      for (int64_t i = 0; i < ahead; ++i) {
        w.prefetch(panel.buffer,
                   panel.next + (index * (whole - steps.from) + (k - steps.from)) * aheadStep + Ix(i * lineElements()));
      }
      return step(k, unroll, carried);
    };
    sums = w.loop(steps.from, whole, unroll, sums, iteration, /*unroll=*/!byOne);
    if (rest.known()) {
      sums = step(whole, rest.number(), sums);
      return p.restA ? step(steps.to, 1, sums, p.restA) : sums;
    }
    if (t.chunkSteps) { // chunks are whole iterations
      return sums;
    }
    return w.loop(whole, steps.to, 1, sums, [&](Ix k, ValueRange carried) { return step(k, 1, carried); });
  }

  /// Returns the distance from the beginning of a panel's row to vector `v` of it, in elements.
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
      Value broadcast = elementOf(atA + Ix(i) * Ix(p.rowA));
      for (int64_t v = 0; v < panel.vectors; ++v) {
        Value &sum = sums[i * panel.vectors + v];
        sum = multiplyAdd(broadcast, vectors[v], sum);
      }
    }
  }

  void byteStep(const Panel &panel, MutableArrayRef<Value> sums, int64_t rows, Ix atA, Ix atB, int64_t count) {
    SmallVector<Value> vectors; // rows of one vector behind each other
    for (int64_t v = 0; v < panel.vectors; ++v) {
      for (int64_t row = 0; row < p.stepRows; ++row) {
        vectors.push_back(w.load(panel.buffer, atB + Ix(row * panel.strip) + vectorOf(panel, v), t.lanes));
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      auto x = bytes.elements(w, a, atA + Ix(i) * Ix(p.rowA), t.lanes, count);
      for (int64_t v = 0; v < panel.vectors; ++v) {
        Value &sum = sums[i * panel.vectors + v];
        sum = bytes.add(w, sum, x, ArrayRef(vectors).slice(v * p.stepRows, p.stepRows));
      }
    }
  }

  /// Copies B's columns of this panel into scratch memory, [k][width].
  void packPanel(const Panel &at, Value mask) {
    int64_t whole = at.partial ? at.vectors - 1 : at.vectors;
    if (p.transB) {
      for (int64_t v = 0; v < at.vectors; ++v) {
        packTransposed(at, v, at.column + Ix(v * t.lanes));
      }
      return;
    }
    // All vectors of a row are copied before the next row: each is in another page where rows are long.
    w.loop(0, p.k, 1, [&](Ix k) {
      Ix from = baseB + k * Ix(p.n) + at.column, to = k * t.width;
      for (int64_t v = 0; v < at.vectors; ++v) {
        Ix column = v * t.lanes;
        if (v == whole && !mask) {
          w.loop(0, at.rest, 1, [&](Ix c) { w.store(w.load(b, from + column + c), at.buffer, to + column + c); });
        } else {
          w.store(w.load(b, from + column, t.lanes, v == whole ? mask : Value()), at.buffer, to + column);
        }
      }
    });
  }

  /// Copies `lanes` columns of a transposed B, square by square. Columns behind the end are copies of the last one,
  /// whose sums nobody reads.
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

  /// Calls body(first, count) for [from, to), four at a time or nearly so.
  void inFours(Ix from, Ix to, llvm::function_ref<void(Ix first, int64_t count)> body) {
    if (from.is(0) && to.known()) {
      return w.balanced(to.number(), 4, body);
    }
    Ix whole = to - remainder(to - from, 4);
    w.loop(from, whole, 4, [&](Ix i) { body(i, 4); });
    w.loop(whole, to, 1, [&](Ix i) { body(i, 1); });
  }

  /// Computes columns [from, to) of one row as dot products.
  void dotRow(Ix m, Ix from, Ix to) {
    inFours(from, to, [&](Ix first, int64_t count) {
      SmallVector<Ix> n;
      for (int64_t i = 0; i < count; ++i) {
        n.push_back(first + Ix(i));
      }
      dotTile(SmallVector<Ix>(count, m), n);
    });
  }

  /// Computes up to four results as dot products, since both operands run along k.
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

} // namespace

void buildPanels(Build &build, const MatMulProblem &p, const MatMulTiling &t) {
  Product product(build, p, t);
  t.dots ? product.dots() : product.tiles();
}

} // namespace ingot::lower
