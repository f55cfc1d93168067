// Writes start, start + delta, ...: vectors of lane numbers are multiplied and added to. How many numbers there are is
// the size of the result.
#include "compiler/lower/core/Portion.h"
#include "compiler/onnx/ops/Generators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Range : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::RangeOp>(); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    shape.items = Portion::items(kernel, machine);
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Writer &w = build.w;
    auto op = cast<onnx::RangeOp>(build.group.root);
    Space space = build.group.space(Group::typeOf(op.getY()));
    Value start = w.load(build.group.buffer(op.getStart()), 0), delta = w.load(build.group.buffer(op.getDelta()), 0);
    Portion(build, shape.items, space.sizes).lanes(0, space.sizes[0], [&](Ix i, int64_t lanes, Value mask) {
      Value numbers = positions(w, i, lanes, start.getType());
      build.group.finish(linear(w, numbers, w.splat(delta, lanes), w.splat(start, lanes)), space, {{i}, lanes, mask});
    });
    return success();
  }

private:
  /// Returns i, i + 1, ... as numbers of type `element`.
  static Value positions(Writer &w, Ix i, int64_t lanes, Type element) {
    Type wide = w.vectorOf(w.b.getI64Type(), lanes);
    Value n = w.splat(w.integer(i, w.b.getI64Type()), lanes);
    if (lanes > 1) {
      Value lane = vector::StepOp::create(w.b, w.loc, VectorType::get({lanes}, w.b.getIndexType()));
      n = arith::AddIOp::create(w.b, w.loc, n, arith::IndexCastOp::create(w.b, w.loc, wide, lane));
    }
    Type type = w.vectorOf(element, lanes);
    if (isa<FloatType>(element)) {
      return arith::SIToFPOp::create(w.b, w.loc, type, n);
    }
    return element == w.b.getI64Type() ? n : arith::TruncIOp::create(w.b, w.loc, type, n).getResult();
  }

  /// Returns n * delta + start.
  static Value linear(Writer &w, Value n, Value delta, Value start) {
    if (isa<FloatType>(getElementTypeOrSelf(n.getType()))) {
      return arith::AddFOp::create(w.b, w.loc, arith::MulFOp::create(w.b, w.loc, n, delta), start);
    }
    return arith::AddIOp::create(w.b, w.loc, arith::MulIOp::create(w.b, w.loc, n, delta), start);
  }
};

} // namespace

std::unique_ptr<KernelFamily> createRangeFamily() { return std::make_unique<Range>(); }

} // namespace ingot::lower
