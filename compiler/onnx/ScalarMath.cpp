// Emits arithmetic on scalars or vectors as arith and math operations, with the meaning of the standard and numpy:
// integers wrap around, nothing traps, and what C leaves undefined (a shift beyond the width, the least number by -1)
// has a value. Such cases cost a select each, which known constants avoid: known() looks at operands that are
// constants.
//
// Floats narrower than 32 bits exist only at casts: there a number is rounded to the narrow type and widened again, so
// that it is a float32 which the narrow type has.
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/support/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::onnx {

/// Returns the nearest number of a float type.
static APFloat rounded(const Number &number, const llvm::fltSemantics &semantics) {
  constexpr auto how = APFloat::rmNearestTiesToEven;
  if (std::optional<double> real = number.real()) {
    APFloat value(*real);
    bool losesInfo;
    value.convert(semantics, how, &losesInfo);
    return value;
  }
  APFloat value(semantics);
  value.convertFromAPInt(APInt(64, *number.bits()), /*IsSigned=*/number.integer().has_value(), how);
  return value;
}

TypedAttr constantOfType(Type type, const Number &number) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (auto real = dyn_cast<FloatType>(element)) {
    attr = FloatAttr::get(real, rounded(number, real.getFloatSemantics()));
  } else {
    std::optional<uint64_t> bits = number.bits();
    if (!bits) {
      llvm::report_fatal_error("a constant of an integer type is no integer");
    }
    unsigned width = element.isIndex() ? IndexType::kInternalStorageBitWidth : element.getIntOrFloatBitWidth();
    attr = IntegerAttr::get(element, APInt(64, *bits).zextOrTrunc(width));
  }
  auto vector = dyn_cast<VectorType>(type);
  return vector ? DenseElementsAttr::get(vector, Attribute(attr)) : attr;
}

bool Num::isFloat() const { return isa<FloatType>(getElementTypeOrSelf(v.getType())); }
bool Num::isBool() const { return onnx::isBool(getElementTypeOrSelf(v.getType())); }
unsigned Num::width() const { return getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth(); }
Num Num::like(Value other) const {
  Num n(*this);
  n.v = other;
  return n;
}

Num Num::constant(const Number &c) const {
  return like(arith::ConstantOp::create(*b, loc, constantOfType(v.getType(), c)));
}

std::optional<Number> Num::known() const {
  Attribute a;
  if (!matchPattern(v, m_Constant(&a))) {
    return std::nullopt;
  }
  if (auto splat = dyn_cast<SplatElementsAttr>(a)) {
    a = splat.getSplatValue<Attribute>();
  }
  if (auto f = dyn_cast<FloatAttr>(a)) {
    return Number(f.getValueAsDouble());
  }
  auto i = dyn_cast<IntegerAttr>(a);
  return !i           ? std::nullopt
         : isUnsigned ? std::optional(Number(i.getValue().getZExtValue()))
                      : std::optional(Number(i.getValue().getSExtValue()));
}

/// Emits one of two operations, by the kind of the operands.
template <typename Float, typename Integer> static Num binary(Num a, Num c) {
  if (a.isFloat()) {
    return a.like(Float::create(a.builder(), a.where(), a, c));
  }
  return a.like(Integer::create(a.builder(), a.where(), a, c));
}
template <typename Op> static Num make(Num a, Num c) { return a.like(Op::create(a.builder(), a.where(), a, c)); }

Num operator+(Num a, Num c) { return binary<arith::AddFOp, arith::AddIOp>(a, c); }
Num operator-(Num a, Num c) { return binary<arith::SubFOp, arith::SubIOp>(a, c); }
Num operator*(Num a, Num c) { return binary<arith::MulFOp, arith::MulIOp>(a, c); }
Num operator-(Num a) {
  return a.isFloat() ? a.like(arith::NegFOp::create(a.builder(), a.where(), a)) : a.constant(0) - a;
}

/// Returns a divisor that cannot trap, in place of zero and of the -1 that overflows.
static Num harmless(Num divisor) {
  auto known = divisor.known();
  if (known && *known != 0 && *known != -1) {
    return divisor;
  }
  Num bad = divisor == 0.0;
  return select(divisor.unsignedInteger() ? bad : bad | (divisor == -1.0), divisor.constant(1), divisor);
}

/// The quotient by -1 is a negation, so that the least number gives itself, as in two's complement.
Num operator/(Num a, Num c) {
  if (a.isFloat()) {
    return make<arith::DivFOp>(a, c);
  }
  if (a.unsignedInteger()) {
    return make<arith::DivUIOp>(a, harmless(c));
  }
  Num quotient = make<arith::DivSIOp>(a, harmless(c));
  auto known = c.known();
  return known && *known != -1 ? quotient : select(c == -1.0, -a, quotient);
}

/// Returns the number `a` with the sign of `c`, also of a zero.
static Num withSign(Num a, Num c) { return a.like(math::CopySignOp::create(a.builder(), a.where(), a, c)); }

Num truncatedRemainder(Num a, Num c) {
  if (a.isFloat()) {
    return make<arith::RemFOp>(a, c);
  }
  return a.unsignedInteger() ? make<arith::RemUIOp>(a, harmless(c)) : make<arith::RemSIOp>(a, harmless(c));
}

/// The remainder of C has the dividend's sign; where the divisor has the other one, the divisor is added. A zero of
/// floats gets the divisor's sign.
Num floorRemainder(Num a, Num c) {
  Num r = truncatedRemainder(a, c);
  Num same = a.isFloat() ? withSign(r, c) : r;
  return a.unsignedInteger() ? r : select((r != 0.0) & ((r < 0.0) ^ (c < 0.0)), r + c, same);
}

/// Emits the comparison that is given for floats, signed and unsigned integers.
static Num compare(Num a, Num c, arith::CmpFPredicate f, arith::CmpIPredicate s, arith::CmpIPredicate u) {
  OpBuilder &b = a.builder();
  Value v;
  if (a.isFloat()) {
    v = arith::CmpFOp::create(b, a.where(), f, a, c);
  } else {
    v = arith::CmpIOp::create(b, a.where(), a.unsignedInteger() ? u : s, a, c);
  }
  return Num(b, a.where(), v, b.getI1Type());
}
using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
Num operator==(Num a, Num c) { return compare(a, c, F::OEQ, I::eq, I::eq); }
Num operator!=(Num a, Num c) { return compare(a, c, F::UNE, I::ne, I::ne); }
Num operator<(Num a, Num c) { return compare(a, c, F::OLT, I::slt, I::ult); }
Num operator<=(Num a, Num c) { return compare(a, c, F::OLE, I::sle, I::ule); }
Num isNaN(Num x) { return compare(x, x, F::UNO, I::ne, I::ne); }

Num operator&(Num a, Num c) { return make<arith::AndIOp>(a, c); }
Num operator|(Num a, Num c) { return make<arith::OrIOp>(a, c); }
Num operator^(Num a, Num c) { return make<arith::XOrIOp>(a, c); }
Num operator~(Num a) { return a ^ a.constant(-1); }

/// Emits a shift by an amount that the operation allows, and `all`, what is left of the number, for any other amount.
template <typename Op> static Num shift(Num a, Num by, Num all) {
  Num inside = by < by.constant(a.width());
  inside = by.unsignedInteger() ? inside : inside & (by >= by.constant(0));
  return select(inside, make<Op>(a, select(inside, by, by.constant(0))), all);
}
Num shiftLeft(Num a, Num by) { return shift<arith::ShLIOp>(a, by, a.constant(0)); }
Num shiftRight(Num a, Num by) {
  if (a.unsignedInteger()) {
    return shift<arith::ShRUIOp>(a, by, a.constant(0));
  }
  return shift<arith::ShRSIOp>(a, by, select(a < 0.0, a.constant(-1), a.constant(0)));
}

Num select(Num condition, Num a, Num c) {
  return a.like(arith::SelectOp::create(a.builder(), a.where(), condition, a, c));
}

Num maximum(Num a, Num c) {
  return a.unsignedInteger() ? make<arith::MaxUIOp>(a, c) : binary<arith::MaximumFOp, arith::MaxSIOp>(a, c);
}
Num minimum(Num a, Num c) {
  return a.unsignedInteger() ? make<arith::MinUIOp>(a, c) : binary<arith::MinimumFOp, arith::MinSIOp>(a, c);
}
Num atLeast(Num x, Num low) { return x.isFloat() ? select(low > x, low, x) : maximum(x, low); }
Num atMost(Num x, Num high) { return x.isFloat() ? select(high < x, high, x) : minimum(x, high); }

Num abs(Num x) {
  if (x.isFloat()) {
    return x.like(math::AbsFOp::create(x.builder(), x.where(), x));
  }
  return x.unsignedInteger() ? x : x.like(math::AbsIOp::create(x.builder(), x.where(), x));
}

#define X(name, Class)                                                                                                 \
  Num name(Num x) { return x.like(math::Class##Op::create(x.builder(), x.where(), x)); }
INGOT_MATH_FUNCTIONS(X)
#undef X

Num sigmoid(Num x) { return 1.0 / (1.0 + exp(-x)); }
// Computes log(1 + exp(x)) so that neither branch overflows, and small results keep their digits.
Num softplus(Num x) {
  Num rest = log1p(exp(-abs(x)));
  Value(rest).getDefiningOp()->setDiscardableAttr(support::fractionName, x.builder().getUnitAttr());
  return atLeast(x, 0.0) + rest;
}

/// Returns `type` with another element type.
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

static Value floatToInteger(OpBuilder &b, Location loc, Num x, Type signless, bool isUnsigned) {
  Type type = Value(x).getType();
  unsigned width = signless.getIntOrFloatBitWidth();
  if (width == 64 && isUnsigned) {
    return arith::FPToUIOp::create(b, loc, withElement(type, signless), x);
  }
  // Narrow results go through a wider signed integer: a number that does not fit wraps, as it does in C on the machines
  // that others run on.
  unsigned through = width < 32 ? 32 : isUnsigned ? 64 : width;
  Value wide = arith::FPToSIOp::create(b, loc, withElement(type, b.getIntegerType(through)), x);
  return through == width ? wide : arith::TruncIOp::create(b, loc, withElement(type, signless), wide).getResult();
}

/// Returns a float32 or float64 as the nearest number of a narrow float, which stays float32.
static Num rounded(Num x, Type narrow, bool saturate) {
  OpBuilder &b = x.builder();
  const support::ElementType &row = rowOf(narrow);
  if (saturate && row.bits == 8) {
    double most = row.format.largest();
    x = atMost(atLeast(x, -most), most);
  }
  Type type = Value(x).getType();
  Value code = arith::TruncFOp::create(b, x.where(), withElement(type, narrow), x);
  return Num(b, x.where(), arith::ExtFOp::create(b, x.where(), withElement(type, b.getF32Type()), code), narrow);
}

/// Returns the low bits of values of one byte as an integer below a byte.
static Num lowBits(Num x, Type element) {
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isUnsignedInteger()) {
    return x & x.constant((1 << bits) - 1);
  }
  return shiftRight(shiftLeft(x, x.constant(8 - bits)), x.constant(8 - bits));
}

/// The order of the cases matters. Narrow floats come first, since they are rounded from a float that holds the number:
/// an integer of 32 bits or more goes through float64, so that it is rounded once. Integers below a byte go through a
/// byte. Then come booleans, and at last what one operation of the arith dialect converts.
Num Num::to(Type element, bool saturate) const {
  if (isNarrowFloat(element)) {
    bool isPower = rowOf(element).format.specials == support::Specials::Powers;
    Type through = width() >= 32 && !isPower ? b->getF64Type() : b->getF32Type();
    Num wide = isFloat() && width() >= 32 && !(isPower && width() > 32) ? *this : to(through);
    return isPower ? roundedToPower(wide, PowerRounding::Up, saturate) : rounded(wide, element, saturate);
  }
  if (element.isInteger() && !onnx::isBool(element) && element.getIntOrFloatBitWidth() < 8) {
    return lowBits(to(b->getIntegerType(8, !element.isUnsignedInteger())), element);
  }
  Type from = getElementTypeOrSelf(v.getType());
  bool toFloat = isa<FloatType>(element);
  Type signless = toFloat ? element : b->getIntegerType(element.getIntOrFloatBitWidth());
  Type type = withElement(v.getType(), signless);
  unsigned width = from.getIntOrFloatBitWidth(), wanted = signless.getIntOrFloatBitWidth();
  Value r = v;
  if (onnx::isBool(element)) {
    r = isBool() ? v : Value(*this != 0.0);
  } else if (isFloat() && toFloat) {
    if (wanted > width) {
      r = arith::ExtFOp::create(*b, loc, type, v);
    } else if (wanted < width) {
      r = arith::TruncFOp::create(*b, loc, type, v);
    }
  } else if (isFloat()) {
    r = floatToInteger(*b, loc, *this, signless, element.isUnsignedInteger());
  } else if (toFloat) {
    r = isUnsigned ? arith::UIToFPOp::create(*b, loc, type, v).getResult()
                   : arith::SIToFPOp::create(*b, loc, type, v).getResult();
  } else if (wanted > width) {
    r = isUnsigned ? arith::ExtUIOp::create(*b, loc, type, v).getResult()
                   : arith::ExtSIOp::create(*b, loc, type, v).getResult();
  } else if (wanted < width) {
    r = arith::TruncIOp::create(*b, loc, type, v);
  }
  return Num(*b, loc, r, element);
}

/// Changes the bits of float32. The exponent's bits without the fraction are the greatest power of two that is not
/// above the magnitude; adding one to the exponent gives the next power. Where the exponent's bits are all 0 the power
/// is 2^-127, the lowest that there is, also for zero. As a float32 it is denormal: its fraction is one half.
Num roundedToPower(Num x, PowerRounding how, bool saturate) {
  OpBuilder &b = x.builder();
  Type type = Value(x).getType(), i32 = b.getI32Type();
  constexpr int64_t mantissa = 0x7fffff, exponent = 0x7f800000, half = 0x400000;
  constexpr int mantissaBits = 23;
  Num bits(b, x.where(), arith::BitcastOp::create(b, x.where(), withElement(type, i32), x), i32);
  Num fraction = bits & bits.constant(mantissa), power = bits & bits.constant(exponent);
  Num step = bits.constant(0);
  if (how != PowerRounding::Down) {
    // A fraction of one half is rounded up, but not where the exponent's bits are 0: there it is 2^-127 itself.
    Num up = how == PowerRounding::Up ? fraction > 0.0 : (fraction > half) | ((fraction == half) & (power > 0.0));
    step = select(up, bits.constant(1 << mantissaBits), step);
  }
  Num next = power + step, most = bits.constant(exponent - (1 << mantissaBits));
  next = saturate ? minimum(next, most) : next;
  // 2^-127 is a denormal float32, and the highest exponent is NaN.
  next = select(next == 0.0, bits.constant(half), select(next > most, bits.constant(exponent + half), next));
  next = select(power == bits.constant(exponent), bits.constant(exponent + half), next);
  return Num(b, x.where(), arith::BitcastOp::create(b, x.where(), type, next), b.getF32Type());
}

/// Computes x to the power of 1/2 as C has it, which differs from a root for -0 and -infinity.
static Num rootPower(Num x) {
  double infinity = std::numeric_limits<double>::infinity();
  return sqrt(select(x == -infinity, x.constant(infinity), x + 0.0));
}

/// Computes x to a whole power by repeated squaring.
static Num wholePower(Num x, int64_t n) {
  std::optional<Num> result;
  for (Num square = x; n > 0; n >>= 1) {
    if (n & 1) {
      result = result ? *result * square : square;
    }
    if (n > 1) {
      square = square * square;
    }
  }
  return result ? *result : x.constant(1);
}

/// Computes an integer to an integer power, exactly (modulo the width), by repeated squaring. A negative power is
/// truncated as 1 / x is. From exponent 64 on only 0, 1 and -1 have powers in range, and those depend on nothing but
/// its parity.
static Num integerPower(Num base, Num exponent) {
  static constexpr int bits = 6;
  Num odd = (exponent & exponent.constant(1)) != 0, one = base.constant(1);
  Num e = select(exponent > 63, (exponent & exponent.constant(1)) + 62, exponent), result = one, square = base;
  for (int i = 0; i < bits; ++i) {
    result = select((e & e.constant(1 << i)) != 0, result * square, result);
    square = square * square;
  }
  Num inverse = select(base == 1, one, base.constant(0));
  if (!base.unsignedInteger()) {
    inverse = select(base == -1, select(odd, base, one), inverse);
  }
  return select(exponent < 0, inverse, result);
}

/// Constant whole exponents up to 16 become products, and halves become roots, which cost a fraction of a call of pow.
/// Integers are raised exactly; only a fraction in the exponent makes it a power of floats.
Num power(Num base, Num exponent) {
  static constexpr int64_t mostMultiplied = 16;
  Type element = getElementTypeOrSelf(Value(base).getType());
  if (auto n = exponent.known()) {
    std::optional<int64_t> whole = n->integer();
    int64_t least = base.isFloat() ? -mostMultiplied : 0;
    if (whole && *whole >= least && *whole <= mostMultiplied) {
      // The power of a large number would be infinite where its reciprocal is not yet zero.
      return *whole < 0 ? wholePower(1.0 / base, -*whole) : wholePower(base, *whole);
    }
    if (base.isFloat() && (*n == 0.5 || *n == -0.5)) {
      return *n == -0.5 ? 1.0 / rootPower(base) : rootPower(base);
    }
  }
  auto viaFloats = [&](Type type) {
    Num x = base.to(type), y = exponent.to(type);
    return x.like(math::PowFOp::create(x.builder(), x.where(), x, y));
  };
  if (base.isFloat()) {
    return viaFloats(element);
  }
  OpBuilder &b = base.builder();
  Num whole = integerPower(base, exponent.to(b.getIntegerType(64, !exponent.unsignedInteger())));
  if (!exponent.isFloat()) {
    return whole;
  }
  return select(exponent == trunc(exponent), whole, base.like(viaFloats(b.getF64Type()).to(element)));
}

} // namespace ingot::onnx
