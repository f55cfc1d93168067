// erf in f32, after Norbert Juffa: an odd polynomial near 0, 1 - exp(-p(|x|)) further out; both below 1 ulp, and no
// division. The exponential underflows to 0 for |x| > 4, so erf is exactly 1 there.
#include "compiler/emit/math/Functions.h"

using namespace mlir;
using namespace ingot::emit;

Value ingot::emit::expandErf(const FloatBuilder &f, Value x) {
  constexpr double nearZero[] = {1.28379166e-1,  -3.76125336e-1, 1.12819925e-1,
                                 -2.67681349e-2, 4.99119423e-3,  -5.96761703e-4};
  Value t = f.abs(x), square = f.mul(x, x);
  Value inner = f.fma(f.polynomial(square, nearZero), x, x);

  Value far = f.select(f.greater(t, 5.0), f.constant(5.0), t);
  constexpr double away[] = {-1.28717512e-1, -6.34846687e-1, -1.06777877e-1, 2.42546219e-2,
                             -3.88396438e-3, 3.83197126e-4,  -1.72853470e-5};
  Value power = f.fma(f.polynomial(far, away), far, f.neg(far));
  Value outer = f.copySign(f.sub(f.constant(1.0), expandExp(f, power)), x);
  return f.select(f.greater(t, 0.927734375), outer, inner);
}
