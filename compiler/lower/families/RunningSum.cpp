// Sums along an axis, one after the other as the standard defines them: vectors of neighbours where the axis is not the
// last, else scalars.
#include "compiler/lower/Family.h"
#include "compiler/lower/Split.h"
#include "compiler/lower/Vectors.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"
#include "compiler/onnx/ops/Reduce.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class RunningSum : public KernelFamily {
public:
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    auto op = cast<onnx::RunningSumOp>(rootOf(kernel));
    KernelShape shape;
    shape.items = Split::items(Group::typeOf(op.getX()), {static_cast<int64_t>(op.getAxis())});
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Writer &w = build.w;
    auto op = cast<onnx::RunningSumOp>(build.group.root);
    RankedTensorType type = Group::typeOf(op.getX());
    Split split(build.group, type, Group::typeOf(op.getY()), {static_cast<int64_t>(op.getAxis())}, /*keeps=*/true);
    unsigned axis = split.inner.front();
    Ix extent = split.in.sizes[axis];
    split.positions(w, build.begin, build.end, 1, [&](SmallVector<Ix> at, int64_t, int64_t lanes, Value mask) {
      Value zero = w.constant(0, w.vectorOf(valueType(type.getElementType()), lanes));
      w.loop(0, extent, 1, zero, [&](Ix i, ValueRange carried) {
        at[axis] = op.getReverse() ? extent - 1 - i : i;
        Value x = build.group.read(op.getX(), split.in, Point{at, lanes, mask});
        Value sum = combine(w, Combine::Add, carried[0], x);
        build.group.finish(op.getExclusive() ? carried[0] : sum, split.out, Point{split.outAt(at), lanes, mask});
        return SmallVector<Value>{sum};
      });
    });
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createRunningSumFamily() { return std::make_unique<RunningSum>(); }

} // namespace ingot::lower
