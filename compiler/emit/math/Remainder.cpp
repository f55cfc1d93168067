// Expands the remainder of a truncated division, C's fmod, as long division in f64: the leading bits of the quotient
// times y are subtracted. That is exact, because 28 bits times a y of f32 fit a number of f64, and 24 bits times each
// half of a y of f64 do. What is left has no more bits than y. Where a quotient has more bits in any lane, as many
// rounds follow as the largest one can need.
#include "compiler/emit/math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace ingot::emit;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int64_t mantissa = 52, exponentMask = int64_t(0x7ff) << mantissa;

/// A divisor times powers of two, the largest first. Quotients by a suitable one of them do not overflow.
using Divisors = SmallVector<Value, 3>;

/// Returns the multiples of y that longDivision() needs; f32 needs none.
Divisors divisorsOf(const FloatBuilder &d, Value y, bool isDouble) {
  Divisors all{y};
  for (int i = 0; isDouble && i < 2; ++i) {
    all.insert(all.begin(), d.mul(all.front(), 0x1p537));
  }
  return all;
}

/// Returns r less `quotient` times y, exactly. The quotient has at most 28 bits, or 24 where the operands are f64.
Value subtractMultiple(const FloatBuilder &d, Value r, Value quotient, Value y, bool isDouble) {
  if (!isDouble) {
    return d.sub(r, d.mul(quotient, y));
  }
  Value high = d.fromBits(d.andBits(d.bits(y), -(int64_t(1) << 27)));
  return d.sub(d.sub(r, d.mul(quotient, high)), d.mul(quotient, d.sub(y, high)));
}

/// Subtracts from r the multiple of y that the leading bits of their quotient give; an r below y stays.
Value step(const FloatBuilder &d, Value r, Value y, bool isDouble) {
  int64_t bits = isDouble ? 24 : 28, dropped = mantissa + 1 - bits;
  Value leading = d.bits(d.trunc(d.fromBits(d.andBits(d.bits(d.div(r, y)), -(int64_t(1) << dropped)))));
  Value next = subtractMultiple(d, r, d.fromBits(leading), y, isDouble);
  // A quotient that was rounded up is too large by its last bit.
  Value last = d.fromBits(d.addBits(d.andBits(leading, exponentMask), d.bitsConstant(-((bits - 1) << mantissa))));
  last = d.select(d.less(last, 1.0), d.constant(1.0), last);
  next = d.select(d.less(next, 0.0), d.add(next, d.mul(last, y)), next);
  return d.select(d.less(r, y), r, next);
}

/// Repeats the step as often as the largest possible quotient needs. Elements without a remainder become NaN.
Value longDivision(const FloatBuilder &d, Value x, Value y, bool isDouble) {
  Divisors divisors = divisorsOf(d, y, isDouble);
  auto body = [&](OpBuilder &b, Location loc, Value, ValueRange left) {
    FloatBuilder in(b, loc, d.type(), false);
    Value by = y;
    for (Value larger : llvm::reverse(ArrayRef(divisors).drop_back())) {
      by = in.select(in.less(left[0], larger), by, larger);
    }
    scf::YieldOp::create(b, loc, step(in, left[0], by, isDouble));
  };
  auto number = [&](int64_t n) -> Value { return arith::ConstantIndexOp::create(d.opBuilder(), d.location(), n); };
  auto loop =
      scf::ForOp::create(d.opBuilder(), d.location(), number(0), number(isDouble ? 96 : 11), number(1), x, body);
  Value usable = d.both(d.greater(y, 0.0), d.less(x, infinity));
  return d.select(usable, loop.getResult(0), d.constant(std::numeric_limits<double>::quiet_NaN()));
}

} // namespace

// A quotient of f32 below 2^24 is right or one too large, because it was rounded; the product of its integer and y is
// exact in f64, and so is the difference. That it takes f32 for the division, not f64, halves the time.
Value ingot::emit::expandRemainder(const FloatBuilder &f, Value dividend, Value divisor) {
  FloatBuilder d = f.with(64);
  Value x = f.abs(dividend), y = f.abs(divisor), wideX = d.convert(x), wideY = d.convert(y);
  Value quotient = f.trunc(f.div(x, y));
  Value r = f.convert(subtractMultiple(d, wideX, d.convert(quotient), wideY, f.isDouble()));
  r = f.select(f.less(r, 0.0), f.add(r, y), r); // the quotient may have been rounded up
  r = f.select(f.less(x, y), x, r);             // y may be infinite
  r = f.unless(f.greater(quotient, 0x1p24), r, [&] { return f.convert(longDivision(d, wideX, wideY, f.isDouble())); });
  return f.copySign(r, dividend);
}
