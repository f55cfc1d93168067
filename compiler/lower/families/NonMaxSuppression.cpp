// Of each batch and class: the boxes whose score is above the threshold are sorted by it, equal ones by their number;
// each is kept unless it overlaps one that is kept already too much, until there are enough. Where kept boxes begin and
// end lies in scratch, axis by axis, so that a candidate is compared with a vector of them at a time; behind the last
// one are boxes without an area, which overlap nothing.
#include "compiler/lower/Family.h"
#include "compiler/lower/Sort.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/Shapes.h"
#include "compiler/onnx/ops/Find.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using ingot::onnx::Num;

namespace ingot::lower {
namespace {

class Suppression {
public:
  explicit Suppression(Build &build)
      : w(build.w), op(cast<onnx::NonMaxSuppressionOp>(build.group.root)), i64(w.b.getI64Type()),
        boxes(build.group.buffer(op.getBoxes())), scores(build.group.buffer(op.getScores())),
        selected(op.getSelected().use_empty() ? Buffer() : build.group.result(0)),
        count(build.group.result(selected ? 1 : 0)), kept(w.local(i64, 1)) {
    support::Sizes shape = onnx::sizesOf(Group::typeOf(op.getScores()));
    batches = shape[0], classes = shape[1], length = shape[2];
    order = {w.scratch(build.scratch, 0, i64, memoryExtent(shape[2])).memref, i64};
    lanes = w.machine.lanes;
    capacity = length + lanes;
    edges = w.scratch(build.scratch, length * 8, w.b.getF32Type(), memoryExtent(edgesOf(shape[2], lanes)));
    most = given(build, op.getMaxOutput(), w.constant(0, i64));
    overlap = given(build, op.getIouThreshold(), w.constant(0, w.b.getF32Type()));
    threshold = given(build, op.getScoreThreshold(), {});
  }

  /// How many numbers say where boxes begin and end.
  static support::Size edgesOf(const support::Size &boxes, int64_t lanes) {
    return support::Size(4) * (boxes + support::Size(lanes));
  }

  void write() {
    w.store(w.constant(0, i64), count, 0);
    w.loop(0, batches, 1, [&](Ix b) { w.loop(0, classes, 1, [&](Ix c) { oneClass(b, c); }); });
  }

private:
  Writer &w;
  onnx::NonMaxSuppressionOp op;
  Type i64;
  Buffer boxes, scores, selected, count, kept, order;
  Buffer edges; ///< of kept boxes: all lefts, rights, tops, bottoms, in `capacity` each
  int64_t lanes = 1;
  Ix batches, classes, length, capacity;
  Value most, overlap, threshold; ///< null: every score will do
  Ix line = 0, corner = 0;        ///< where the scores of the class and the boxes of the batch begin

  Value given(Build &build, Value operand, Value otherwise) {
    return onnx::present(operand) ? w.load(build.group.buffer(operand), 0) : otherwise;
  }
  /// From low to high along one axis, of one box or of a vector of them.
  struct Extent {
    Num low, high;
  };

  Num number(Value v) { return Num(w.b, w.loc, v, w.b.getF32Type()); }
  Num score(Value box) { return number(w.load(scores, line + w.ix(box))); }

  void oneClass(Ix b, Ix c) {
    line = (b * classes + c) * length, corner = b * length * 4;
    w.store(w.constant(0, i64), kept, 0);
    w.loop(0, length, 1, [&](Ix i) {
      Value box = w.integer(i, i64), number = w.constant(1, w.b.getI1Type());
      w.ifThen(threshold ? Value(score(box) > score(box).like(threshold)) : number,
               [&] { w.store(box, order, w.ix(w.countUp(kept))); });
    });
    Value candidates = w.load(kept, 0);
    sort(w, order, w.ix(candidates), [&](Value a, Value other) -> Value {
      Num x = score(a), y = score(other);
      Value earlier = w.compare(arith::CmpIPredicate::slt, a, other);
      return (x > y) | ((x == y) & (x == y).like(earlier));
    });
    w.store(w.constant(0, i64), kept, 0);
    w.loop(0, w.ix(candidates), 1, [&](Ix t) {
      w.ifThen(w.compare(arith::CmpIPredicate::slt, w.load(kept, 0), most), [&] { candidate(b, c, w.load(order, t)); });
    });
  }

  void candidate(Ix b, Ix c, Value box) {
    Value zero = w.constant(0, i64), no = w.constant(0, w.b.getI1Type()), all = w.load(kept, 0);
    auto [x, y] = extentsOf(box);
    auto spread = [&](const Extent &e) {
      return Extent{number(w.splat(e.low, lanes)), number(w.splat(e.high, lanes))};
    };
    Extent wideX = spread(x), wideY = spread(y);
    SmallVector<Value> last = repeatWhile(
        w, ValueRange{zero, no},
        [&](ValueRange state) -> Value {
          Value free = w.compare(arith::CmpIPredicate::eq, state[1], no);
          return arith::AndIOp::create(w.b, w.loc, free, w.compare(arith::CmpIPredicate::slt, state[0], all));
        },
        [&](ValueRange state) {
          Value hit = overlaps(wideX, wideY, w.ix(state[0]));
          Value next = arith::AddIOp::create(w.b, w.loc, state[0], w.constant(static_cast<double>(lanes), i64));
          return SmallVector<Value>{next, hit};
        });
    w.ifThen(w.compare(arith::CmpIPredicate::eq, last[1], no), [&] {
      keep(w.ix(w.countUp(kept)), x, y);
      Ix row = w.ix(w.countUp(count)) * 3;
      if (selected) {
        w.store(w.integer(b, i64), selected, row);
        w.store(w.integer(c, i64), selected, row + 1);
        w.store(box, selected, row + 2);
      }
    });
  }

  std::pair<Extent, Extent> extentsOf(Value box) {
    Ix at = corner + w.ix(box) * 4;
    Num p[] = {number(w.load(boxes, at)), number(w.load(boxes, at + 1)), number(w.load(boxes, at + 2)),
               number(w.load(boxes, at + 3))};
    if (op.getCenterPointBox()) { // x, y, width, height
      Num w2 = p[2] / 2.0, h2 = p[3] / 2.0;
      return {{p[0] - w2, p[0] + w2}, {p[1] - h2, p[1] + h2}};
    }
    return {{atMost(p[1], p[3]), atLeast(p[1], p[3])}, {atMost(p[0], p[2]), atLeast(p[0], p[2])}};
  }

  void keep(Ix at, const Extent &x, const Extent &y) {
    Value begins = w.compare(arith::CmpIPredicate::eq, remainder(at, lanes), 0);
    w.ifThen(begins, [&] {
      Value nothing = w.constant(0, w.vectorOf(w.b.getF32Type(), lanes));
      w.store(nothing, edges, at), w.store(nothing, edges, capacity + at);
    });
    Ix to = at;
    for (const Num &edge : {x.low, x.high, y.low, y.high}) {
      w.store(edge, edges, to);
      to = to + capacity;
    }
  }

  /// Whether a box overlaps any of the vector of kept ones from `first` on.
  Value overlaps(const Extent &ax, const Extent &ay, Ix first) {
    auto edge = [&](int64_t i) { return number(w.load(edges, capacity * i + first, lanes)); };
    Extent bx = {edge(0), edge(1)}, by = {edge(2), edge(3)};
    Num width = atMost(ax.high, bx.high) - atLeast(ax.low, bx.low);
    Num height = atMost(ay.high, by.high) - atLeast(ay.low, by.low);
    Num common = width * height, areaA = (ax.high - ax.low) * (ay.high - ay.low),
        areaB = (bx.high - bx.low) * (by.high - by.low), both = areaA + areaB - common;
    Num real = (width > 0.0) & (height > 0.0) & (common > 0.0) & (areaA > 0.0) & (areaB > 0.0) & (both > 0.0);
    Value hits = real & (common / both > common.like(w.splat(overlap, lanes)));
    return lanes == 1 ? hits : vector::ReductionOp::create(w.b, w.loc, vector::CombiningKind::OR, hits).getResult();
  }
};

class NonMaxSuppression : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::NonMaxSuppressionOp>(); }
  std::string unsupported(Operation *root) const override { return whyUnsized(root); }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<onnx::NonMaxSuppressionOp>(kernel.root());
    support::Size boxes = onnx::sizeOf(Group::typeOf(op.getScores()), 2);
    KernelShape shape;
    shape.scratchBytes = support::Size(8) * boxes + support::Size(4) * Suppression::edgesOf(boxes, machine.lanes);
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
