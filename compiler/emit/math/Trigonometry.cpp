// Circular and hyperbolic functions and their inverses, in f64 arithmetic for either width (f32 results are then almost
// always correctly rounded). Polynomials are fdlibm's.
#include "compiler/emit/math/Functions.h"
#include <limits>

using namespace mlir;
using namespace ingot::emit;

namespace {

constexpr double pi = 3.14159265358979311600, halfPi = 1.57079632679489655800;

template <typename Body> Value inDouble(const FloatBuilder &f, Value x, Body body) {
  FloatBuilder d = f.with(64);
  return f.convert(body(d, d.convert(x)));
}

/// The same of a function whose result has the sign of x, made of |x|. The sign is put in behind the conversion: LLVM
/// would otherwise round its operand from f64 to f16, too, where a result is narrowed, by a function of a C library.
template <typename Body> Value oddInDouble(const FloatBuilder &f, Value x, Body body) {
  auto ofMagnitude = [&](const FloatBuilder &d, Value v) { return body(d, d.abs(v)); };
  return f.copySign(inDouble(f, x, ofMagnitude), x);
}

struct Quadrant {
  Value sine, cosine; ///< of x reduced into [-pi/4, pi/4]
  Value number;       ///< bits; the low two count quarter turns
};

/// Subtracts n pi/2 in three pieces of 33 bits, exact for n < 2^20. What larger arguments leave is clamped, so that the
/// polynomials stay bounded.
Quadrant reduce(const FloatBuilder &d, Value x) {
  FloatBuilder::Rounded n = d.roundSmall(d.mul(x, 6.36619772367581382433e-01));
  Value r = d.fma(n.value, d.constant(-1.57079632673412561417e+00), x);
  r = d.fma(n.value, d.constant(-6.07710050630396597660e-11), r);
  r = d.fma(n.value, d.constant(-2.02226624879595063154e-21), r);
  r = d.clamp(r, -0.79, 0.79);
  constexpr double s[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,  -1.98412698298579493134e-04,
                          2.75573137070700676789e-06,  -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  constexpr double c[] = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                          -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};
  Value z = d.mul(r, r);
  Value sine = d.fma(d.mul(z, r), d.polynomial(z, s), r);
  Value cosine = d.fma(d.mul(z, z), d.polynomial(z, c), d.fma(z, d.constant(-0.5), d.constant(1.0)));
  return {sine, cosine, n.shifted};
}

/// sin(x + turns * pi/2).
Value sinePlus(const FloatBuilder &d, Value x, int64_t turns) {
  Quadrant q = reduce(d, x);
  Value number = d.addBits(q.number, d.bitsConstant(turns));
  Value result = d.select(d.isSet(number, 1), q.cosine, q.sine);
  return d.select(d.isSet(number, 2), d.neg(result), result);
}

/// atan of x >= 0, infinity included: one division brings x below 7/16.
Value atanPositive(const FloatBuilder &d, Value x) {
  struct Range {
    double above, scale, point, value; ///< above: atan(point) + atan((x - point) / (1 + point x)), times scale twice
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

/// (e^a + sign e^-a) / 2 for large a, where e^a alone would overflow too early.
Value halfExp(const FloatBuilder &d, Value a) {
  Value root = expandExp(d, d.mul(a, 0.5));
  return d.mul(d.mul(root, 0.5), root);
}

} // namespace

Value ingot::emit::expandSin(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) { return d.select(d.equal(v, 0.0), v, sinePlus(d, v, 0)); });
}

Value ingot::emit::expandCos(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) { return sinePlus(d, v, 1); });
}

Value ingot::emit::expandTan(const FloatBuilder &f, Value x) {
  return inDouble(f, x, [](const FloatBuilder &d, Value v) {
    Quadrant q = reduce(d, v);
    Value odd = d.isSet(q.number, 1);
    Value ratio = d.div(d.select(odd, q.cosine, q.sine), d.select(odd, d.neg(q.sine), q.cosine));
    return d.select(d.equal(v, 0.0), v, ratio);
  });
}

Value ingot::emit::expandAtan(const FloatBuilder &f, Value x) { return oddInDouble(f, x, atanPositive); }

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

// atan(|y| / |x|), mirrored for a negative x. 0/0 counts as 0 and infinity/infinity as 1, as C has it.
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

// log1p(a + a^2 / (1 + sqrt(a^2 + 1))); beyond 1e150 the square overflows and log 2a is the same.
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
