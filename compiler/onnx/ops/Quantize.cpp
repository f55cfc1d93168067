// Makes QuantizeLinear and DequantizeLinear Quantize and Dequantize, which are elementwise: in front of a product and
// behind it they are part of its kernel.
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/quantization/Quantization.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Quantize.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// These compute elements.

Type QuantizeOp::resultElement() { return elementOfNumber(getTo(), getContext()); }
bool QuantizeOp::mixesElements() { return true; }

/// Adds the zero point, and saturates the sum, as int32, since machines narrow integers with saturation. A number that
/// might be too large for that is cut before.
Value QuantizeOp::emit(OpBuilder &b, ValueRange operands) {
  Type element = resultElement();
  Num x(b, getLoc(), operands[0], elementOf(getX())), scale(b, getLoc(), operands[1], elementOf(getScale()));
  Num ratio = scale.known() == 1.0 ? x : x / scale.to(elementOf(getX()));
  if (isa<FloatType>(element)) {
    return ratio.to(element, getSaturate() != 0);
  }
  Type wide = ratio.width() < 32 ? b.getF32Type() : elementOf(getX());
  ratio = ratio.to(wide);
  if (!getBounded()) {
    constexpr double limit = 1 << 30;
    ratio = atMost(atLeast(ratio, -limit), limit);
  }
  Num zero = Num(b, getLoc(), operands[2], elementOf(getZero())).to(b.getI32Type()),
      rounded = roundEven(ratio).to(b.getI32Type());
  auto [least, most] = rangeOf(element);
  return atMost(atLeast(zero.known() == 0.0 ? rounded : rounded + zero, least), most).to(element);
}

Type DequantizeOp::resultElement() { return elementOf(getScale()); }
bool DequantizeOp::mixesElements() { return true; }

/// Takes the difference in int32, which is exact for all types that have zero points.
Value DequantizeOp::emit(OpBuilder &b, ValueRange operands) {
  Type from = elementOf(getX()), to = resultElement(), f32 = b.getF32Type();
  Num x(b, getLoc(), operands[0], from), scale(b, getLoc(), operands[1], to);
  if (!isa<FloatType>(from)) {
    Num zero(b, getLoc(), operands[2], from);
    x = zero.known() == 0.0 ? x.to(b.getI32Type()) : x.to(b.getI32Type()) - zero.to(b.getI32Type());
  }
  Type wide = scale.width() < 32 ? f32 : to;
  return (x.to(wide) * scale.to(wide)).to(to);
}

// These write nodes.

LogicalResult QuantizeLinearOp::upgrade(Node &) { return success(); }
LogicalResult DequantizeLinearOp::upgrade(Node &) { return success(); }

/// Returns the element type that an attribute names by its number; null when it names none.
static FailureOr<Type> namedElement(Operation *op, int64_t number, StringRef attribute) {
  Type element = number ? elementOfNumber(number, op->getContext()) : Type();
  if (number && !element) {
    return op->emitOpError("attribute '") << attribute << "' is " << number << ", an unsupported element type";
  }
  return element;
}

static bool isQuantized(Type element) {
  return (isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8) || isInt(element, 8) || isInt(element, 16) ||
         isUint(element, 8) || isUint(element, 16) || (element.isInteger() && element.getIntOrFloatBitWidth() < 8);
}

/// The zero point decides the element type; without one the attribute does, or it is uint8.
LogicalResult QuantizeLinearOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto named = namedElement(*this, static_cast<int64_t>(getOutputDtype()), "output_dtype");
  auto precision = namedElement(*this, static_cast<int64_t>(getPrecision()), "precision");
  if (failed(named) || failed(precision)) {
    return failure();
  }
  Type element = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  if (present(getYZeroPoint())) {
    element = elementOf(getYZeroPoint());
    if (*named && *named != element) {
      return emitOpError("zero point of element type ") << element << ", but attribute 'output_dtype' names " << *named;
    }
  } else if (*named) {
    element = *named;
  }
  if (!isQuantized(element) || isBool(element)) {
    return emitOpError("quantizes to element type ") << element << ", which has no such meaning";
  }
  if (failed(checkPositive(*this, getYScale(), /*divides=*/true))) {
    return failure();
  }
  types.push_back(cast<TensorType>(getX().getType()).clone(element));
  return checkScale(*this, getX(), getYScale(), getYZeroPoint(), getAxis(), static_cast<int64_t>(getBlockSize()));
}

/// Scales and zero points are shaped to broadcast along the axis, and repeated where a block shares one.
LogicalResult QuantizeLinearOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX()) || !isSized(getYScale()) || (present(getYZeroPoint()) && !isSized(getYZeroPoint()))) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Type element = elementOf(getY()), precision = elementOfNumber(static_cast<int64_t>(getPrecision()), getContext());
  auto block = static_cast<int64_t>(getBlockSize());
  auto axis = normalAxis(getAxis(), ranked(getX()).getRank()).value_or(0);
  auto wide = [&](Value v) {
    Type type = precision                                ? precision
                : isa<FloatType>(elementOf(getX()))      ? elementOf(getX())
                : elementOf(getYScale()) != elementOf(v) ? elementOf(getYScale())
                                                         : elementOf(v);
    return f.cast(v, type, numberOfElement(type));
  };
  Value zero = present(getYZeroPoint()) ? alongAxis(f, getYZeroPoint(), getX(), axis, block) : Value();
  Value scale = wide(alongAxis(f, getYScale(), getX(), axis, block));
  rewriter.replaceOp(*this, quantize(f, wide(getX()), scale, zero, element, getSaturate() != 0));
  return success();
}

LogicalResult DequantizeLinearOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto named = namedElement(*this, static_cast<int64_t>(getOutputDtype()), "output_dtype");
  if (failed(named)) {
    return failure();
  }
  if (present(getXZeroPoint()) && elementOf(getXZeroPoint()) != elementOf(getX())) {
    return emitOpError("zero point of element type ")
           << elementOf(getXZeroPoint()) << " for a tensor of " << elementOf(getX()) << ", expected the same";
  }
  // ONNX Runtime's quantizer gives symmetric weights in blocks scales of either sign.
  bool isWeight = getBlockSize() || constantOf(getX());
  if (failed(isWeight ? checkFinite(*this, getXScale(), "a scale")
                      : checkPositive(*this, getXScale(), /*divides=*/false))) {
    return failure();
  }
  auto zeros = isInt(elementOf(getX()), 32) ? integersOf(getXZeroPoint()) : std::nullopt;
  for (int64_t zero : zeros ? *zeros : SmallVector<int64_t>()) {
    if (zero != 0) { // the standard has no such zero point; ONNX Runtime refuses it, too
      return emitOpError("a zero point of int32 is ") << zero << ", expected zero";
    }
  }
  types.push_back(cast<TensorType>(getX().getType()).clone(*named ? *named : elementOf(getXScale())));
  return checkScale(*this, getX(), getXScale(), getXZeroPoint(), getAxis(), static_cast<int64_t>(getBlockSize()));
}

/// Leaves constant matrices with blocks to the phase `integer`, which makes weights of few bits of them
/// (integer/FewBits.cpp).
LogicalResult DequantizeLinearOp::decompose(PatternRewriter &rewriter) {
  bool waits = getBlockSize() && constantOf(getX()) && !isQuantizationDone(*this);
  if (waits || !isSized(getX()) || !isSized(getXScale()) || (present(getXZeroPoint()) && !isSized(getXZeroPoint()))) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  auto block = static_cast<int64_t>(getBlockSize());
  auto axis = normalAxis(getAxis(), ranked(getX()).getRank()).value_or(0);
  Value zero = present(getXZeroPoint()) ? alongAxis(f, getXZeroPoint(), getX(), axis, block) : Value();
  Value y = dequantize(f, getX(), alongAxis(f, getXScale(), getX(), axis, block), zero);
  rewriter.replaceOp(*this, f.cast(y, elementOf(getY()), numberOfElement(elementOf(getY()))));
  return success();
}

LogicalResult DynamicQuantizeLinearOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type u8 = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  types.assign({cast<TensorType>(getX().getType()).clone(u8), tensorOf({}, elementOf(getX())), tensorOf({}, u8)});
  return success();
}

/// Makes the range contain zero; a range of zeros only has the scale 1 / 255.
LogicalResult DynamicQuantizeLinearOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Type u8 = elementOf(getY());
  Value x = getX(), none = f.number(0.0, x);
  auto least = [&](StringRef name, StringRef outer) {
    Value over = f.op(name, {x, makeNone(rewriter, getLoc())}, {f.integer("keepdims", 0)});
    return f.op(outer, {over, none});
  };
  Value low = least("ReduceMin", "Min"), high = least("ReduceMax", "Max");
  Value range = f.op("Where", {f.op("Equal", {low, high}), f.number(1.0, x), f.sub(high, low)});
  Value scale = f.div(range, f.number(255.0, x));
  Value zero = quantize(f, f.op("Neg", {f.div(low, scale)}), f.number(1.0, x), {}, u8);
  rewriter.replaceOp(*this, {quantize(f, x, scale, zero, u8), scale, zero});
  return success();
}

double DequantizeOp::magnitude(llvm::function_ref<double(unsigned)> operand) {
  return largestOf(elementOf(getX())) * operand(1); // a zero point of that type may be subtracted
}

void registerQuantize(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Quantize.cpp.inc"
      >();
}

} // namespace ingot::onnx
