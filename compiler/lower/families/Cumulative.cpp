// Computes running sums or products along an axis (CumSum, CumProd). The operations follow one another in the order
// that the standard defines. Where the axis is not the last one, each lane of a vector has a line of its own; else the
// loop is one of scalars.
#include "compiler/lower/core/AxisSplit.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::lower {
namespace {

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
    Writer &w = build.w;
    auto op = cast<onnx::CumulativeOp>(build.group.root);
    RankedTensorType type = Group::typeOf(op.getX());
    AxisSplit split(build.group, type, Group::typeOf(op.getY()), {static_cast<int64_t>(op.getAxis())}, /*keeps=*/true);
    unsigned axis = split.inner.front();
    Ix extent = split.in.sizes[axis];
    Combine how = op.getKind() == "Prod" ? Combine::Mul : Combine::Add;
    split.positions(w, build.begin, build.end, 1, [&](SmallVector<Ix> at, int64_t, int64_t lanes, Value mask) {
      Value none = neutral(w, how, w.vectorOf(valueType(type.getElementType()), lanes));
      w.loop(0, extent, 1, none, [&](Ix i, ValueRange carried) {
        at[axis] = op.getReverse() ? extent - 1 - i : i;
        Value x = build.group.read(op.getX(), split.in, Point{at, lanes, mask});
        Value all = combine(w, how, carried[0], x);
        build.group.finish(op.getExclusive() ? carried[0] : all, split.out, Point{split.outAt(at), lanes, mask});
        return SmallVector<Value>{all};
      });
    });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createCumulativeFamily() { return std::make_unique<Cumulative>(); }

} // namespace ingot::lower
