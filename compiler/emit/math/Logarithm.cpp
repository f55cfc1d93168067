// Expands log and what is made of it: log1p, log2, log10, cbrt and pow. With x = 2^e m and m in [sqrt(1/2), sqrt(2)),
// log m is a polynomial in m - 1 (f32, Cephes) or the series of atanh (f64, fdlibm).
#include "compiler/emit/math/Functions.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot::emit;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

/// The parts of x = 2^exponent * mantissa.
struct Split {
  Value exponent, mantissa;
};

/// Splits a positive, normal x.
Split splitNormal(const FloatBuilder &f, Value x) {
  int64_t digits = f.isDouble() ? 52 : 23;
  int64_t root = f.isDouble() ? 0x3fe6a09e667f3bcd : 0x3f3504f3; // sqrt(1/2)
  int64_t offset = f.isDouble() ? 1024 : 128;                    // it keeps the shifted exponent positive
  Value fromRoot = f.addBits(f.bits(x), f.bitsConstant((offset << digits) - root));
  Value mantissa = f.fromBits(f.addBits(f.andBits(fromRoot, (int64_t(1) << digits) - 1), f.bitsConstant(root)));
  return {f.smallIntegerToFloat(f.shiftRight(fromRoot, digits), offset), mantissa};
}

/// Splits a positive, finite x. Denormals are first multiplied by a power of two, which makes them normal.
Split split(const FloatBuilder &f, Value x) {
  int64_t up = f.isDouble() ? 53 : 24;
  Value small = f.less(x, f.isDouble() ? 0x1p-1022 : 0x1p-126);
  Split parts = splitNormal(f, f.select(small, f.mul(x, std::ldexp(1.0, static_cast<int>(up))), x));
  parts.exponent = f.select(small, f.sub(parts.exponent, double(up)), parts.exponent);
  return parts;
}

Value log32(const FloatBuilder &f, const Split &x) {
  constexpr double p[] = {3.3333331174E-1,  -2.4999993993E-1, 2.0000714765E-1,  -1.6668057665E-1, 1.4249322787E-1,
                          -1.2420140846E-1, 1.1676998740E-1,  -1.1514610310E-1, 7.0376836292E-2};
  Value y = f.sub(x.mantissa, 1.0), square = f.mul(y, y);
  Value rest = f.mul(f.mul(f.polynomial(y, p), y), square);
  rest = f.fma(x.exponent, f.constant(-2.12194440e-4), rest);
  rest = f.fma(square, f.constant(-0.5), rest);
  return f.fma(x.exponent, f.constant(0.693359375), f.add(y, rest));
}

Value log64(const FloatBuilder &f, const Split &x) {
  constexpr double p[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                          2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                          1.479819860511658591e-01};
  Value y = f.sub(x.mantissa, 1.0), halfSquare = f.mul(f.mul(y, y), 0.5);
  Value s = f.div(y, f.add(y, 2.0)), z = f.mul(s, s);
  Value r = f.mul(f.polynomial(z, p), z);
  Value low = f.fma(x.exponent, f.constant(1.90821492927058770002e-10), f.mul(s, f.add(halfSquare, r)));
  Value rest = f.sub(f.sub(halfSquare, low), y);
  return f.sub(f.mul(x.exponent, 6.93147180369123816490e-01), rest);
}

/// Computes a function of one value in f64, for either width.
template <typename Body> Value inDouble(const FloatBuilder &f, Value x, Body body) {
  FloatBuilder d = f.with(64);
  return f.convert(body(d, d.convert(x)));
}

} // namespace

Value ingot::emit::expandLog(const FloatBuilder &f, Value x) {
  Split parts = split(f, x);
  Value result = f.isDouble() ? log64(f, parts) : log32(f, parts);
  Value special = f.select(f.less(x, 0.0), f.constant(notANumber), x);
  special = f.select(f.equal(x, 0.0), f.constant(-infinity), special);
  return f.select(f.both(f.greater(x, 0.0), f.less(x, infinity)), result, special);
}

// This is log(u) with u = 1 + x rounded, plus what the rounding lost, to first order.
Value ingot::emit::expandLog1p(const FloatBuilder &f, Value x) {
  Value u = f.add(x, 1.0);
  Value lost = f.div(f.sub(x, f.sub(u, 1.0)), u);
  Value ordinary = f.both(f.greater(u, 0.0), f.less(u, infinity));
  Value result = f.add(expandLog(f, u), f.select(ordinary, lost, f.constant(0.0)));
  return f.select(f.equal(x, 0.0), x, result);
}

// This is 2 atanh(s) with s = x / (2 + x), which is at most 1/3: 2 s (1 + s^2 p(s^2)). The polynomial was fitted so
// that the largest relative error, 4.5e-9, is least.
Value ingot::emit::expandLog1pOfFraction(const FloatBuilder &f, Value x) {
  if (f.isDouble()) {
    return expandLog1p(f, x);
  }
  constexpr double p[] = {3.333320916e-01, 2.001076341e-01, 1.400090158e-01, 1.400599629e-01};
  Value s = f.div(x, f.add(x, 2.0)), z = f.mul(s, s), twice = f.add(s, s);
  return f.fma(f.mul(f.polynomial(z, p), z), twice, twice);
}

Value ingot::emit::expandLog2(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) { return d.mul(expandLog(d, v), 1.44269504088896340736); });
}

Value ingot::emit::expandLog10(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) { return d.mul(expandLog(d, v), 0.43429448190325182765); });
}

// This is exp(log|x| / 3) and one step of Newton's iteration. Tiny numbers are scaled so that the cube is a normal
// number. Zeros, infinities and NaN are their own cube roots.
Value ingot::emit::expandCbrt(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) {
    Value magnitude = d.abs(v), tiny = d.less(magnitude, 0x1p-900);
    magnitude = d.select(tiny, d.mul(magnitude, 0x1p300), magnitude);
    Value y = expandExp(d, d.mul(expandLog(d, magnitude), 1.0 / 3));
    Value square = d.mul(y, y);
    Value error = d.div(d.sub(d.mul(square, y), magnitude), d.mul(square, 3.0));
    Value ordinary = d.both(d.greater(magnitude, 0.0), d.less(magnitude, infinity));
    Value root = d.mul(d.sub(y, error), d.select(tiny, d.constant(0x1p-100), d.constant(1.0)));
    return d.select(ordinary, d.copySign(root, v), v);
  });
}

/// Returns |x|^y in f64, for operands that were f32. It is 2^(y log2|x|) with log2 m = s p(s^2) and s = (m - 1) / (m +
/// 1). Both polynomials were fitted so that the largest relative error, 2.7e-14 and 4.7e-11, is least; the logarithm's
/// is multiplied by up to 104, so that the power is off by less than a thousandth of an ulp of f32. Exponents beyond
/// the range of f32 are clamped, since the conversion to f32 makes infinity and 0 of these powers.
static Value powerOfMagnitude(const FloatBuilder &d, Value magnitude, Value y) {
  constexpr double ofLog[] = {2.88539008177784996,  0.961796694113401834, 0.577077942346614139,
                              0.412209254333982711, 0.319905611862474019, 0.282901443688575616};
  constexpr double ofPower[] = {1.0,
                                0.693147180704529137,
                                0.240226510665591232,
                                0.0555041036600156893,
                                0.00961803813230126618,
                                0.00133339350471435344,
                                0.000154667562581168628,
                                0.0000151961585187102984};
  Split parts = splitNormal(d, magnitude);
  Value s = d.div(d.sub(parts.mantissa, 1.0), d.add(parts.mantissa, 1.0));
  Value log = d.fma(s, d.polynomial(d.mul(s, s), ofLog), parts.exponent);
  log = d.select(d.equal(magnitude, 0.0), d.constant(-infinity), log);
  log = d.select(d.less(magnitude, infinity), log, magnitude);
  Value power = d.clamp(d.mul(y, log), -160.0, 130.0);
  FloatBuilder::Rounded n = d.roundSmall(power);
  return d.mul(d.polynomial(d.sub(power, n.value), ofPower), d.powerOfTwo(n, 0));
}

// This is exp(y log|x|), negated for a negative x and an odd y, and NaN for a negative x and a y that is no integer.
// C's exceptions are x^0 = 1 and 1^y = 1 for every other operand, NaN too, and (-1)^(+-infinity) = 1.
Value ingot::emit::expandPow(const FloatBuilder &f, Value x, Value y) {
  FloatBuilder d = f.with(64);
  Value magnitude = f.abs(x), wide = d.abs(d.convert(x));
  Value result =
      f.isDouble() ? expandExp(d, d.mul(y, expandLog(d, wide))) : f.convert(powerOfMagnitude(d, wide, d.convert(y)));
  Value isInteger = f.equal(f.trunc(y), y);
  Value half = f.mul(y, 0.5);
  Value isOdd = f.both(isInteger, f.less(f.abs(f.trunc(half)), f.abs(half)));
  Value negative = f.signBit(x);
  result = f.select(f.both(negative, isOdd), f.neg(result), result);
  Value finiteNegative = f.both(f.less(x, 0.0), f.greater(x, -infinity));
  result = f.select(f.both(finiteNegative, f.less(f.trunc(f.abs(y)), f.abs(y))), f.constant(notANumber), result);
  Value unit = f.both(f.equal(magnitude, 1.0), f.equal(f.abs(y), infinity));
  unit = f.either(unit, f.either(f.equal(y, 0.0), f.equal(x, 1.0)));
  return f.select(unit, f.constant(1.0), result);
}
