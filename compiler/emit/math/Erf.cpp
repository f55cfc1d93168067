// Expands erf and erfc. In f32 erf follows Norbert Juffa: an odd polynomial near 0, and 1 - exp(-p(|x|)) further out.
// Both are within 1.2 ulp, and need no division. In f64 it has fdlibm's rational functions on four ranges. Where the
// exponential is below half an ulp of 1, erf is exactly 1.
//
// In f32 erfc is 2^p(x) for positive x, with p a polynomial on all of [0, 7]. It is within 1e-8 of erfc everywhere, and
// accurate in its own digits up to 2. That is all that a GELU needs, in half of the operations of an erf.
#include "compiler/emit/math/Functions.h"

using namespace mlir;
using namespace ingot::emit;

namespace {

Value erf32(const FloatBuilder &f, Value x) {
  constexpr double nearZero[] = {1.28379166e-1,  -3.76125336e-1, 1.12819925e-1,
                                 -2.67681349e-2, 4.99119423e-3,  -5.96761703e-4};
  constexpr double away[] = {-1.28717512e-1, -6.34846687e-1, -1.06777877e-1, 2.42546219e-2,
                             -3.88396438e-3, 3.83197126e-4,  -1.72853470e-5};
  Value t = f.abs(x);
  Value inner = f.fma(f.shallowPolynomial(f.mul(x, x), nearZero), x, x);
  Value far = f.select(f.greater(t, 5.0), f.constant(5.0), t);
  Value power = f.fma(f.shallowPolynomial(far, away), far, f.neg(far));
  Value outer = f.copySign(f.sub(f.constant(1.0), expandExpOfNegative(f, power)), x);
  return f.select(f.greater(t, 0.927734375), outer, inner);
}

/// The polynomial for log2(erfc(t)) / t is minimax for the error of t^2 erfc(t), which is the error of a GELU. `power`
/// is the one for 2^r on [-1/2, 1/2]. The first falls all the way; at `lastErfc` its product with t is -127, of which
/// powerOfTwo makes 0.
constexpr double logErfc[] = {-1.627912998199463,     -0.9183675050735474,    -0.14867857098579407,
                              0.028638362884521484,   -0.0011775469174608588, -0.001259265816770494,
                              0.00037825992330908775, -3.753179043997079e-05};
constexpr double lastErfc = 7.192;
constexpr double power[] = {
    1.0, 0.6931470036506653, 0.24022240936756134, 0.055507343262434006, 0.009671554900705814, 0.001326467259787023};

/// Returns 2^offset erfc(scale * t) for scale * t in [0, lastErfc]; with a negative offset the end is a little earlier.
Value erfcOfTail(const FloatBuilder &f, Value t, double scale, int64_t offset) {
  SmallVector<double> coefficients;
  double factor = 1.0;
  for (double c : logErfc) {
    coefficients.push_back(c * (factor *= scale));
  }
  Value q = f.shallowPolynomial(t, coefficients);
  FloatBuilder::Rounded n = f.roundForPower(q, t, offset);
  Value r = f.fma(q, t, f.neg(n.value));
  return f.mul(f.polynomial(r, power), f.powerOfTwo(n, offset));
}

Value erfc32(const FloatBuilder &f, Value x) {
  Value t = f.abs(x);
  t = f.select(f.greater(t, lastErfc), f.constant(lastErfc), t);
  Value y = erfcOfTail(f, t, 1.0, 0);
  return f.select(f.less(x, 0.0), f.sub(f.constant(2.0), y), y);
}

/// Returns the quotient of two polynomials in x.
Value ratio(const FloatBuilder &d, Value x, ArrayRef<double> top, ArrayRef<double> bottom) {
  return d.div(d.polynomial(x, top), d.polynomial(x, bottom));
}

/// Returns erf(x) as 1 - exp(-x^2 - 9/16 + r(1 / x^2)) / x for x in [1.25, 6].
Value erf64Tail(const FloatBuilder &d, Value x) {
  constexpr double ra[] = {-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
                           -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
                           -8.12874355063065934246e+01, -9.81432934416914548592e+00};
  constexpr double sa[] = {1.0,
                           1.96512716674392571292e+01,
                           1.37657754143519042600e+02,
                           4.34565877475229228821e+02,
                           6.45387271733267880336e+02,
                           4.29008140027567833386e+02,
                           1.08635005541779435134e+02,
                           6.57024977031928170135e+00,
                           -6.04244152148580987438e-02};
  constexpr double rb[] = {-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
                           -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
                           -4.83519191608651397019e+02};
  constexpr double sb[] = {1.0,
                           3.03380607434824582924e+01,
                           3.25792512996573918826e+02,
                           1.53672958608443695994e+03,
                           3.19985821950859553908e+03,
                           2.55305040643316442583e+03,
                           4.74528541206955367215e+02,
                           -2.24409524465858183362e+01};
  Value square = d.mul(x, x), inverse = d.div(d.constant(1.0), square);
  Value r = d.select(d.less(x, 1 / 0.35), ratio(d, inverse, ra, sa), ratio(d, inverse, rb, sb));
  Value power = d.sub(d.sub(r, 0.5625), square);
  return d.sub(d.constant(1.0), d.div(expandExpOfMedium(d, power), x));
}

Value erf64(const FloatBuilder &d, Value x) {
  constexpr double pp[] = {1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
                           -5.77027029648944159157e-03, -2.37630166566501626084e-05};
  constexpr double qq[] = {1.0,
                           3.97917223959155352819e-01,
                           6.50222499887672944485e-02,
                           5.08130628187576562776e-03,
                           1.32494738004321644526e-04,
                           -3.96022827877536812320e-06};
  constexpr double pa[] = {-2.36211856075265944077e-03, 4.14856118683748331666e-01,  -3.72207876035701323847e-01,
                           3.18346619901161753674e-01,  -1.10894694282396677476e-01, 3.54783043256182359371e-02,
                           -2.16637559486879084300e-03};
  constexpr double qa[] = {1.0,
                           1.06420880400844228286e-01,
                           5.40397917702171048937e-01,
                           7.18286544141962662868e-02,
                           1.26171219808761642112e-01,
                           1.36370839120290507362e-02,
                           1.19844998467991074170e-02};
  Value t = d.abs(x);
  Value inner = d.fma(ratio(d, d.mul(x, x), pp, qq), x, x);
  Value middle = d.add(ratio(d, d.sub(t, 1.0), pa, qa), 8.45062911510467529297e-01);
  Value tail = erf64Tail(d, d.clamp(t, 1.25, 6.0));
  Value outer = d.copySign(d.select(d.less(t, 1.25), middle, tail), x);
  return d.select(d.less(t, 0.84375), inner, d.select(d.isNaN(x), x, outer));
}

} // namespace

Value ingot::emit::expandErf(const FloatBuilder &f, Value x) { return f.isDouble() ? erf64(f, x) : erf32(f, x); }

Value ingot::emit::expandErfc(const FloatBuilder &f, Value x) {
  return f.isDouble() ? f.sub(f.constant(1.0), erf64(f, x)) : erfc32(f, x);
}

Value ingot::emit::expandHalfOfErfc(const FloatBuilder &f, Value t, double scale) {
  return erfcOfTail(f, t, scale, -1);
}
