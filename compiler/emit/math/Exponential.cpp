// Expands exp, exp2, expm1 and tanh. With x = n ln 2 + r and |r| <= ln 2 / 2, e^r - 1 is a polynomial, and 2^n is
// multiplied through the exponent. ln 2 is split into a high and a low part, so that n * high is exact without a fused
// multiply-add.
#include "compiler/emit/math/Functions.h"
#include "mlir/IR/Matchers.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace ingot::emit;

namespace {

/// The polynomials for (e^r - 1 - r) / r^2 with |r| <= 0.35: Cephes' expf for f32, Taylor's series for f64.
constexpr double tail32[] = {5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2,
                             8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4};
constexpr double tail64[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                             1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                             1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

/// The parts of x = n ln 2 + r.
struct Reduced {
  FloatBuilder::Rounded n;
  Value r;
};

/// Splits x into n ln 2 + r; 1.4427 is 1 / ln 2.
Reduced reduce(const FloatBuilder &f, Value x) {
  FloatBuilder::Rounded n = f.roundSmall(x, 1.44269504088896340736);
  double high = f.isDouble() ? 6.93147180369123816490e-01 : 0.693359375;
  double low = f.isDouble() ? 1.90821492927058770002e-10 : -2.12194440e-4;
  Value r = f.fma(n.value, f.constant(-high), x);
  return {n, f.fma(n.value, f.constant(-low), r)};
}

/// Returns (e^r - 1 - r) / r^2.
Value tail(const FloatBuilder &f, Value r) { return f.isDouble() ? f.polynomial(r, tail64) : f.polynomial(r, tail32); }

/// Returns e^r for |r| <= ln 2 / 2.
Value smallExp(const FloatBuilder &f, Value r) {
  Value one = f.constant(1.0);
  return f.fma(f.fma(tail(f, r), r, one), r, one);
}

/// The two factors of e^(c x) in float32, `ofRest` = e^r and `power` = 2^n, computed with fewer operations than by
/// reduce(): ln 2 is one constant in place of two parts, so that r is off by 2e-9 * n where c is 1 or -1. All constants
/// are multiplied by c or divided by it beforehand, so that the product c x needs no operation of its own.
struct ShortExp {
  Value ofRest, power;
};

/// Computes these factors. The polynomial for e^r is exact at 0 and else off by up to 0.8 ulp. With `roundedToBytes`,
/// for results that are quantized to bytes, a shorter polynomial is off by up to 2.9e-6.
ShortExp shortExp(const FloatBuilder &f, Value x, double c = 1, bool roundedToBytes = false) {
  SmallVector<double, 6> nearZero{1.0, 0.9999997, 0.4999915, 0.16667637, 0.04189797, 0.00829031};
  if (roundedToBytes) {
    nearZero = {1.0, 0.99996683, 0.50003014, 0.16787479, 0.04151388};
  }
  double power = 1;
  for (double &coefficient : nearZero) {
    coefficient *= power, power *= c;
  }
  FloatBuilder::Rounded n = f.roundForPower(x, f.constant(c * 1.44269504088896340736), 0);
  Value r = f.fma(n.value, f.constant(-0.69314718055994530942 / c), x);
  return {f.polynomial(r, nearZero), f.powerOfTwo(n, 0)};
}

/// Returns e^x - 1 for x no further from 0 than expandExpM1 clamps it; the sign of a zero is not kept.
///   2^n (q + 1) - 1 = 2 (2^(n-1) q + (2^(n-1) - 1/2)) with q = e^r - 1
/// In this form the cancellation is exact, and n = 128 does not overflow.
Value expM1InRange(const FloatBuilder &f, Value x) {
  Reduced reduced = reduce(f, x);
  Value r = reduced.r;
  Value q = f.fma(f.mul(r, r), tail(f, r), r);
  Value half = f.powerOfTwo(reduced.n, -1);
  Value result = f.fma(half, q, f.sub(half, 0.5));
  return f.add(result, result);
}

} // namespace

Value ingot::emit::expandExp(const FloatBuilder &f, Value x) {
  x = f.isDouble() ? f.clamp(x, -746.0, 710.0) : f.clamp(x, -104.0, 89.0);
  Reduced reduced = reduce(f, x);
  return f.scale(smallExp(f, reduced.r), reduced.n);
}

Value ingot::emit::expandExpOfMedium(const FloatBuilder &f, Value x) {
  Reduced reduced = reduce(f, x);
  return f.mul(smallExp(f, reduced.r), f.powerOfTwo(reduced.n, 0));
}

/// Takes a value apart as a number times another value, where the number is -1 or, `roundedToBytes`, any that leaves
/// the clamping bounds finite.
static std::pair<double, Value> withFactor(Value x, bool roundedToBytes) {
  if (auto negated = x.getDefiningOp<arith::NegFOp>()) {
    return {-1.0, negated.getOperand()};
  }
  auto product = roundedToBytes ? x.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  APFloat number(0.0);
  if (product && matchPattern(product.getRhs(), m_ConstantFloat(&number))) {
    double c = number.convertToDouble();
    constexpr double most = 1e9;
    if (std::abs(c) > 1 / most && std::abs(c) < most) {
      return {c, product.getLhs()};
    }
  }
  return {1.0, x};
}

// The exponent can be clamped at both ends, because the result is a sum with 1 by which callers divide. Below e^-87 the
// exponential does not change the sum. From e^88.4 on 2^n is infinite (n = 128) and the reciprocal is 0, which
// would else be a denormal number. The last fused multiply-add multiplies by 2^n and adds the 1.
Value ingot::emit::expandOnePlusExp(const FloatBuilder &f, Value x, bool roundedToBytes) {
  auto [c, from] = withFactor(x, roundedToBytes);
  double least = -87.0 / c, most = 89.0 / c;
  ShortExp e = shortExp(f, f.clamp(from, std::min(least, most), std::max(least, most)), c, roundedToBytes);
  return f.fma(e.ofRest, e.power, f.constant(1.0));
}

// 1 / (1 + exp(x)) is approximated by a parabola on each of 31 parts of [-10.8, 10.8]. A parabola agrees with the
// function at the three zeros of Chebyshev's polynomial of the third degree, scaled to its part; but the two outermost
// ones end exactly at 0 and 1, and x is clamped to where they end. So a caller that multiplies the result by x, as
// SiLU does (x / (1 + exp(-x))), gets 0 or x itself there, however large |x| is.
//
// The number of the part that x is in comes from adding a float so large that the sum is a whole number, which then is
// in the last bits of the sum. Where x is c times another value, c is in the constants.
Value ingot::emit::expandInverseForBytes(const FloatBuilder &f, Value x, LookUp lookUp) {
  constexpr int64_t parts = 32, last = 15, middle = 16;
  constexpr double perPart = 0.7, end = (last + 0.49) * perPart;
  constexpr double integers = 3 << 22; // from 1.5 * 2^23 on, neighbouring floats are neighbouring integers
  auto [c, from] = withFactor(x, /*roundedToBytes=*/true);
  std::array<std::array<float, parts>, 3> tables{};
  auto value = [](double at) { return at >= end ? 1.0 : at <= -end ? 0.0 : 1 / (1 + std::exp(-at)); };
  for (int64_t part = -last; part <= last; ++part) {
    double center = part * perPart, inner = perPart / 2 * std::sqrt(0.75);
    double below = part == -last ? end - last * perPart : inner, above = part == last ? end - last * perPart : inner;
    double there = value(center), falls = (there - value(center - below)) / below,
           rises = (value(center + above) - there) / above;
    double bend = (rises - falls) / (below + above), slope = rises - bend * above;
    // The parabola is there + slope (u - center) + bend (u - center)^2 of u = -c x, multiplied out for x.
    tables[0][part + middle] = static_cast<float>(there - slope * center + bend * center * center);
    tables[1][part + middle] = static_cast<float>(-c * (slope - 2 * bend * center));
    tables[2][part + middle] = static_cast<float>(c * c * bend);
  }
  double most = end / std::abs(c);
  Value near = f.clamp(from, -most, most);
  Value number = f.fma(near, f.constant(-c / perPart), f.constant(integers + middle));
  Value inner = f.fma(near, lookUp(tables[2], number), lookUp(tables[1], number));
  return f.fma(near, inner, lookUp(tables[0], number));
}

// The lower bound is where powerOfTwo's shift gives an exponent of all zero bits, which is the number 0.
Value ingot::emit::expandExpOfNegative(const FloatBuilder &f, Value x) {
  constexpr double ln2 = 0.69314718055994530942;
  double bound = (f.isDouble() ? -1023 : -127) * ln2;
  x = f.select(f.less(x, bound), f.constant(bound), x);
  if (f.isDouble()) {
    return expandExpOfMedium(f, x);
  }
  ShortExp e = shortExp(f, x);
  return f.mul(e.ofRest, e.power);
}

Value ingot::emit::expandExp2(const FloatBuilder &f, Value x) {
  x = f.isDouble() ? f.clamp(x, -1076.0, 1024.5) : f.clamp(x, -151.0, 128.5);
  FloatBuilder::Rounded n = f.roundSmall(x);
  return f.scale(smallExp(f, f.mul(f.sub(x, n.value), 0.69314718055994530942)), n);
}

Value ingot::emit::expandExpM1(const FloatBuilder &f, Value x) {
  Value inRange = f.isDouble() ? f.clamp(x, -40.0, 710.0) : f.clamp(x, -20.0, 89.0);
  return f.copySign(expM1InRange(f, inRange), x);
}

// With m = e^(2|x|) - 1, tanh |x| is m / (m + 2), which is 1 from 20 on.
static Value tanh64(const FloatBuilder &f, Value x) {
  constexpr double last = 20.0;
  Value magnitude = f.abs(x);
  magnitude = f.select(f.greater(magnitude, last), f.constant(last), magnitude);
  Value m = expM1InRange(f, f.add(magnitude, magnitude));
  return f.copySign(f.div(m, f.add(m, 2.0)), x);
}

// In f32 tanh |x| is h / (h + 1) with h = m / 2, which is 1 from 10 on.
//   |x| = n ln 2 / 2 + s,  q = e^2s - 1 = 2s + s^2 p(s),  h = 2^(n-1) q + (2^(n-1) - 1/2)
// The polynomial p is minimax for the relative error of q, 0.22 * 2^-24. That ln 2 is one constant moves s by 1e-9 * n,
// which a tanh feels ever less as n grows.
static Value tanh32(const FloatBuilder &f, Value x) {
  constexpr double last = 10.0;
  constexpr double p[] = {1.9999999259844532, 1.3333234739339965, 0.6666752114353991, 0.26772950848891,
                          0.08884810403337635};
  Value magnitude = f.abs(x);
  magnitude = f.select(f.greater(magnitude, last), f.constant(last), magnitude);
  FloatBuilder::Rounded n = f.roundForPower(magnitude, f.constant(2 * 1.44269504088896340736), -1);
  Value s = f.fma(n.value, f.constant(-0.69314718055994530942 / 2), magnitude);
  Value q = f.fma(f.mul(s, s), f.polynomial(s, p), f.add(s, s));
  Value half = f.powerOfTwo(n, -1);
  Value h = f.fma(half, q, f.sub(half, 0.5));
  return f.copySign(f.div(h, f.add(h, 1.0)), x);
}

Value ingot::emit::expandTanh(const FloatBuilder &f, Value x) { return f.isDouble() ? tanh64(f, x) : tanh32(f, x); }
