// Writes functions of one element. Each is a formula in Num, which emits scalars or vectors alike, and from which
// constants are folded (EvaluateElementwise.cpp). Formulas avoid the cancellation and overflow of the textbook ones
// where that costs nothing: Softplus, Mish and Gelu below.
//
// Where the result only becomes bytes, `ingot.only_bytes` says so, and the approximation of exp, tanh or erf may be a
// coarser one (roundedToBytes; quantization/Quantization.h says how coarse).
#include "compiler/onnx/ops/Unary.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/support/Attributes.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Unary.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Returns the operand, ready for formulas.
template <typename Op> static Num numberOf(Op op, OpBuilder &b, ValueRange x) {
  return Num(b, op.getLoc(), x[0], elementOf(op.getX()));
}
static double number(const APFloat &f) { return f.convertToDouble(); }

/// Returns `y`, the first value that is computed from the operand of a function, marked where only bytes may be left of
/// the result.
static Num roundedToBytes(Operation *op, Num y) {
  if (Attribute bound = op->getAttr(onlyBytesName)) {
    Value(y).getDefiningOp()->setDiscardableAttr(support::roundedToBytesName, bound);
  }
  return y;
}

#define EMIT(Name, formula)                                                                                            \
  Value Name##Op::emit(OpBuilder &b, ValueRange operands) {                                                            \
    Num x = numberOf(*this, b, operands);                                                                              \
    return formula;                                                                                                    \
  }

EMIT(Relu, atLeast(x, 0.0))
EMIT(LeakyRelu, select(x < 0.0, x *number(getAlpha()), x))
EMIT(ThresholdedRelu, select(x > number(getAlpha()), x, x.constant(0)))
EMIT(Elu, select(x < 0.0, number(getAlpha()) * (exp(x) - 1.0), x))
EMIT(Celu, select(x < 0.0, number(getAlpha()) * (exp(x / number(getAlpha())) - 1.0), x))
EMIT(Selu, number(getGamma()) * select(x < 0.0, number(getAlpha()) * (exp(x) - 1.0), x))
EMIT(Shrink, select(x < -number(getLambd()), x + number(getBias()),
                    select(x > number(getLambd()), x - number(getBias()), x.constant(0))))
EMIT(Sigmoid, 1.0 / (1.0 + roundedToBytes(*this, exp(-x))))
EMIT(HardSigmoid, atMost(atLeast(x *number(getAlpha()) + number(getBeta()), 0.0), 1.0))
EMIT(HardSwish, x *atMost(atLeast(x * (1.0 / 6) + 0.5, 0.0), 1.0))
EMIT(Swish, x / (1.0 + roundedToBytes(*this, exp(x * -number(getAlpha())))))
EMIT(Softplus, softplus(x))
EMIT(Softsign, x / (1.0 + abs(x)))
EMIT(Tanh, roundedToBytes(*this, tanh(x)))
EMIT(Erf, erf(x))
EMIT(Exp, exp(x))
EMIT(Log, log(x))
EMIT(Sqrt, sqrt(x))
EMIT(Reciprocal, 1.0 / x)
EMIT(Neg, -x)
EMIT(Abs, abs(x))
EMIT(Floor, floor(x))
EMIT(Ceil, ceil(x))
EMIT(Round, roundEven(x))
EMIT(Sin, sin(x))
EMIT(Cos, cos(x))
EMIT(Tan, tan(x))
EMIT(Asin, asin(x))
EMIT(Acos, acos(x))
EMIT(Atan, atan(x))
EMIT(Sinh, sinh(x))
EMIT(Cosh, cosh(x))
EMIT(Asinh, asinh(x))
EMIT(Acosh, acosh(x))
EMIT(Atanh, atanh(x))
EMIT(Not, ~x)
EMIT(BitwiseNot, ~x)
EMIT(IsNaN, isNaN(x))
EMIT(ScaledTanh, number(getAlpha()) * tanh(x * number(getBeta())))
EMIT(ParametricSoftplus, number(getAlpha()) * softplus(x * number(getBeta())))
EMIT(Affine, x *number(getAlpha()) + number(getBeta()))
#undef EMIT

// Computes x * tanh(log(1 + e^x)) without the logarithm: tanh(log(t)) = (t^2 - 1) / (t^2 + 1), and beyond 20 it is 1 to
// the last digit.
Value MishOp::emit(OpBuilder &b, ValueRange operands) {
  Num x = numberOf(*this, b, operands);
  Num e = exp(atMost(x, 20.0)), n = e * (e + 2.0);
  return x * (n / (n + 2.0));
}

Value GeluOp::emit(OpBuilder &b, ValueRange operands) {
  Num x = numberOf(*this, b, operands);
  if (getApproximate() == "tanh") {
    return roundedToBytes(*this, x * 0.5) * (1.0 + tanh((x + 0.044715 * (x * x * x)) * 0.7978845608028654));
  }
  // Both signs use the tail of positive numbers, which emit has as one function; beyond 10 it is 0 to the last digit.
  Num t = atMost(roundedToBytes(*this, abs(x)), 10.0), tail = erfc(t * 0.7071067811865476);
  Value(tail).getDefiningOp()->setDiscardableAttr(support::tailName, b.getUnitAttr());
  // It is a factor, which makes NaN of -infinity, as the standard defines it.
  Num isPositive = select(x > 0.0, x.constant(1), x.constant(0));
  return x * isPositive - t * (tail * 0.5);
}

Value SignOp::emit(OpBuilder &b, ValueRange operands) {
  Num x = numberOf(*this, b, operands);
  Num positive = select(x > 0.0, x.constant(1), x); // this keeps zero and NaN
  return x.unsignedInteger() ? positive : select(x < 0.0, x.constant(-1), positive);
}

Value IsInfOp::emit(OpBuilder &b, ValueRange operands) {
  Num x = numberOf(*this, b, operands);
  double infinity = std::numeric_limits<double>::infinity();
  Num positive = x == infinity, negative = x == -infinity;
  if (getDetectPositive() && getDetectNegative()) {
    return positive | negative;
  }
  return getDetectPositive() ? positive : getDetectNegative() ? negative : x != x & positive;
}

Type IsNaNOp::resultElement() { return IntegerType::get(getContext(), 1); }
Type IsInfOp::resultElement() { return IntegerType::get(getContext(), 1); }

// These are bounds of functions that are nowhere further from 0 than their operand, or than 1.

#define MAGNITUDE(Name, bound)                                                                                         \
  double Name##Op::magnitude(llvm::function_ref<double(unsigned)> operand) { return bound; }
MAGNITUDE(Relu, operand(0))
MAGNITUDE(Gelu, operand(0))
MAGNITUDE(Swish, operand(0))
MAGNITUDE(HardSwish, operand(0))
MAGNITUDE(Sigmoid, 1)
MAGNITUDE(Tanh, 1)
#undef MAGNITUDE

std::optional<double> SigmoidOp::errorOfIntegers() { return errorForBytes; }
std::optional<double> SwishOp::errorOfIntegers() { return errorForBytes / std::abs(number(getAlpha())); }
std::optional<double> GeluOp::errorOfIntegers() { return 0; }
std::optional<double> TanhOp::errorOfIntegers() { return 0; }

void registerUnary(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Unary.cpp.inc"
      >();
}

} // namespace ingot::onnx
