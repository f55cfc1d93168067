// Expands circular and hyperbolic functions and their inverses, in f64 arithmetic for either width (f32 results are
// then almost always correctly rounded). Polynomials are fdlibm's.
//
// An angle is first reduced to [-pi/4, pi/4] and a number of quarter turns. Small angles need three multiply-adds for
// that; large ones need many digits of 2/pi, for which only vectors that have one pay.
#include "compiler/emit/math/Functions.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot::emit;

namespace {

constexpr double pi = 3.14159265358979311600, halfPi = 1.57079632679489655800;

/// Computes a function of one value in f64.
template <typename Body> Value inDouble(const FloatBuilder &f, Value x, Body body) {
  FloatBuilder d = f.with(64);
  return f.convert(body(d, d.convert(x)));
}

/// Computes a function whose result has the sign of x from |x|, in f64. The sign is put in behind the conversion to the
/// result's width. Otherwise LLVM would also round the operand of copysign from f64 to f16 where a result is narrowed
/// further, by a function of a C library.
template <typename Body> Value oddInDouble(const FloatBuilder &f, Value x, Body body) {
  auto ofMagnitude = [&](const FloatBuilder &d, Value v) { return body(d, d.abs(v)); };
  return f.copySign(inDouble(f, x, ofMagnitude), x);
}

/// An angle as n pi/2 and a rest.
struct Reduced {
  Value angle;  ///< the rest, in [-pi/4, pi/4]
  Value number; ///< n as bits, of which the low two count
};

/// Sine and cosine of a reduced angle, and the quarter turns.
struct Quadrant {
  Value sine, cosine; ///< functions of the rest
  Value number;       ///< n as bits, of which the low two count
};

/// The digits of 2/pi behind its point: as many bits as it takes to distinguish a multiple of pi/2 from the number of
/// f64 that is closest to one.
constexpr uint64_t twoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                  0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                  0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                  0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                  0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// Returns `count` bits of 2/pi, of which `from` is the first, times 2^scale. Bits before the point are zeros.
double partOfTwoOverPi(int64_t from, int64_t count, int64_t scale) {
  uint64_t part = 0;
  for (int64_t i = from; i < from + count; ++i) {
    part = part << 1 | (i < 0 ? 0 : twoOverPi[i / 64] >> (63 - i % 64) & 1);
  }
  return std::ldexp(double(part), int(scale - from - count));
}

/// Adds products of a number by parts of 2/pi, from the largest to the smallest, and leaves out multiples of 4. Sums
/// that come close to an integer are exact, so that their distance from it keeps all its digits.
class QuarterTurns {
public:
  explicit QuarterTurns(const FloatBuilder &d) : d(d), sum(d.constant(0)), tail(sum), turns(sum) {}

  /// Adds a product. `isExact`: the sum needs no second number for what it rounds away.
  void add(Value product, bool isExact) {
    Value rest = d.sub(product, d.mul(d.roundEven(d.mul(product, 0.25)), 4.0));
    Value next = d.add(sum, rest);
    if (!isExact) {
      Value taken = d.sub(next, sum);
      tail = d.add(tail, d.add(d.sub(sum, d.sub(next, taken)), d.sub(rest, taken)));
    }
    Value whole = d.roundEven(next);
    turns = d.add(turns, whole), sum = d.sub(next, whole);
  }
  Value number() const { return d.roundSmall(turns).shifted; }
  Value angle() const {
    Value rest = d.fma(tail, d.constant(halfPi), d.mul(sum, 6.12323399573676603587e-17));
    return d.fma(sum, d.constant(halfPi), rest);
  }

private:
  const FloatBuilder &d;
  Value sum, tail, turns;
};

/// Reduces an |x| beyond 2^20, after Payne and Hanek: x is multiplied by those bits of 2/pi that neither give whole
/// turns nor are too small to matter. Which ones these are depends on the exponent of x, in groups of 2^128; f32 has
/// only one group. Infinities give NaN.
Reduced reduceLarge(const FloatBuilder &d, Value x, bool isDouble) {
  constexpr int64_t group = 128, bits = 24;
  const int64_t groups = isDouble ? 8 : 1, first = isDouble ? -54 : 0, parts = isDouble ? 13 : 9;
  SmallVector<Value> isAbove;
  for (int64_t g = 1; g < groups; ++g) {
    isAbove.push_back(d.less(d.constant(std::ldexp(1.0, int(g * group))), d.abs(x)));
  }
  auto ofGroup = [&](llvm::function_ref<double(int64_t)> value) {
    Value v = d.constant(value(0));
    for (auto [g, condition] : llvm::enumerate(isAbove)) {
      v = d.select(condition, d.constant(value(int64_t(g) + 1)), v);
    }
    return v;
  };
  if (isDouble) {
    x = d.mul(x, ofGroup([&](int64_t g) { return std::ldexp(1.0, int(-g * group)); }));
  }
  Value high = isDouble ? d.fromBits(d.andBits(d.bits(x), -(int64_t(1) << 27))) : x;
  QuarterTurns result(d);
  for (int64_t i = 0; i < parts; ++i) {
    Value part = ofGroup(
        [&](int64_t g) { return partOfTwoOverPi(g * group + first + i * bits, bits, isDouble ? g * group : 0); });
    result.add(d.mul(high, part), /*isExact=*/!isDouble);
    if (isDouble) {
      result.add(d.mul(d.sub(x, high), part), /*isExact=*/false);
    }
  }
  return {result.angle(), result.number()};
}

/// Subtracts n pi/2 in three pieces of 33 bits, which is exact for n < 2^20; 0.6366 is 2/pi.
Reduced reduceSmall(const FloatBuilder &d, Value x) {
  FloatBuilder::Rounded n = d.roundSmall(d.mul(x, 6.36619772367581382433e-01));
  Value r = d.fma(n.value, d.constant(-1.57079632673412561417e+00), x);
  r = d.fma(n.value, d.constant(-6.07710050630396597660e-11), r);
  return {d.fma(n.value, d.constant(-2.02226624879595063154e-21), r), n.shifted};
}

/// Computes sine and cosine of a reduced angle by polynomials.
Quadrant quadrantOf(const FloatBuilder &d, const Reduced &x) {
  constexpr double s[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,  -1.98412698298579493134e-04,
                          2.75573137070700676789e-06,  -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  constexpr double c[] = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                          -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};
  Value r = x.angle, z = d.mul(r, r);
  Value sine = d.fma(d.mul(z, r), d.polynomial(z, s), r);
  Value cosine = d.fma(d.mul(z, z), d.polynomial(z, c), d.fma(z, d.constant(-0.5), d.constant(1.0)));
  return {sine, cosine, x.number};
}

/// Computes a function of an angle in f64. Only vectors with a large angle pay for its reduction.
template <typename Body> Value ofAngle(const FloatBuilder &f, Value x, Body body) {
  FloatBuilder d = f.with(64);
  Value v = d.convert(x);
  Value usual = body(d, quadrantOf(d, reduceSmall(d, v)));
  usual = d.unless(d.greater(d.abs(v), 0x1p20), usual,
                   [&] { return body(d, quadrantOf(d, reduceLarge(d, v, f.isDouble()))); });
  return f.convert(usual);
}

/// Returns sin(x + turns * pi/2).
Value sinePlus(const FloatBuilder &d, const Quadrant &q, int64_t turns) {
  Value number = d.addBits(q.number, d.bitsConstant(turns));
  Value result = d.select(d.isSet(number, 1), q.cosine, q.sine);
  return d.select(d.isSet(number, 2), d.neg(result), result);
}

/// Returns atan(x) for x >= 0, infinity included. One division brings x below 7/16.
Value atanPositive(const FloatBuilder &d, Value x) {
  struct Range {
    /// From x > `above` on: atan(point) + atan((x - point) / (1 + point x)), both sides of the quotient times `scale`.
    double above, scale, point, value;
  };
  constexpr Range ranges[] = {{0.4375, 2.0, 0.5, 4.63647609000806093515e-01},
                              {0.6875, 1.0, 1.0, 7.85398163397448278999e-01},
                              {1.1875, 1.0, 1.5, 9.82793723247329054082e-01}};
  Value numerator = x, denominator = d.constant(1.0), base = d.constant(0.0);
  for (const Range &range : ranges) {
    Value in = d.greater(x, range.above);
    numerator = d.select(in, d.mul(d.sub(x, range.point), range.scale), numerator);
    denominator = d.select(in, d.mul(d.fma(x, d.constant(range.point), d.constant(1.0)), range.scale), denominator);
    base = d.select(in, d.constant(range.value), base);
  }
  Value large = d.greater(x, 2.4375);
  numerator = d.select(large, d.constant(-1.0), numerator);
  denominator = d.select(large, x, denominator);
  base = d.select(large, d.constant(halfPi), base);
  Value r = d.div(numerator, denominator), z = d.mul(r, r);
  constexpr double p[] = {3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
                          -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
                          6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
                          -3.65315727442169155270e-02, 1.62858201153657823623e-02};
  Value correction = d.mul(d.mul(r, z), d.polynomial(z, p));
  return d.add(base, d.sub(r, correction));
}

/// Returns atan(x) in f32, right to two ulp. Beyond 1 it is pi/2 - atan(1 / x), with pi/2 in two parts. The polynomial
/// was fitted so that the largest relative error, 1.7e-8, is least.
Value atan32(const FloatBuilder &f, Value x) {
  constexpr double p[] = {-3.333315253e-01, 1.999377310e-01, -1.421105564e-01, 1.066600308e-01,
                          -7.552210242e-02, 4.321181402e-02, -1.636789925e-02, 2.920684638e-03};
  constexpr double high = 0x1.921fb6p0, low = -0x1.777a5cp-25; // of pi/2
  Value a = f.abs(x), isLarge = f.greater(a, 1.0), one = f.constant(1.0);
  Value r = f.div(f.select(isLarge, f.constant(-1.0), a), f.select(isLarge, a, one)), z = f.mul(r, r);
  Value angle = f.fma(f.mul(f.polynomial(z, p), z), r, r);
  return f.copySign(f.select(isLarge, f.add(f.add(angle, low), high), angle), x);
}

/// Returns (e^a +- e^-a) / 2 for a so large that e^-a does not matter, where e^a alone would overflow too early.
Value halfExp(const FloatBuilder &d, Value a) {
  Value root = expandExp(d, d.mul(a, 0.5));
  return d.mul(d.mul(root, 0.5), root);
}

} // namespace

Value ingot::emit::expandSin(const FloatBuilder &f, Value x) {
  Value sine = ofAngle(f, x, [](const FloatBuilder &d, const Quadrant &q) { return sinePlus(d, q, 0); });
  return f.select(f.equal(x, 0.0), x, sine);
}

Value ingot::emit::expandCos(const FloatBuilder &f, Value x) {
  return ofAngle(f, x, [](const FloatBuilder &d, const Quadrant &q) { return sinePlus(d, q, 1); });
}

Value ingot::emit::expandTan(const FloatBuilder &f, Value x) {
  Value tangent = ofAngle(f, x, [](const FloatBuilder &d, const Quadrant &q) {
    Value odd = d.isSet(q.number, 1);
    return d.div(d.select(odd, q.cosine, q.sine), d.select(odd, d.neg(q.sine), q.cosine));
  });
  return f.select(f.equal(x, 0.0), x, tangent);
}

Value ingot::emit::expandAtan(const FloatBuilder &f, Value x) {
  return f.isDouble() ? oddInDouble(f, x, atanPositive) : atan32(f, x);
}

Value ingot::emit::expandAsin(const FloatBuilder &f, Value x) {
  return oddInDouble(f, x, [](const FloatBuilder &d, Value a) {
    Value one = d.constant(1.0);
    Value cosine = d.sqrt(d.mul(d.sub(one, a), d.add(one, a)));
    return atanPositive(d, d.div(a, cosine));
  });
}

Value ingot::emit::expandAcos(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) {
    Value one = d.constant(1.0);
    Value tangent = d.sqrt(d.div(d.sub(one, v), d.add(one, v)));
    return d.mul(atanPositive(d, tangent), 2.0);
  });
}

// This is atan(|y| / |x|), mirrored for a negative x. The quotient 0/0 counts as 0 and infinity/infinity as 1, as C has
// it.
Value ingot::emit::expandAtan2(const FloatBuilder &f, Value numerator, Value denominator) {
  FloatBuilder d = f.with(64);
  Value y = d.convert(numerator), x = d.convert(denominator), top = d.abs(y), bottom = d.abs(x);
  Value ratio = d.div(top, bottom);
  ratio = d.select(d.equal(top, 0.0), d.select(d.isNaN(x), x, d.constant(0.0)), ratio);
  Value bothInfinite = d.both(d.equal(top, bottom), d.equal(top, std::numeric_limits<double>::infinity()));
  ratio = d.select(bothInfinite, d.constant(1.0), ratio);
  Value angle = atanPositive(d, ratio);
  angle = d.select(d.signBit(x), d.sub(d.constant(pi), angle), angle);
  return f.copySign(f.convert(angle), numerator);
}

Value ingot::emit::expandSinh(const FloatBuilder &f, Value x) {
  return oddInDouble(f, x, [](const FloatBuilder &d, Value a) {
    Value m = expandExpM1(d, a);
    Value result = d.mul(d.add(m, d.div(m, d.add(m, 1.0))), 0.5);
    return d.select(d.greater(a, 700.0), halfExp(d, a), result);
  });
}

Value ingot::emit::expandCosh(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) {
    Value a = d.abs(v), e = expandExp(d, a);
    Value result = d.mul(d.add(e, d.div(d.constant(1.0), e)), 0.5);
    return d.select(d.greater(a, 700.0), halfExp(d, a), result);
  });
}

// This is log1p(a + a^2 / (1 + sqrt(a^2 + 1))); beyond 1e150 the square overflows, and log 2a is the same.
Value ingot::emit::expandAsinh(const FloatBuilder &f, Value x) {
  return oddInDouble(f, x, [](const FloatBuilder &d, Value a) {
    Value square = d.mul(a, a);
    Value root = d.add(d.sqrt(d.add(square, 1.0)), 1.0);
    Value result = expandLog1p(d, d.add(a, d.div(square, root)));
    Value large = d.add(expandLog(d, a), 0.69314718055994530942);
    return d.select(d.greater(a, 1e150), large, result);
  });
}

Value ingot::emit::expandAcosh(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) {
    Value t = d.sub(v, 1.0);
    Value result = expandLog1p(d, d.add(t, d.sqrt(d.mul(t, d.add(t, 2.0)))));
    result = d.select(d.greater(v, 1e150), d.add(expandLog(d, v), 0.69314718055994530942), result);
    return d.select(d.less(v, 1.0), d.constant(std::numeric_limits<double>::quiet_NaN()), result);
  });
}

Value ingot::emit::expandAtanh(const FloatBuilder &f, Value x) {
  return oddInDouble(f, x, [](const FloatBuilder &d, Value a) {
    Value ratio = d.div(d.add(a, a), d.sub(d.constant(1.0), a));
    return d.mul(expandLog1p(d, ratio), 0.5);
  });
}
