// Has what operators on quantized tensors share: checks of scales and zero points, bringing these to the shape in which
// they are broadcast, and the change between signed and unsigned bytes. A real number is (q - zero) * scale. A scale
// and a zero point stand for a whole tensor, for each place along an axis, or for each block of places along it.
//
// Between the phases, attributes say how far quantization is. `onnx.quantized` on the function: integers have been
// formed, and a Dequantize that is left may be folded. `onnx.kept` on a Dequantize: it stays nevertheless, because a
// product is to read the integers behind it.
//
//   scale 0.5, zero point 3             the bytes 3, 4 and 13 stand for 0, 0.5 and 5
//   scales [n] along axis 1 of four     are broadcast as [n, 1, 1] (alongAxis)
//   uint8 read as int8                  200 with the zero point 130 is 72 with the zero point 2 (withSign)
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "llvm/Support/FormatVariadic.h"
#include <array>
#include <cmath>
#include <cstring>

using namespace mlir;

namespace ingot::onnx {

int64_t int16DotsOf(Operation *op) {
  auto dots = op->getAttrOfType<IntegerAttr>(int16DotsName);
  return dots ? dots.getInt() : 0;
}

static constexpr llvm::StringLiteral doneName = "onnx.quantized";

static constexpr llvm::StringLiteral keptName = "onnx.kept";

static constexpr llvm::StringLiteral bytesName = "onnx.factor_may_be_bytes";

bool isQuantizationDone(Operation *op) { return functionOf(op)->hasAttr(doneName) && !isKept(op); }
void setQuantizationDone(Operation *function) { function->setAttr(doneName, UnitAttr::get(function->getContext())); }

void keepDequantized(Operation *dequantize) { dequantize->setAttr(keptName, UnitAttr::get(dequantize->getContext())); }
bool isKept(Operation *dequantize) { return dequantize->hasAttr(keptName); }

bool releaseDequantized(Operation *function) {
  bool any = false;
  function->walk([&](Operation *op) { any |= static_cast<bool>(op->removeAttr(keptName)); });
  return any;
}

void letFactorBeBytes(Operation *dequantize) {
  dequantize->setAttr(bytesName, UnitAttr::get(dequantize->getContext()));
}
bool mayFactorBeBytes(Operation *dequantize) { return dequantize->hasAttr(bytesName); }

/// Operands may be constants and what ops up to `depth` levels above make of kept weights, but nothing that a run
/// computes.
bool makesKeptWeights(Operation *op, int depth) {
  bool makes = isKept(op);
  for (Value v : op->getOperands()) {
    Operation *from = v.getDefiningOp();
    bool isKept = from && depth > 0 && makesKeptWeights(from, depth - 1);
    if (!isKept && !constantOf(v) && present(v)) {
      return false;
    }
    makes |= isKept;
  }
  return makes && op->getNumRegions() == 0;
}

/// Whether a tensor has one element, as far as its type shows.
static bool isOne(Value v) {
  auto type = ranked(v);
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

/// A constant is reshaped here, so that whoever asks for a constant next sees one.
Value shaped(Formula &f, Value v, ArrayRef<int64_t> shape) {
  ElementsAttr constant = constantOf(v);
  return constant ? makeConstant(f.b, f.loc, reshaped(constant, tensorOf(shape, elementOf(v)))) : f.reshape(v, shape);
}

/// Returns a constant with a value for each block of a constant `x` as one with a value for each element. An Expand
/// would be too large to be folded, and each run would compute the product with it.
static Value repeated(Formula &f, ElementsAttr v, RankedTensorType x, int64_t axis, int64_t block) {
  std::vector<char> storage;
  ArrayRef<char> from = bytesOf(v, storage);
  int64_t bytes = elementBytes(v.getElementType()), inner = bytes;
  for (int64_t size : x.getShape().drop_front(axis + 1)) {
    inner *= size;
  }
  int64_t places = x.getDimSize(axis), blocks = llvm::divideCeil(places, block);
  std::vector<char> to(x.getNumElements() * bytes);
  for (int64_t i = 0; inner && i * inner < static_cast<int64_t>(to.size()); ++i) {
    std::copy_n(from.data() + (i / places * blocks + i % places / block) * inner, inner, to.data() + i * inner);
  }
  return makeConstant(f.b, f.loc, constantFromBytes(tensorOf(x.getShape(), v.getElementType()), std::move(to)));
}

/// Without blocks the list gets axes of 1 behind its own, so that broadcasting puts it at `axis`: [n] for axis 1 of
/// four axes becomes [n, 1, 1]. With blocks each value is repeated over its block, and the last block is cut where it
/// is shorter: [2, 3] for blocks of 4 of [2, 10] becomes [2, 3, 1], [2, 3, 4], [2, 12], and at last [2, 10].
Value alongAxis(Formula &f, Value v, Value x, int64_t axis, int64_t block) {
  auto type = ranked(v), of = ranked(x);
  if (isOne(v) && !block) {
    return f.reshape(v, {});
  }
  int64_t rank = of.getRank();
  Sizes sizes = sizesOf(type);
  if (!block) {
    Sizes beside(rank - axis, 1);
    beside[0] = sizes[0];
    return f.reshapeTo(v, beside);
  }
  if (constantOf(v) && constantOf(x)) {
    return repeated(f, constantOf(v), of, axis, block);
  }
  // Each value is there once for every place of its block; the last block may be shorter.
  Sizes unsqueezed(sizes), repeated(sizes), joined(sizes);
  unsqueezed.insert(unsqueezed.begin() + axis + 1, Size(1));
  repeated.insert(repeated.begin() + axis + 1, Size(block));
  joined[axis] = sizes[axis] * Size(block);
  Value wide = f.op("Expand", {f.reshapeTo(v, unsqueezed), makeSizes(f.b, f.loc, repeated)});
  wide = f.reshapeTo(wide, joined);
  Size wanted = sizeOf(of, axis);
  if (joined[axis] == wanted) {
    return wide;
  }
  return f.op("Slice", {wide, makeIntegers(f.b, f.loc, {0}), makeSizes(f.b, f.loc, {wanted}),
                        makeIntegers(f.b, f.loc, {axis}), makeIntegers(f.b, f.loc, {1})});
}

/// The place of the axis is counted from the end: a list [n] gets `axis` axes of 1 behind its own. What has several
/// axes already has them as the operator wants them.
Value alongEnd(Formula &f, Value v, int64_t axis) {
  auto type = ranked(v);
  if (!present(v) || !type || type.getRank() > 1) {
    return v;
  }
  if (isOne(v)) {
    return shaped(f, v, {});
  }
  if (type.hasStaticShape()) {
    SmallVector<int64_t> beside(axis + 1, 1);
    beside[0] = type.getDimSize(0);
    return shaped(f, v, beside);
  }
  Sizes beside(axis + 1, 1);
  beside[0] = sizeOf(type, 0);
  return f.reshapeTo(v, beside);
}

/// A scale of 0 is possible where the operator multiplies with it, and is an error only where it divides.
LogicalResult checkPositive(Operation *op, Value scale, bool divides) {
  auto values = floatsOf(scale);
  for (double v : values ? *values : SmallVector<double>()) {
    if (!std::isfinite(v) || v < 0 || (divides && v == 0)) {
      return op->emitOpError("a scale is ") << llvm::formatv("{0}", v).str() << ", expected a positive number";
    }
  }
  return success();
}

LogicalResult checkFinite(Operation *op, Value v, StringRef what) {
  auto values = floatsOf(v);
  const auto *bad = values ? llvm::find_if_not(*values, [](double x) { return std::isfinite(x); }) : nullptr;
  return !values || bad == values->end()
             ? success()
             : op->emitOpError(what) << " is " << llvm::formatv("{0}", *bad).str() << ", expected a finite number";
}

/// Without `places` one number is all that is allowed.
LogicalResult checkPlaces(Operation *op, Value v, StringRef what, const std::optional<Size> &places) {
  auto type = present(v) ? ranked(v) : RankedTensorType();
  if (!type || isOne(v) || type.getRank() == 0 ||
      (type.getRank() == 1 && places && succeeded(require(op, sizeOf(type, 0), *places)))) {
    return success();
  }
  return op->emitOpError(what) << " are of type " << type << ", expected one number"
                               << (places ? " or " + places->text() : std::string());
}

LogicalResult checkColumns(Operation *op, Value b, Value scale, Value zero, bool isTransposed) {
  auto type = ranked(b);
  if (!type || type.getRank() < 2) {
    return success();
  }
  Size columns = sizeOf(type, type.getRank() - (isTransposed ? 2 : 1));
  for (const auto &[v, what] : {std::pair(scale, "scales of B"), {zero, "zero points of B"}}) {
    auto own = present(v) ? ranked(v) : RankedTensorType();
    if (own && own.getRank() < 2 && failed(checkPlaces(op, v, what, columns))) {
      return failure();
    }
  }
  return success();
}

LogicalResult checkOfFewBits(Operation *op, Value scales, Value zeros, int64_t bits) {
  if (failed(checkFinite(op, scales, "a scale"))) {
    return failure();
  }
  if (!present(zeros) || isa<FloatType>(elementOf(zeros))) {
    return present(zeros) ? checkFinite(op, zeros, "a zero point") : success();
  }
  auto values = isInt(elementOf(zeros), 32) ? integersOf(zeros) : std::nullopt; // zero points that are bytes are packed
  for (int64_t zero : values ? *values : SmallVector<int64_t>()) {
    if (zero < 0 || zero >= int64_t(1) << bits) {
      return op->emitOpError("a zero point is ") << zero << ", expected one of " << bits << " bits";
    }
  }
  return success();
}

LogicalResult checkZero(Operation *op, Value x, Value scale, Value zero) {
  if (!present(zero)) {
    return success();
  }
  if (elementOf(zero) != elementOf(x)) {
    return op->emitOpError("zero point of element type ")
           << elementOf(zero) << " for a tensor of " << elementOf(x) << ", expected the same";
  }
  auto z = ranked(zero), s = ranked(scale);
  bool differ = z && s && z.hasStaticShape() && s.hasStaticShape() && z.getNumElements() != s.getNumElements();
  return differ && !isOne(zero) ? op->emitOpError("zero points of type ") << z << " for scales of type " << s
                                : success();
}

LogicalResult checkOwn(Operation *op, Value x, Value scale, Value zero, bool divides) {
  return failed(checkZero(op, x, scale, zero)) ? failure() : checkPositive(op, scale, divides);
}

/// With blocks, scales have the rank of the tensor, and along the axis one entry for each block, of which the last may
/// be shorter.
LogicalResult checkScale(Operation *op, Value x, Value scale, Value zero, int64_t axis, int64_t block) {
  auto type = ranked(x), s = ranked(scale);
  auto z = present(zero) ? ranked(zero) : RankedTensorType();
  if (s && z && s.hasStaticShape() && z.hasStaticShape() && s.getNumElements() != z.getNumElements()) {
    return op->emitOpError("zero points of type ") << z << " for scales of type " << s << ", expected as many";
  }
  if (!type || !s || (isOne(scale) && !block)) {
    return success();
  }
  auto normal = normalAxis(axis, type.getRank());
  if (!normal) {
    return op->emitOpError("axis ") << axis << " is outside a tensor of rank " << type.getRank();
  }
  if (!block) {
    if (s.getRank() != 1) {
      return op->emitOpError("scales of type ") << s << ", expected one number or a list of them";
    }
    Size places = sizeOf(type, *normal);
    return succeeded(require(op, sizeOf(s, 0), places)) ? success()
                                                        : op->emitOpError("scales of type ")
                                                              << s << " for " << places.text() << " places along axis "
                                                              << *normal;
  }
  if (s.getRank() != type.getRank()) {
    return op->emitOpError("scales of type ") << s << " for blocks of a tensor of rank " << type.getRank();
  }
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Size places = sizeOf(type, i), wanted = i == *normal ? ceilDiv(places, Size(block)) : places;
    if (failed(require(op, sizeOf(s, i), wanted))) {
      return op->emitOpError("scales of type ")
             << s << " for blocks of " << block << " along axis " << *normal << " of " << type;
    }
  }
  return success();
}

static Value numberOf(Formula &f, int64_t v, Type element) {
  return makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, element), {v}));
}

/// Returns bytes with their top bits flipped, read as `element`.
static Value flipSignBit(Formula &f, Value values, Type element) {
  if (ElementsAttr constant = constantOf(values)) {
    std::vector<char> storage;
    ArrayRef<char> from = bytesOf(constant, storage);
    std::vector<char> bytes(from.begin(), from.end());
    for (char &byte : bytes) {
      byte = static_cast<char>(byte ^ 0x80);
    }
    auto type = RankedTensorType::get(cast<ShapedType>(constant.getType()).getShape(), element);
    return makeConstant(f.b, f.loc, constantFromBytes(type, std::move(bytes)));
  }
  Value bits = f.op("BitCast", {values}, {f.integer("to", numberOfElement(element))});
  return f.op("BitwiseXor", {bits, numberOf(f, 128, element)});
}

/// Bytes of the other signedness get their top bit flipped, which adds or subtracts 128: uint8 200 is int8 72, and 200
/// - zero is 72 - (zero - 128). So the zero point moves by as much, and the real numbers stay.
Quantized withSign(Formula &f, Value values, Value zero, bool isSigned) {
  Type i32 = f.b.getI32Type();
  bool flips = elementOf(values).isUnsignedInteger() == isSigned;
  int64_t shift = !flips ? 0 : isSigned ? -128 : 128;
  Quantized q{values, {}};
  if (flips) {
    q.values = flipSignBit(f, values, isSigned ? Type(f.b.getI8Type()) : Type(f.b.getIntegerType(8, false)));
  }
  if (auto known = present(zero) ? integersOf(zero) : SmallVector<int64_t>(1, 0)) {
    for (int64_t &z : *known) {
      z += shift;
    }
    if (llvm::any_of(*known, [](int64_t z) { return z != 0; })) {
      auto shape = present(zero) ? ranked(zero).getShape() : ArrayRef<int64_t>();
      q.zero = makeConstant(f.b, f.loc, constantFromIntegers(tensorOf(shape, i32), *known));
    }
    return q;
  }
  q.zero = f.cast(zero, i32, numberOfElement(i32));
  q.zero = shift ? f.add(q.zero, numberOf(f, shift, i32)) : q.zero;
  return q;
}

/// Sums of constants are computed here. `step` has the strides of the result, 0 along an axis that is summed up, and
/// `at` counts the coordinates of the operand as an odometer does, the last axis fastest.
Value sumAlong(Formula &f, Value v, ArrayRef<int64_t> axes) {
  Type i32 = f.b.getI32Type();
  auto values = integersOf(v);
  if (!values) {
    return f.reduce("ReduceSum", f.cast(v, i32, numberOfElement(i32)), axes, /*keepdims=*/true);
  }
  auto shape = ranked(v).getShape();
  SmallVector<int64_t> left(shape), step(shape.size(), 0), at(shape.size(), 0);
  int64_t count = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (llvm::is_contained(axes, static_cast<int64_t>(i))) {
      left[i] = 1;
    } else {
      step[i] = count, count *= shape[i];
    }
  }
  SmallVector<int64_t> sums(count, 0);
  int64_t to = 0;
  for (int64_t x : *values) {
    sums[to] += x;
    for (size_t i = shape.size(); i-- > 0;) {
      to += step[i];
      if (++at[i] < shape[i]) {
        break;
      }
      to -= at[i] * step[i], at[i] = 0;
    }
  }
  return makeConstant(f.b, f.loc, constantFromIntegers(tensorOf(left, i32), sums));
}

/// Returns the smallest and the largest number of an integer type, as doubles hold them: up to 32 bits exactly.
std::pair<double, double> rangeOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  double all = std::ldexp(1.0, static_cast<int>(width));
  return element.isUnsignedInteger() ? std::pair(0.0, all - 1) : std::pair(-all / 2, all / 2 - 1);
}

static Value zeroOr(Formula &f, Value zero, Type element) { return present(zero) ? zero : numberOf(f, 0, element); }

Value quantize(Formula &f, Value x, Value scale, Value zero, Type element, bool saturate) {
  return f.op("Quantize", {x, scale, zeroOr(f, zero, element)},
              {f.integer("to", numberOfElement(element)), f.integer("saturate", saturate)});
}
Value dequantize(Formula &f, Value x, Value scale, Value zero) {
  return f.op("Dequantize", {x, scale, zeroOr(f, zero, elementOf(x))});
}

/// Sums are made of integers, and only the results are scaled: that is exact up to there, and what kernels of bytes do.
Value scaledProduct(Formula &f, Value a, Value aScale, Value aZero, Value b, Value bScale, Value bZero, Value bias) {
  Value sums = f.op("MatMulInteger", {a, b, aZero, bZero});
  Type f32 = f.b.getF32Type();
  Value y = f.mul(f.cast(sums, f32, numberOfElement(f32)), f.mul(alongEnd(f, aScale, 0), alongEnd(f, bScale, 0)));
  return present(bias) ? f.add(y, bias) : y;
}

/// Writes `count` numbers from each row, which has `each` numbers in a byte. Weights are billions of numbers, so all
/// numbers of a byte are looked up at once.
template <size_t each> static void unpackRows(ArrayRef<char> bytes, int64_t row, int64_t count, char *to) {
  std::array<std::array<char, each>, 256> numbersOf;
  for (unsigned byte = 0; byte < numbersOf.size(); ++byte) {
    for (unsigned i = 0; i < each; ++i) {
      numbersOf[byte][i] = static_cast<char>((byte >> (8 / each * i)) & ((1u << (8 / each)) - 1));
    }
  }
  auto numbersAt = [&](size_t at) { return numbersOf[static_cast<unsigned char>(bytes[at])].data(); };
  int64_t whole = count / each, rest = count % each;
  for (size_t at = 0; at + row <= bytes.size(); at += row) {
    for (int64_t i = 0; i < whole; ++i, to += each) {
      std::memcpy(to, numbersAt(at + i), each);
    }
    to = rest ? std::copy_n(numbersAt(at + whole), rest, to) : to;
  }
}

/// The first number of a byte is in its low bits. Rows are of `row` bytes and `count` numbers; what is left at the end
/// of a row is padding.
std::vector<char> unpacked(ArrayRef<char> bytes, int64_t row, int64_t count, int64_t bits) {
  std::vector<char> numbers(row ? bytes.size() / row * count : 0);
  auto unpack = bits == 2 ? unpackRows<4> : bits == 4 ? unpackRows<2> : unpackRows<1>;
  if (!numbers.empty()) {
    unpack(bytes, row, count, numbers.data());
  }
  return numbers;
}

Value unpackedLast(Formula &f, Value v, int64_t bits, int64_t count) {
  ElementsAttr constant = constantOf(v);
  if (bits == 8 || !constant) {
    return bits == 8 ? v : Value();
  }
  SmallVector<int64_t> shape(constant.getShapedType().getShape());
  std::vector<char> storage, numbers = unpacked(bytesOf(constant, storage), shape.back(), count, bits);
  shape.back() = count;
  return makeConstant(f.b, f.loc, constantFromBytes(tensorOf(shape, elementOf(v)), std::move(numbers)));
}

Value requantize(Formula &f, Value sums, Value factor, Value zero, Type element) {
  Type f32 = f.b.getF32Type();
  Value x = f.mul(f.cast(sums, f32, numberOfElement(f32)), f.cast(factor, f32, numberOfElement(f32)));
  return quantize(f, x, f.number(1.0, x), zero, element);
}

} // namespace ingot::onnx
