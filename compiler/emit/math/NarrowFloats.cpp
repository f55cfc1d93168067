// Expands conversions between float32 and narrower floats as integer arithmetic, for all formats of the table of
// element types (support/ElementTypes.h), in vectors of any length.
//
// A code is widened by shifting exponent and mantissa to where float32 has them and adding the difference of the
// biases. Denormals have no leading bit: one is added, and what it is worth is subtracted again, which normalizes.
//
// A float32 is rounded by adding half of what is shifted out, or a little less where the last bit stays even; a carry
// into the exponent is right as it is. A result that becomes denormal is rounded by adding a power of two whose last
// bit is worth as much as the result's. A float64 first becomes a float32 that is rounded to odd, so that nothing is
// rounded twice.
#include "compiler/emit/math/Functions.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using ingot::support::FloatFormat;
using ingot::support::Specials;

namespace {

constexpr unsigned mantissa32 = 23, bias32 = 127, top32 = 0x7f800000, quiet32 = 0x7fc00000, sign32 = 0x80000000;

/// Builds arithmetic on integers of 32 bits, which are all scalars or all vectors of one length.
class Bits {
public:
  Bits(OpBuilder &b, Location loc, Type like) : b(loc, b), like(like) {}

  Type of(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type integers() const { return of(b.getI32Type()); }
  Value constant(uint32_t n) const {
    TypedAttr attr = b.getI32IntegerAttr(static_cast<int32_t>(n));
    if (auto vector = dyn_cast<VectorType>(integers())) {
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    }
    return arith::ConstantOp::create(b, attr);
  }
  Value add(Value x, uint32_t n) const { return arith::AddIOp::create(b, x, constant(n)); }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, uint32_t n) const { return arith::SubIOp::create(b, x, constant(n)); }
  Value both(Value x, uint32_t n) const { return arith::AndIOp::create(b, x, constant(n)); }
  Value either(Value x, uint32_t n) const { return arith::OrIOp::create(b, x, constant(n)); }
  Value either(Value x, Value y) const { return arith::OrIOp::create(b, x, y); }
  Value left(Value x, unsigned n) const { return n ? arith::ShLIOp::create(b, x, constant(n)).getResult() : x; }
  Value right(Value x, unsigned n) const { return n ? arith::ShRUIOp::create(b, x, constant(n)).getResult() : x; }
  Value select(Value condition, Value x, Value y) const { return arith::SelectOp::create(b, condition, x, y); }
  Value select(Value condition, uint32_t n, Value y) const { return select(condition, constant(n), y); }
  Value equal(Value x, uint32_t n) const { return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, constant(n)); }
  Value greater(Value x, uint32_t n) const {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, x, constant(n));
  }
  Value less(Value x, uint32_t n) const { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, constant(n)); }
  Value real(Value x) const { return arith::BitcastOp::create(b, of(b.getF32Type()), x); }
  Value bits(Value x) const { return arith::BitcastOp::create(b, integers(), x); }
  Value extended(Value x) const {
    return x.getType() == integers() ? x : arith::ExtUIOp::create(b, integers(), x).getResult();
  }

  mutable ImplicitLocOpBuilder b;

private:
  Type like;
};

/// Returns the bits of the float32 for a code without its sign.
Value widenedMagnitude(const Bits &w, Value magnitude, const FloatFormat &format) {
  Value shifted = w.left(magnitude, mantissa32 - format.mantissa);
  Value normal = w.add(shifted, (bias32 - format.bias) << mantissa32);
  Value one = w.real(w.constant((bias32 - format.bias + 1) << mantissa32));
  Value denormal = w.bits(arith::SubFOp::create(w.b, w.real(w.add(normal, 1 << mantissa32)), one));
  Value result = w.select(w.less(magnitude, 1 << format.mantissa), denormal, normal);
  if (format.specials == Specials::Ieee) {
    return w.select(w.greater(magnitude, format.largestCode()), w.either(normal, top32), result);
  }
  return format.specials == Specials::OneNaN ? w.select(w.equal(magnitude, format.nan()), quiet32, result) : result;
}

} // namespace

Value ingot::emit::widenFloat(OpBuilder &builder, Location loc, Value code, const FloatFormat &format) {
  Bits w(builder, loc, code.getType());
  code = w.extended(code);
  if (format.specials == Specials::Powers) { // 2^-127 is a denormal float32
    Value power = w.select(w.equal(code, 0), 1 << (mantissa32 - 1), w.left(code, mantissa32));
    return w.real(w.select(w.equal(code, format.nan()), quiet32, power));
  }
  unsigned signBit = format.bits() - 1;
  if (format.exponent == 8) { // such a code is the upper bits of a float32
    return w.real(w.left(code, 31 - signBit));
  }
  Value magnitude = w.both(code, format.magnitudeMask()), sign = w.left(w.right(code, signBit), 31);
  Value result = w.either(widenedMagnitude(w, magnitude, format), sign);
  return w.real(format.specials == Specials::Unsigned ? w.select(w.equal(code, format.nan()), quiet32, result)
                                                      : result);
}

/// Returns the bits of x as a float32 that is rounded to odd: towards zero, and with the last bit set where it is not
/// exact.
static Value toFloat32(OpBuilder &builder, Location loc, Value x) {
  Bits w(builder, loc, x.getType());
  if (getElementTypeOrSelf(x.getType()).isF32()) {
    return w.bits(x);
  }
  auto absolute = [&](Value v) { return math::AbsFOp::create(w.b, v).getResult(); };
  auto compare = [&](arith::CmpFPredicate how, Value a, Value b) {
    return arith::CmpFOp::create(w.b, how, a, b).getResult();
  };
  Value nearest = arith::TruncFOp::create(w.b, w.of(w.b.getF32Type()), x);
  Value back = arith::ExtFOp::create(w.b, x.getType(), nearest), bits = w.bits(nearest);
  Value above = compare(arith::CmpFPredicate::OGT, absolute(back), absolute(x));
  Value inexact = compare(arith::CmpFPredicate::ONE, back, x);
  return w.select(inexact, w.either(w.select(above, w.sub(bits, 1), bits), 1), bits);
}

Value ingot::emit::narrowFloat(OpBuilder &builder, Location loc, Value x, const FloatFormat &format) {
  Bits w(builder, loc, x.getType());
  Value bits = toFloat32(builder, loc, x), magnitude = w.both(bits, ~sign32), isNaN = w.greater(magnitude, top32);
  // The caller has rounded x to a power of two already (roundedToPower).
  if (format.specials == Specials::Powers) {
    return w.right(magnitude, mantissa32);
  }
  unsigned shift = mantissa32 - format.mantissa, signBit = format.bits() - 1;
  Value sign = w.left(w.right(bits, 31), signBit), last = w.both(w.right(magnitude, shift), 1);
  uint32_t rebias = (bias32 - format.bias) << mantissa32, half = (1 << (shift - 1)) - 1;
  Value code = w.right(w.add(w.add(magnitude, last), half - rebias), shift);
  if (format.exponent < 8) {
    uint32_t unit = (bias32 - format.bias + shift + 1) << mantissa32;
    Value sum = arith::AddFOp::create(w.b, w.real(magnitude), w.real(w.constant(unit)));
    Value denormal = w.sub(w.bits(sum), unit);
    code = w.select(w.less(magnitude, (bias32 - format.bias + 1) << mantissa32), denormal, code);
    uint64_t beyond = format.hasInfinity() ? format.largestCode() + 1
                      : format.hasNaN()    ? format.nan()
                                           : format.largestCode();
    Value isBeyond = w.greater(code, format.largestCode());
    code = w.select(isBeyond, beyond, code);
    if (format.specials == Specials::Unsigned) { // zero and NaN have no sign
      sign = w.select(arith::OrIOp::create(w.b, isBeyond, w.equal(code, 0)), 0u, sign);
    }
  }
  if (format.specials == Specials::Unsigned || !format.hasNaN()) {
    return w.select(isNaN, 1u << signBit, w.either(code, sign));
  }
  return w.either(w.select(isNaN, format.nan(), code), sign);
}
