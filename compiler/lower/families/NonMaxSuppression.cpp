// Suppresses boxes of each batch and class that overlap better ones. The boxes whose score is above the threshold are
// the candidates. They are sorted by score, equal ones by their number, and each is kept unless it overlaps too much
// one that is kept already, until there are enough.
//
// A candidate is its score and its number in one integer (core/Sort.h), so that sorting reads no scores. Edges and
// areas of kept boxes lie in blocks, a vector of each, so that a candidate is compared with a vector of boxes at a
// time, and with no more once one overlaps. `common / both > overlap` decides, with the rounding of that division, but
// it holds only where common >= both * overlap, rounded. If that does not hold, the quotient is not above `overlap`
// either, since rounding keeps the order. So there is a division for a box that is suppressed, and for nearly none of
// the others. Boxes without an area overlap nothing and are not compared.
//
// Where there are many candidates, most lie nowhere near each other (exporters move the boxes of each class to a place
// of their own to suppress all classes at once). The stretch of the x axis on which boxes begin is cut into 2^n bins,
// these in pairs into 2^(n-1), and so on. These are the cells of a binary tree, whose root is cell 1. A box is kept in
// the cell where it begins, on the first level at which it spans less than the length of a cell, so it ends in that
// cell or the next one. A candidate is therefore compared with the boxes in the cells from the one before its beginning
// to that of its end, on every level. For the result it only matters that bins grow with x; what rounding does to their
// edges does not.
#include "compiler/lower/Family.h"
#include "compiler/lower/core/Sort.h"
#include "compiler/lower/core/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using ingot::onnx::Num;

namespace ingot::lower {
namespace {

/// The edges of one box, or of a vector of boxes, along one axis.
struct Extent {
  Num low, high;
};
/// A box, or a vector of boxes.
struct Box {
  Extent x, y;
  Num area;
};

/// The boxes of one class that are kept and have an area.
class KeptBoxes {
public:
  /// Places the tables in the first bytes of the scratch.
  KeptBoxes(Writer &w, Buffer scratch, const support::Size &length, Value overlap)
      : w(w), i64(w.b.getI64Type()), f32(w.b.getF32Type()), limit(overlap), lanes(w.machine.lanes),
        used(w.local(i64, 1)) {
    support::Size at = 0;
    auto part = [&](Type type, const support::Size &count) {
      Buffer piece = w.scratch(scratch, at, type, memoryExtent(count));
      at = at + count * support::Size(static_cast<int64_t>(type.getIntOrFloatBitWidth() / 8));
      return piece;
    };
    support::Size blocks = blocksFor(length, lanes);
    edges = part(f32, blocks * support::Size(parts * lanes));
    next = part(i64, blocks);
    first = part(i64, cellsFor(length));
    filled = part(i64, cellsFor(length));
  }
  /// Returns the bytes of the tables for at most `length` boxes.
  static support::Size bytesFor(const support::Size &length, int64_t lanes) {
    return blocksFor(length, lanes) * support::Size(parts * lanes * 4 + 8) + cellsFor(length) * support::Size(16);
  }

  /// Removes all boxes; at most `most` are to come.
  void clear(Ix most) {
    w.store(w.constant(0, i64), used, 0);
    bins = w.ix(repeatWhile(
        w, w.value(1),
        [&](ValueRange state) {
          return w.compare(arith::CmpIPredicate::sle, w.ix(state[0]) * (2 * perBin), min(most, mostBins * perBin));
        },
        [&](ValueRange state) { return SmallVector<Value>{w.value(w.ix(state[0]) * 2)}; })[0]);
    for (Buffer perCell : {first, filled}) {
      w.loop(1, bins * 2, 1, [&](Ix cell) { w.store(w.constant(0, i64), perCell, cell); });
    }
  }
  /// Returns (i1) whether there is more than one bin.
  Value severalBins() { return w.compare(arith::CmpIPredicate::sgt, bins, 1); }
  /// Spreads the bins, where there are several, from `low` to `high`. Any numbers will do, infinities and NaN too.
  void spread(Num low, Num high) {
    Num all(w.b, w.loc, arith::SIToFPOp::create(w.b, w.loc, f32, w.integer(bins, i64)), f32);
    origin = low, scale = all / (high - low);
  }

  /// Keeps a box with an area.
  void keep(const Box &box) {
    Ix from = binOf(box.x.low), to = binOf(box.x.high);
    // The number of a level's first cell is also the number of its cells.
    SmallVector<Value> level = repeatWhile(
        w, ValueRange{w.value(bins), w.value(from), w.value(to - from)},
        [&](ValueRange state) { return w.compare(arith::CmpIPredicate::sgt, w.ix(state[2]), 0); },
        [&](ValueRange state) { return halves(state); });
    Ix cell = w.ix(level[0]) + w.ix(level[1]), count = w.ix(w.load(filled, cell)), lane = remainder(count, lanes);
    w.store(w.integer(count + 1, i64), filled, cell);
    w.ifThen(w.compare(arith::CmpIPredicate::eq, lane, 0), [&] { begin(cell); });
    Ix at = w.ix(w.load(first, cell)) * (parts * lanes) + lane;
    for (const Num &part : {box.x.low, box.x.high, box.y.low, box.y.high, box.area}) {
      w.store(part, edges, at);
      at = at + lanes;
    }
  }

  /// Returns 1 where a box with an area overlaps one of them too much, else 0. It looks in the cells where such a box
  /// may lie, or in all blocks where there are no more blocks than these cells.
  Ix overlap(const Box &box) {
    Box wide = {{splat(box.x.low), splat(box.x.high)}, {splat(box.y.low), splat(box.y.high)}, splat(box.area)};
    Ix from = binOf(box.x.low), to = binOf(box.x.high), blocks = w.ix(w.load(used, 0));
    Value few = w.compare(arith::CmpIPredicate::sle, blocks, (to - from) * 2 + fewBlocks);
    return w.choose(few, [&] { return Ixs{inBlocks(wide, blocks)}; }, [&] { return Ixs{onLevels(wide, from, to)}; })[0];
  }

private:
  static constexpr int64_t parts = 5; ///< rows of a block: lefts, rights, tops, bottoms, areas
  /// Candidates for each bin, and the most bins.
  static constexpr int64_t perBin = 64, mostBins = 256;
  /// The most blocks that take no longer than the way through the levels, at least.
  static constexpr int64_t fewBlocks = 24;
  Writer &w;
  Type i64, f32;
  Value limit; ///< the largest overlap that is allowed
  int64_t lanes;
  Buffer edges, next;   ///< by block: the rows, and the next block of the cell
  Buffer first, filled; ///< by cell: the block that was begun last, or 0; how many boxes there are
  Buffer used;          ///< how many blocks are in use; no block has number 0
  Ix bins = 1;
  std::optional<Num> origin, scale;

  /// Returns the number of cells for so many boxes.
  static support::Size cellsFor(const support::Size &length) {
    return support::Size(2) *
           min(support::Size(mostBins), max(support::Size(1), floorDiv(length, support::Size(perBin))));
  }
  /// Returns the most blocks for so many boxes: a cell has at most one block that is not full.
  static support::Size blocksFor(const support::Size &length, int64_t lanes) {
    return floorDiv(length, support::Size(lanes)) + cellsFor(length);
  }

  Num number(Value v) { return Num(w.b, w.loc, v, f32); }
  Num splat(Num n) { return number(w.splat(n, lanes)); }
  /// Returns half of each number.
  SmallVector<Value> halves(ValueRange numbers) {
    return llvm::map_to_vector(numbers,
                               [&](Value v) -> Value { return arith::ShRSIOp::create(w.b, w.loc, v, w.value(1)); });
  }
  /// Repeats step(state) while test(state) holds. A step returns whether there is a hit, which ends the loop, and the
  /// next state. Returns whether there was a hit.
  Ix untilHit(ValueRange start, llvm::function_ref<Value(ValueRange)> test,
              llvm::function_ref<std::pair<Ix, SmallVector<Value>>(ValueRange)> step) {
    SmallVector<Value> all(start);
    all.push_back(w.value(0));
    Value hit = repeatWhile(
                    w, all,
                    [&](ValueRange state) -> Value {
                      Value none = w.compare(arith::CmpIPredicate::eq, w.ix(state.back()), 0);
                      return arith::AndIOp::create(w.b, w.loc, none, test(state.drop_back()));
                    },
                    [&](ValueRange state) {
                      auto [found, after] = step(state.drop_back());
                      after.push_back(w.value(found));
                      return after;
                    })
                    .back();
    return w.ix(hit);
  }

  /// Returns the bin of a coordinate. It never falls where x grows, whatever origin and scale are; NaN is in the first
  /// bin.
  Ix binOf(Num x) {
    Num place = (x - *origin) * *scale, zero = x.constant(0),
        last = number(arith::SIToFPOp::create(w.b, w.loc, f32, w.integer(bins - 1, i64)));
    Num inside = select(place > zero, place, zero);
    return w.ix(arith::FPToSIOp::create(w.b, w.loc, i64, select(inside < last, inside, last)));
  }

  /// Puts a new block in front of the others of a cell. Lanes that no box fills have no width, so they overlap nothing.
  void begin(Ix cell) {
    Ix block = w.ix(w.countUp(used)) + 1, at = block * (parts * lanes);
    w.store(w.load(first, cell), next, block);
    w.store(w.integer(block, i64), first, cell);
    Value nothing = w.constant(0, w.vectorOf(f32, lanes));
    w.store(nothing, edges, at), w.store(nothing, edges, at + lanes);
  }

  /// Returns whether a box overlaps one in blocks [1, blocks].
  Ix inBlocks(const Box &box, Ix blocks) {
    return untilHit(
        w.value(1), [&](ValueRange block) { return w.compare(arith::CmpIPredicate::sle, w.ix(block[0]), blocks); },
        [&](ValueRange block) {
          return std::pair(inBlock(box, w.ix(block[0])), SmallVector<Value>{w.value(w.ix(block[0]) + 1)});
        });
  }
  /// Returns whether a box overlaps one in the cells of all levels. `from` and `to` are its first and its last bin.
  Ix onLevels(const Box &box, Ix from, Ix to) {
    return untilHit(
        ValueRange{w.value(bins), w.value(from), w.value(to)},
        [&](ValueRange level) { return w.compare(arith::CmpIPredicate::sgt, w.ix(level[0]), 0); },
        [&](ValueRange level) {
          Ix size = w.ix(level[0]), begin = max(w.ix(level[1]) - 1, 0);
          return std::pair(inCells(box, size + begin, size + w.ix(level[2])), halves(level));
        });
  }
  /// Returns whether a box overlaps one in cells [from, last].
  Ix inCells(const Box &box, Ix from, Ix last) {
    return untilHit(
        w.value(from), [&](ValueRange cell) { return w.compare(arith::CmpIPredicate::sle, w.ix(cell[0]), last); },
        [&](ValueRange cell) {
          return std::pair(inCell(box, w.ix(cell[0])), SmallVector<Value>{w.value(w.ix(cell[0]) + 1)});
        });
  }
  /// Returns whether a box overlaps one in a cell.
  Ix inCell(const Box &box, Ix cell) {
    return untilHit(
        w.load(first, cell),
        [&](ValueRange block) { return w.compare(arith::CmpIPredicate::ne, block[0], w.constant(0, i64)); },
        [&](ValueRange block) {
          return std::pair(inBlock(box, w.ix(block[0])), SmallVector<Value>{w.load(next, w.ix(block[0]))});
        });
  }
  /// Returns whether a box overlaps one in a block.
  Ix inBlock(const Box &box, Ix block) {
    auto part = [&](int64_t i) { return number(w.load(edges, (block * parts + i) * lanes, lanes)); };
    Box other = {{part(0), part(1)}, {part(2), part(3)}, part(4)};
    Num width = atMost(other.x.high, box.x.high) - atLeast(other.x.low, box.x.low);
    Num height = atMost(other.y.high, box.y.high) - atLeast(other.y.low, box.y.low);
    Num common = atLeast(width, 0.0) * height, both = box.area + other.area - common;
    Num most = splat(number(limit));
    auto decided = [&] {
      Value hit = any(w, (both > 0.0) & (common > 0.0) & (common / both > most));
      return Ixs{w.ix(arith::ExtUIOp::create(w.b, w.loc, i64, hit))};
    };
    return w.choose(any(w, (common > 0.0) & (common >= both * most)), decided, [] { return Ixs{0}; })[0];
  }
};

/// Builds the loops of one kernel.
class Suppression {
public:
  explicit Suppression(Build &build)
      : w(build.w), op(cast<onnx::NonMaxSuppressionOp>(build.group.root)), i64(w.b.getI64Type()),
        boxes(build.group.buffer(op.getBoxes())), scores(build.group.buffer(op.getScores())),
        selected(op.getSelected().use_empty() ? Buffer() : build.group.result(0)),
        count(build.group.result(selected ? 1 : 0)), counts(w.local(i64, sortCounts)),
        most(given(build, op.getMaxOutput(), w.constant(0, i64))), threshold(given(build, op.getScoreThreshold(), {})),
        kept(w, build.scratch, lengthOf(op), given(build, op.getIouThreshold(), w.constant(0, w.b.getF32Type()))) {
    support::Sizes shape = onnx::sizesOf(Group::typeOf(op.getScores()));
    batches = shape[0], classes = shape[1], length = shape[2];
    support::Size at = KeptBoxes::bytesFor(lengthOf(op), w.machine.lanes);
    order = w.scratch(build.scratch, at, i64, memoryExtent(lengthOf(op)));
    spare = w.scratch(build.scratch, at + support::Size(8) * lengthOf(op), i64, memoryExtent(lengthOf(op)));
  }

  static support::Size bytesFor(onnx::NonMaxSuppressionOp op, int64_t lanes) {
    return KeptBoxes::bytesFor(lengthOf(op), lanes) + support::Size(16) * lengthOf(op);
  }

  void write() {
    w.store(w.constant(0, i64), count, 0);
    w.loop(0, batches, 1, [&](Ix b) { w.loop(0, classes, 1, [&](Ix c) { oneClass(b, c); }); });
  }

private:
  Writer &w;
  onnx::NonMaxSuppressionOp op;
  Type i64;
  Buffer boxes, scores, selected, count;
  Buffer order, spare, counts; ///< the candidates, and room for sorting them
  /// The most boxes of a class, and the threshold, which is null where every score will do.
  Value most, threshold;
  KeptBoxes kept;
  Ix batches, classes, length;
  Ix line = 0, corner = 0; ///< where the scores of the present class and the boxes of the batch begin

  /// Returns the number of boxes of a batch.
  static support::Size lengthOf(onnx::NonMaxSuppressionOp op) { return onnx::sizeOf(Group::typeOf(op.getScores()), 2); }
  /// Returns the one element of an optional operand.
  Value given(Build &build, Value operand, Value otherwise) {
    return onnx::present(operand) ? w.load(build.group.buffer(operand), 0) : otherwise;
  }
  Num number(Value v) { return Num(w.b, w.loc, v, w.b.getF32Type()); }
  Ix one(Value i1) { return w.ix(arith::ExtUIOp::create(w.b, w.loc, i64, i1)); }

  /// Writes the boxes of one class that are kept.
  void oneClass(Ix b, Ix c) {
    line = (b * classes + c) * length, corner = b * length * 4;
    Ix candidates = collect();
    sortByHighHalf(w, order, spare, counts, candidates);
    kept.clear(min(candidates, w.ix(most)));
    spread(candidates);
    // The state is how many candidates have been looked at, and how many of them are kept.
    repeatWhile(
        w, ValueRange{w.value(0), w.value(0)},
        [&](ValueRange state) -> Value {
          Value more = w.compare(arith::CmpIPredicate::slt, w.ix(state[0]), candidates);
          Value room = w.compare(arith::CmpIPredicate::slt, w.ix(state[1]), w.ix(most));
          return arith::AndIOp::create(w.b, w.loc, more, room);
        },
        [&](ValueRange state) {
          Ix now = w.ix(state[1]) + candidate(b, c, candidateAt(w.ix(state[0])));
          return SmallVector<Value>{w.value(w.ix(state[0]) + 1), w.value(now)};
        });
  }

  /// Writes the candidates to `order` and returns how many there are. A vector of scores that are all too low takes one
  /// comparison.
  Ix collect() {
    if (!threshold) {
      w.loop(0, length, 1, [&](Ix i) { w.store(keyOf(w.load(scores, line + i), i), order, i); });
      return length;
    }
    auto each = [&](Ix from, Ix to, Ix found) {
      return w.ix(w.loop(
          from, to, 1, w.value(found),
          [&](Ix i, ValueRange carried) {
            Value score = w.load(scores, line + i);
            Ix at = w.ix(carried[0]);
            w.store(keyOf(score, i), order, at); // the next candidate overwrites it where it does not count
            return SmallVector<Value>{w.value(at + one(number(score) > number(threshold)))};
          },
          /*unroll=*/false)[0]);
    };
    int64_t lanes = w.machine.lanes;
    Ix whole = length - remainder(length, lanes);
    Num limit = number(w.splat(threshold, lanes));
    Value found = w.loop(0, whole, lanes, w.value(0), [&](Ix i, ValueRange carried) {
      Value high = number(w.load(scores, line + i, lanes)) > limit;
      Ix before = w.ix(carried[0]);
      Ixs now = w.choose(any(w, high), [&] { return Ixs{each(i, i + lanes, before)}; }, [&] { return Ixs{before}; });
      return SmallVector<Value>{w.value(now[0])};
    })[0];
    return each(whole, length, w.ix(found));
  }
  /// Returns a score and the number of its box as one integer.
  Value keyOf(Value score, Ix box) { return keyed(w, highestFirst(w, score), w.integer(box, i64)); }
  Value candidateAt(Ix place) { return restOf(w, w.load(order, place)); }

  /// Spreads the bins from the lowest beginning of a candidate's box to the highest.
  void spread(Ix candidates) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Type f32 = w.b.getF32Type();
    Ix looked = w.choose(kept.severalBins(), [&] { return Ixs{candidates}; }, [] { return Ixs{0}; })[0];
    SmallVector<Value> ends = w.loop(
        0, looked, 1, ValueRange{w.constant(infinity, f32), w.constant(-infinity, f32)}, [&](Ix i, ValueRange carried) {
          Num low = boxAt(candidateAt(i)).x.low;
          return SmallVector<Value>{atMost(low, low.like(carried[0])), atLeast(low, low.like(carried[1]))};
        });
    kept.spread(number(ends[0]), number(ends[1]));
  }

  /// Keeps a box unless it overlaps one; returns 1 if it is kept, else 0.
  Ix candidate(Ix b, Ix c, Value box) {
    Box found = boxAt(box);
    Value hasArea = found.area > 0.0;
    Ix hit = w.choose(hasArea, [&] { return Ixs{kept.overlap(found)}; }, [] { return Ixs{0}; })[0];
    w.ifThen(w.compare(arith::CmpIPredicate::eq, hit, 0), [&] {
      w.ifThen(hasArea, [&] { kept.keep(found); });
      Ix row = w.ix(w.countUp(count)) * 3;
      if (selected) {
        w.store(w.integer(b, i64), selected, row);
        w.store(w.integer(c, i64), selected, row + 1);
        w.store(box, selected, row + 2);
      }
    });
    return 1 - hit;
  }

  /// Loads a box.
  Box boxAt(Value box) {
    Ix at = corner + w.ix(box) * 4;
    Num p[] = {number(w.load(boxes, at)), number(w.load(boxes, at + 1)), number(w.load(boxes, at + 2)),
               number(w.load(boxes, at + 3))};
    auto between = [](Num a, Num b) { return Extent{atMost(a, b), atLeast(a, b)}; };
    auto around = [](Num centre, Num size) {
      Num half = size / 2.0;
      return Extent{centre - half, centre + half};
    };
    Extent x = op.getCenterPointBox() ? around(p[0], p[2]) : between(p[1], p[3]);
    Extent y = op.getCenterPointBox() ? around(p[1], p[3]) : between(p[0], p[2]);
    return {x, y, (x.high - x.low) * (y.high - y.low)};
  }
};

class NonMaxSuppression : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::NonMaxSuppressionOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<onnx::NonMaxSuppressionOp>(kernel.root());
    KernelShape shape;
    shape.scratchBytes = Suppression::bytesFor(op, machine.lanes);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Suppression(build).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createNonMaxSuppressionFamily() { return std::make_unique<NonMaxSuppression>(); }

} // namespace ingot::lower
