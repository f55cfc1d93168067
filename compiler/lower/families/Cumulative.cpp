// Computes running sums or products along an axis (CumSum, CumProd). The operations follow one another in the order
// that the standard defines. Where the axis is not the last one, each lane of a vector has a line of its own; else the
// loop is one of scalars. Where columns are wide (core/Columns.h), rows are computed one after the other, each from the
// row of the result before it, which is in a cache.
#include "compiler/lower/core/Columns.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the loops of one kernel.
class RunningLines {
public:
  explicit RunningLines(Build &build)
      : build(build), w(build.w), op(cast<onnx::CumulativeOp>(build.group.root)),
        split(build.group, Group::typeOf(op.getX()), Group::typeOf(op.getY()), {static_cast<int64_t>(op.getAxis())},
              /*keeps=*/true),
        axis(split.inner.front()), extent(split.in.sizes[axis]),
        how(op.getKind() == "Prod" ? Combine::Mul : Combine::Add), element(valueType(onnx::elementOf(op.getX()))) {}

  /// Whether columns are wide, and the result is what is carried from row to row: of the root's type, and nothing
  /// computed from it.
  bool canGoRowByRow() {
    auto yield = cast<plan::YieldOp>(build.group.kernel.getBody().front().getTerminator());
    return hasWideColumns(w, split) && yield.getValues().size() == 1 && yield.getValues()[0] == op.getY() &&
           build.group.resultType().getElementType() == element;
  }

  void eachLine() {
    split.positions(w, build.begin, build.end, 1, [&](SmallVector<Ix> at, int64_t, int64_t lanes, Value mask) {
      w.loop(0, extent, 1, none(lanes), [&](Ix i, ValueRange carried) {
        Point point = pointOf(at, i, lanes, mask);
        Value all = combine(w, how, carried[0], read(point));
        finish(op.getExclusive() ? carried[0] : all, point);
        return SmallVector<Value>{all};
      });
    });
  }

  void rowByRow() {
    int64_t row = split.in.sizes.back().number();
    eachStrip(w, split, build.begin, build.end, row, [&](const Strip &strip) {
      w.loop(0, min(extent, 1), 1, [&](Ix i) {
        strip.vectors(w, [&](const SmallVector<Ix> &at, Ix, int64_t lanes, Value mask) {
          Point first = pointOf(at, i, lanes, mask);
          finish(op.getExclusive() ? none(lanes) : combine(w, how, none(lanes), read(first)), first);
        });
      });
      w.loop(1, extent, 1, [&](Ix i) {
        strip.vectors(w, [&](const SmallVector<Ix> &at, Ix, int64_t lanes, Value mask) {
          Point here = pointOf(at, i, lanes, mask), before = pointOf(at, i - Ix(1), lanes, mask);
          const Access &y = split.out.results[0];
          Value carried = w.load(y.buffer, y.at(split.outAt(before.at)), lanes, mask);
          finish(combine(w, how, carried, read(op.getExclusive() ? before : here)), here);
        });
      });
    });
  }

private:
  Build &build;
  Writer &w;
  onnx::CumulativeOp op;
  AxisSplit split;
  unsigned axis;
  Ix extent;
  Combine how;
  Type element;

  Value none(int64_t lanes) { return neutral(w, how, w.vectorOf(element, lanes)); }
  /// Returns the i-th place of a line in the order of the sums.
  Point pointOf(ArrayRef<Ix> position, Ix i, int64_t lanes, Value mask) {
    SmallVector<Ix> at(position);
    at[axis] = op.getReverse() ? extent - 1 - i : i;
    return {at, lanes, mask};
  }
  Value read(const Point &point) { return build.group.read(op.getX(), split.in, point); }
  void finish(Value v, const Point &point) {
    build.group.finish(v, split.out, Point{split.outAt(point.at), point.lanes, point.mask});
  }
};

class Cumulative : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::CumulativeOp>(); }
  bool readsThrough(Operation *, unsigned) const override { return true; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<onnx::CumulativeOp>(kernel.root());
    KernelShape shape;
    AxisSplit::share(shape, Group::typeOf(op.getX()), {static_cast<int64_t>(op.getAxis())}, machine, /*teams=*/false);
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    RunningLines lines(build);
    if (lines.canGoRowByRow()) {
      lines.rowByRow();
    } else {
      lines.eachLine();
    }
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createCumulativeFamily() { return std::make_unique<Cumulative>(); }

} // namespace ingot::lower
