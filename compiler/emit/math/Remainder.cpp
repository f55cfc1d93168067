// The remainder of a truncated division, as C's fmod, by long division in f64: as long as r >= y in any lane, the
// leading 28 bits of the quotient times y are subtracted, which is exact for operands of f32. At most ten rounds.
#include "compiler/emit/math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace ingot::emit;

static Value anyOf(OpBuilder &builder, Location loc, Value condition) {
  auto vector = dyn_cast<VectorType>(condition.getType());
  return vector ? vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, condition).getResult()
                : condition;
}

Value ingot::emit::expandRemainder(const FloatBuilder &f, Value dividend, Value divisor) {
  FloatBuilder d = f.with(64);
  Value x = d.convert(dividend), y = d.abs(d.convert(divisor));
  Value usable = d.both(d.greater(y, 0.0), d.less(d.abs(x), std::numeric_limits<double>::infinity()));
  auto more = [&](OpBuilder &builder, Location loc, ValueRange r) {
    FloatBuilder in(builder, loc, d.type(), false);
    Value left = in.both(usable, arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, r[0], y));
    scf::ConditionOp::create(builder, loc, anyOf(builder, loc, left), r);
  };
  auto step = [&](OpBuilder &builder, Location loc, ValueRange r) {
    FloatBuilder in(builder, loc, d.type(), false);
    Value quotient = in.fromBits(in.andBits(in.bits(in.div(r[0], y)), -(int64_t(1) << 25)));
    Value next = in.fma(in.neg(in.trunc(quotient)), y, r[0]);
    next = in.select(in.less(next, 0.0), in.add(next, y), next);
    next = in.select(in.less(quotient, 1.0), r[0], next); // a lane that is done, or has an infinite y
    scf::YieldOp::create(builder, loc, next);
  };
  Value r = scf::WhileOp::create(d.opBuilder(), d.location(), TypeRange(d.type()), d.abs(x), more, step).getResult(0);
  Value ordered = d.either(d.isNaN(x), d.isNaN(y));
  Value invalid =
      d.either(ordered, d.either(d.equal(y, 0.0), d.equal(d.abs(x), std::numeric_limits<double>::infinity())));
  r = d.select(invalid, d.constant(std::numeric_limits<double>::quiet_NaN()), d.copySign(r, x));
  return f.convert(r);
}
