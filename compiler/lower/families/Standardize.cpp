// Computes (x - mean) / sqrt(variance + epsilon) over trailing axes, without the mean for RMS normalisation. Two passes
// compute the statistics, which is exact where one pass is not, and a third one writes; a row stays in the first cache
// meanwhile. Scale and bias are the kernel's epilogue.
#include "compiler/lower/core/AxisSplit.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Normalization.h"
#include "compiler/onnx/ops/Unary.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the loops of one kernel.
class StandardizeLoops {
public:
  explicit StandardizeLoops(Build &build)
      : build(build), w(build.w), group(build.group), op(cast<onnx::StandardizeOp>(group.root)),
        element(valueType(onnx::elementOf(op.getX()))),
        split(group, AxisSplit::shaped(group.kernel, op.getX()), group.resultType(), op.getAxes(), /*keeps=*/true) {}

  void run() {
    split.positions(w, build.begin, build.end, 1, [&](SmallVector<Ix> at, int64_t, int64_t lanes, Value mask) {
      Value mean = op.getUncentered() ? Value() : average(at, lanes, mask, {});
      Value variance = average(at, lanes, mask, [&](Value x) {
        x = centred(x, mean);
        return arith::MulFOp::create(w.b, w.loc, x, x);
      });
      Type type = variance.getType();
      variance = arith::AddFOp::create(w.b, w.loc, variance, w.constant(op.getEpsilon().convertToDouble(), type));
      Value factor = arith::DivFOp::create(w.b, w.loc, w.constant(1, type), math::SqrtOp::create(w.b, w.loc, variance));
      split.sweep(w, at, lanes, mask, accumulators / 2, {}, [&](const AxisSplit::Step &s, ValueRange) {
        Value y = arith::MulFOp::create(w.b, w.loc, centred(read(s), mean), splatTo(factor, s.lanes));
        group.finish(y, split.out, Point{split.outAt(s.at), s.lanes, s.mask});
        return SmallVector<Value>();
      });
    });
  }

private:
  Build &build;
  Writer &w;
  const size_t accumulators = 2 * w.machine.tuning.chains;
  Group &group;
  onnx::StandardizeOp op;
  Type element;
  AxisSplit split;

  Value read(const AxisSplit::Step &s) {
    return group.read(op.getX(), split.in, Point{SmallVector<Ix>(s.at), s.lanes, s.mask});
  }
  /// Returns a vector as it is, and a scalar in all lanes.
  Value splatTo(Value v, int64_t lanes) { return isa<VectorType>(v.getType()) ? v : w.splat(v, lanes); }
  /// Returns x less the mean, or x where there is no mean.
  Value centred(Value x, Value mean) {
    auto vector = dyn_cast<VectorType>(x.getType());
    return mean ? arith::SubFOp::create(w.b, w.loc, x, splatTo(mean, vector ? vector.getNumElements() : 1)).getResult()
                : x;
  }

  /// Returns the mean of f(x): a scalar for rows, and a vector for columns and blocks.
  Value average(ArrayRef<Ix> at, int64_t lanes, Value mask, llvm::function_ref<Value(Value)> f) {
    int64_t wide = split.across ? split.lanes : lanes;
    SmallVector<Value> sums(accumulators, w.constant(0, w.vectorOf(element, wide)));
    if (split.hasScalarTail(w)) {
      sums.push_back(w.constant(0, element));
    }
    sums = split.sweep(w, at, lanes, mask, accumulators, sums, [&](const AxisSplit::Step &s, ValueRange carried) {
      SmallVector<Value> next(carried);
      Value x = f ? f(read(s)) : read(s);
      if (split.across && s.mask) {
        x = arith::SelectOp::create(w.b, w.loc, s.mask, x, w.constant(0, x.getType()));
      }
      next[s.slot] = combine(w, Combine::Add, next[s.slot], x);
      return next;
    });
    Value sum = tree(w, Combine::Add, SmallVector<Value>(ArrayRef<Value>(sums).take_front(accumulators)));
    if (split.across) {
      sum = split.whole(w, Combine::Add, sum);
      sum = sums.size() > accumulators ? combine(w, Combine::Add, sum, sums.back()) : sum;
    }
    return arith::DivFOp::create(w.b, w.loc, sum, counted(w, split.count, sum.getType()));
  }
};

class Standardize : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::StandardizeOp>(); }
  bool readsThrough(Operation *, unsigned) const override { return true; }
  /// Over whole images each channel is normalised by itself, which works in either layout.
  LayoutRule layoutRule(Operation *root, const target::MachineModel &machine) const override {
    auto op = cast<onnx::StandardizeOp>(root);
    return isSpatial(op.getAxes(), onnx::ranked(op.getX()).getRank()) ? LayoutRule::Follow : LayoutRule::RowMajor;
  }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto op = cast<onnx::StandardizeOp>(kernel.root());
    KernelShape shape;
    AxisSplit::share(shape, AxisSplit::shaped(kernel, op.getX()), op.getAxes(), machine);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    StandardizeLoops(build).run();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createStandardizeFamily() { return std::make_unique<Standardize>(); }

} // namespace ingot::lower
