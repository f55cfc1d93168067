// Reads constants as bytes, numbers and sizes, and makes them. A constant has one of two forms in memory. Small ones
// are dense attributes: MLIR keeps equal ones once, prints them in dumps, and stores booleans as bits and splats as one
// element. Large ones are resources, bytes as the element type has them, which MLIR neither compares nor prints;
// weights of a model file are resources that point into the mapped file. bytesOf() hides the difference.
//
// A list of integers may also be an onnx.Sizes op, whose elements are expressions of symbols, so that what exporters
// compute from shapes stays known: sizesIn() reads both.
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/sizes/Ranks.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/onnx/text/Texts.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cmath>

using namespace mlir;

namespace ingot::onnx {

/// Up to this many bytes a constant is a dense attribute, which is printed in dumps and is one for equal constants.
static constexpr size_t denseLimit = 1024;

ElementsAttr constantOf(Value v) {
  auto op = v ? v.getDefiningOp<ConstantOp>() : ConstantOp();
  return op ? op.getValue() : ElementsAttr();
}

/// Returns the bytes where the attribute has them already, and else fills `storage`: one byte for each boolean, which
/// MLIR packs to bits, and all elements of a splat, of which MLIR has one.
ArrayRef<char> bytesOf(ElementsAttr a, std::vector<char> &storage) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(a)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  auto dense = cast<DenseElementsAttr>(a);
  int64_t n = dense.getNumElements();
  if (isBool(dense.getElementType())) {
    storage.reserve(n);
    for (bool bit : dense.getValues<bool>()) {
      storage.push_back(bit);
    }
    return storage;
  }
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat() || n == 1) {
    return raw;
  }
  storage.resize(n * raw.size());
  for (int64_t i = 0; i < n; ++i) {
    std::copy(raw.begin(), raw.end(), storage.begin() + i * raw.size());
  }
  return storage;
}

/// Appends the elements of bytes of type T. They are copied one by one, since the bytes of a file need not be aligned.
template <typename T> static void append(ArrayRef<char> bytes, SmallVectorImpl<int64_t> &out) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T v;
    std::memcpy(&v, bytes.data() + i, sizeof(T));
    out.push_back(static_cast<int64_t>(v));
  }
}

std::optional<SmallVector<int64_t>> integersOf(ElementsAttr a) {
  if (!a || !a.getElementType().isInteger()) {
    return std::nullopt;
  }
  std::vector<char> storage;
  ArrayRef<char> bytes = bytesOf(a, storage);
  SmallVector<int64_t> out;
  bool isUnsigned = a.getElementType().isUnsignedInteger();
  switch (elementBytes(a.getElementType())) {
  case 1:
    isUnsigned ? append<uint8_t>(bytes, out) : append<int8_t>(bytes, out);
    break;
  case 2:
    isUnsigned ? append<uint16_t>(bytes, out) : append<int16_t>(bytes, out);
    break;
  case 4:
    isUnsigned ? append<uint32_t>(bytes, out) : append<int32_t>(bytes, out);
    break;
  case 8:
    append<int64_t>(bytes, out);
    break;
  default: // strings
    return std::nullopt;
  }
  return out;
}
std::optional<SmallVector<int64_t>> integersOf(Value v) { return integersOf(constantOf(v)); }

/// A uint64 above the largest int64 comes as a negative number from integersOf(), and is no size.
std::optional<Sizes> sizesIn(Value v) {
  if (auto op = v ? v.getDefiningOp<SizesOp>() : SizesOp()) {
    return Sizes(op.getValues().getValues());
  }
  if (auto op = v ? v.getDefiningOp<ShapeOp>() : ShapeOp()) { // a ShapeOp is not replaced yet while a model is imported
    return isSized(op.getX()) ? std::optional(sizesGiven(op)) : std::nullopt;
  }
  auto numbers = integersOf(v);
  bool fits = numbers && !(isUint(elementOf(v), 64) && llvm::any_of(*numbers, [](int64_t n) { return n < 0; }));
  return fits ? std::optional<Sizes>(Sizes(numbers->begin(), numbers->end())) : std::nullopt;
}

/// A list of one number and a number are both read, since exporters mix them.
Size numberIn(Value v) {
  auto sizes = sizesIn(v);
  return sizes && sizes->size() == 1 ? sizes->front() : Size::unknown();
}

bool mayBeNumber(Value v) {
  auto type = ranked(v);
  return !type || !type.hasStaticShape() || type.getNumElements() == 1;
}

/// What a reshape changes does not matter where one element is asked for.
Value withoutReshapes(Value v) {
  while (isa_and_nonnull<IdentityOp, ReshapeOp, SqueezeOp, UnsqueezeOp>(v.getDefiningOp())) {
    v = v.getDefiningOp()->getOperand(0);
  }
  return v;
}

std::optional<SmallVector<double>> floatsOf(ElementsAttr a) {
  if (!a || !isa<FloatType>(a.getElementType())) {
    return std::nullopt;
  }
  std::vector<char> storage;
  ArrayRef<char> bytes = bytesOf(a, storage);
  FloatCodec codec(a.getElementType());
  SmallVector<double> out(bytes.size() / codec.bytes());
  if (a.getElementType().isF32()) { // weights, of which there are millions
    for (size_t i = 0; i < out.size(); ++i) {
      float f;
      std::memcpy(&f, bytes.data() + sizeof(f) * i, sizeof f);
      out[i] = f;
    }
    return out;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = codec.read(bytes.data() + codec.bytes() * i);
  }
  return out;
}
std::optional<SmallVector<double>> floatsOf(Value v) { return floatsOf(constantOf(v)); }

/// Returns whether all elements, which have `size` bytes each, are one number. Large weights are told from that by
/// their first elements. Zeros of both signs are one number, and so are all NaN.
static bool isOneNumber(Type element, ArrayRef<char> bytes, size_t size) {
  if (std::equal(bytes.begin() + size, bytes.end(), bytes.begin())) {
    return true;
  }
  if (!isa<FloatType>(element)) {
    return false;
  }
  FloatCodec codec(element);
  double first = codec.read(bytes.data());
  for (size_t at = size; at < bytes.size(); at += size) {
    double x = codec.read(bytes.data() + at);
    if (x != first && !(std::isnan(x) && std::isnan(first))) {
      return false;
    }
  }
  return true;
}

/// A uint64 is kept apart from an int64, because half of its numbers would be negative.
std::optional<Number> splatNumber(Value v) {
  ElementsAttr a = constantOf(v);
  if (!a || a.empty() || !a.getElementType().isIntOrFloat()) {
    return std::nullopt;
  }
  Type element = a.getElementType();
  RankedTensorType one = tensorOf({1}, element);
  if (auto dense = dyn_cast<DenseElementsAttr>(a); dense && dense.isSplat()) {
    a = dense.resizeSplat(one);
  } else {
    std::vector<char> storage;
    ArrayRef<char> bytes = bytesOf(a, storage);
    size_t size = elementBytes(element);
    if (!isOneNumber(element, bytes, size)) {
      return std::nullopt;
    }
    a = constantFromBytes(one, std::vector<char>(bytes.begin(), bytes.begin() + size));
  }
  if (auto f = floatsOf(a)) {
    return Number(f->front());
  }
  int64_t n = integersOf(a)->front();
  return isUint(element, 64) ? Number(static_cast<uint64_t>(n)) : Number(n);
}
std::optional<double> realSplat(Value v) {
  std::optional<Number> number = splatNumber(v);
  return number ? number->real() : std::nullopt;
}

/// Bounds that nobody can tell from infinity are enough for what asks: 2^48 is beyond any tensor, and far enough from
/// the ends of int64 that sums of some of them do not overflow.
int64_t wholePart(double number) {
  constexpr double far = 0x1p48;
  return std::isnan(number) ? INT64_MIN : static_cast<int64_t>(std::clamp(number, -far, far));
}
std::optional<int64_t> wholeNumber(Value v) {
  std::optional<Number> number = splatNumber(v);
  return !number             ? std::nullopt
         : number->isFloat() ? std::optional(wholePart(*number->real()))
         : number->integer() ? number->integer()
                             : std::optional(INT64_MAX); // the number is a uint64 above int64
}

FloatCodec::FloatCodec(Type element) : format(rowOf(element).format), size(elementBytes(element)) {}
/// float64 and float32 are types of C++; all narrower ones are decoded from their bits by their format.
double FloatCodec::read(const char *from) const {
  if (size == 8) {
    double d;
    std::memcpy(&d, from, 8);
    return d;
  }
  if (size == 4) {
    float f;
    std::memcpy(&f, from, 4);
    return f;
  }
  uint64_t code = 0;
  std::memcpy(&code, from, size);
  return format.decode(code);
}
void FloatCodec::write(double value, char *to) const {
  auto f = static_cast<float>(value);
  uint64_t code = size < 4 ? format.encode(value) : 0;
  std::memcpy(to,
              size == 8   ? static_cast<const void *>(&value)
              : size == 4 ? static_cast<const void *>(&f)
                          : &code,
              size);
}

/// The resource is aligned to 64 bytes, as weights are in an object, so that vectors can be loaded from it.
ElementsAttr constantFromBytes(RankedTensorType type, std::vector<char> bytes) {
  if (isBool(type.getElementType())) {
    SmallVector<bool> bits(bytes.begin(), bytes.end());
    return DenseElementsAttr::get(type, bits);
  }
  if (bytes.size() <= denseLimit) {
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  return DenseResourceElementsAttr::get(type, "w", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
}

ElementsAttr constantFromIntegers(RankedTensorType type, ArrayRef<int64_t> values) {
  int64_t size = elementBytes(type.getElementType());
  std::vector<char> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    // The low bytes come first (little endian).
    std::memcpy(bytes.data() + i * size, &values[i], std::min<int64_t>(size, 8));
  }
  return constantFromBytes(type, std::move(bytes));
}

ElementsAttr constantFromFloats(RankedTensorType type, ArrayRef<double> values) {
  FloatCodec codec(type.getElementType());
  std::vector<char> bytes(values.size() * codec.bytes());
  if (type.getElementType().isF32()) { // weights, of which there are millions
    for (size_t i = 0; i < values.size(); ++i) {
      auto f = static_cast<float>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(f), &f, sizeof f);
    }
    return constantFromBytes(type, std::move(bytes));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    codec.write(values[i], bytes.data() + i * codec.bytes());
  }
  return constantFromBytes(type, std::move(bytes));
}

/// Strings have addresses, which no attribute can hold, so a constant of them is a call that spells them
/// (text/Texts.h).
Value makeConstant(OpBuilder &b, Location loc, ElementsAttr value) {
  if (auto texts = dyn_cast<DenseStringElementsAttr>(value)) {
    return spelled(b, loc, texts);
  }
  return ConstantOp::create(b, loc, cast<Type>(value.getType()), value);
}
/// Sizes that are all numbers are a constant, which folding and patterns know; others are an onnx.Sizes.
Value makeSizes(OpBuilder &b, Location loc, ArrayRef<Size> values, RankedTensorType type) {
  if (llvm::all_of(values, [](const Size &s) { return s.isNumber(); })) {
    auto numbers = llvm::map_to_vector(values, [](const Size &s) { return s.number(); });
    if (!type.getElementType().isInteger()) {
      return makeConstant(b, loc, constantFromFloats(type, SmallVector<double>(numbers.begin(), numbers.end())));
    }
    return makeConstant(b, loc, constantFromIntegers(type, numbers));
  }
  return SizesOp::create(b, loc, type, b.getAttr<SizesAttr>(values));
}
Value makeSizes(OpBuilder &b, Location loc, ArrayRef<Size> values) {
  return makeSizes(b, loc, values, tensorOf({static_cast<int64_t>(values.size())}, b.getI64Type()));
}
Value makeIntegers(OpBuilder &b, Location loc, ArrayRef<int64_t> values) {
  return makeConstant(b, loc,
                      constantFromIntegers(tensorOf({static_cast<int64_t>(values.size())}, b.getI64Type()), values));
}
Value makeInteger(OpBuilder &b, Location loc, int64_t value) {
  return makeConstant(b, loc, constantFromIntegers(tensorOf({}, b.getI64Type()), {value}));
}
Value makeNumber(OpBuilder &b, Location loc, Number value, Type element) {
  if (element.isInteger() && !value.bits()) { // a node that computes with fractions has operands of integers
    emitError(loc) << "computes with " << *value.real() << ", which no element of type " << element << " is";
    value = 0;
  }
  return makeConstant(b, loc, DenseElementsAttr::get(tensorOf({}, element), Attribute(constantOfType(element, value))));
}
Value makeNone(OpBuilder &b, Location loc) { return NoneOp::create(b, loc, b.getNoneType()); }

} // namespace ingot::onnx
