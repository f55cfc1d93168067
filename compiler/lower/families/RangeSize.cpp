// Computes how many numbers a Range has: max(ceil((limit - start) / delta), 0). For integers the distance is taken as
// an unsigned number, so that no difference is too large. For floats everything is computed in float64, as ONNX Runtime
// does.
#include "compiler/lower/Family.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;
using mlir::arith::CmpIPredicate;

namespace ingot::lower {
namespace {

/// Builds the computation. Conditions under which there is no such number are collected in `bad`.
class Length {
public:
  explicit Length(Build &build) : build(build), w(build.w), op(cast<onnx::RangeSizeOp>(build.group.root)) {}

  void write() {
    Value start = read(op.getStart()), limit = read(op.getLimit()), delta = read(op.getDelta());
    Value bad, length = isa<FloatType>(start.getType()) ? ofFloats(start, limit, delta, bad)
                                                        : ofIntegers(wide(start), wide(limit), wide(delta), bad);
    build.failIf(bad, INGOT_ERROR_SIZE);
    w.store(select(bad, integer(0), length), build.group.result(0), 0);
  }

private:
  Build &build;
  Writer &w;
  onnx::RangeSizeOp op;

  /// Returns the one element of a tensor.
  Value read(Value v) {
    Space space = build.group.space(Group::typeOf(v));
    return build.group.read(v, space, Point{SmallVector<Ix>(space.sizes.size(), 0), 1, {}});
  }
  Value integer(int64_t n) { return arith::ConstantIntOp::create(w.b, w.loc, n, 64); }
  Value select(Value condition, Value a, Value b) { return arith::SelectOp::create(w.b, w.loc, condition, a, b); }
  Value either(Value a, Value b) { return arith::OrIOp::create(w.b, w.loc, a, b); }
  bool isUnsigned() { return onnx::elementOf(op.getStart()).isUnsignedInteger(); }
  /// Returns an integer as one of 64 bits.
  Value wide(Value v) {
    Type i64 = w.b.getI64Type();
    return v.getType() == i64 ? v
           : isUnsigned()     ? arith::ExtUIOp::create(w.b, w.loc, i64, v).getResult()
                              : arith::ExtSIOp::create(w.b, w.loc, i64, v).getResult();
  }

  Value ofIntegers(Value start, Value limit, Value delta, Value &bad) {
    Value zero = integer(0), one = integer(1);
    Value down = isUnsigned() ? w.constant(false, w.b.getI1Type()) : w.compare(CmpIPredicate::slt, delta, zero);
    Value none = w.compare(CmpIPredicate::eq, delta, zero);
    Value from = select(down, limit, start), to = select(down, start, limit);
    Value empty = w.compare(isUnsigned() ? CmpIPredicate::ule : CmpIPredicate::sle, to, from);
    // Right as an unsigned number where the range is not empty.
    Value distance = arith::SubIOp::create(w.b, w.loc, to, from);
    Value minus = arith::SubIOp::create(w.b, w.loc, zero, delta);
    Value step = select(none, one, select(down, minus, delta));
    Value whole = arith::DivUIOp::create(w.b, w.loc, arith::SubIOp::create(w.b, w.loc, distance, one), step);
    Value length = select(empty, zero, arith::AddIOp::create(w.b, w.loc, whole, one));
    bad = either(none, w.compare(CmpIPredicate::ugt, length, integer(onnx::mostUnbounded)));
    return length;
  }

  Value ofFloats(Value start, Value limit, Value delta, Value &bad) {
    Type f64 = w.b.getF64Type();
    auto wide = [&](Value v) { return v.getType() == f64 ? v : arith::ExtFOp::create(w.b, w.loc, f64, v).getResult(); };
    Value distance = wide(arith::SubFOp::create(w.b, w.loc, limit, start));
    Value length =
        math::CeilOp::create(w.b, w.loc, arith::DivFOp::create(w.b, w.loc, distance, wide(delta)).getResult());
    auto number = [&](const support::Number &n) { return w.constant(n, f64); };
    auto is = [&](arith::CmpFPredicate predicate, Value a, Value b) {
      return arith::CmpFOp::create(w.b, w.loc, predicate, a, b).getResult();
    };
    Value none = is(arith::CmpFPredicate::OEQ, wide(delta), number(0));
    // This comparison also holds for NaN.
    bad = either(none, is(arith::CmpFPredicate::UGT, length, number(onnx::mostUnbounded)));
    Value some = is(arith::CmpFPredicate::OGT, length, number(0));
    Value inside = select(bad, number(0), select(some, length, number(0)));
    return arith::FPToSIOp::create(w.b, w.loc, w.b.getI64Type(), inside);
  }
};

class RangeSize : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::RangeSizeOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }
  bool readsThrough(Operation *, unsigned) const override { return true; }

  KernelShape shape(plan::KernelOp, const target::MachineModel &) const override {
    KernelShape shape;
    shape.checked = true;
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Length(build).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createRangeSizeFamily() { return std::make_unique<RangeSize>(); }

} // namespace ingot::lower
