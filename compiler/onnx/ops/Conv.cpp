#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/Found.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Conv.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// The channels that a convolution with weights of these sizes gives.
static Size outputsOf(ArrayRef<Size> weights, int64_t group, bool transposed) {
  return transposed ? weights[1] * Size(group) : weights[0];
}

/// Checks that Conv and ConvTranspose share, as far as the shapes are known. The axis of the weights whose dimension is
/// the input channels is that of a group's (Conv: 1) or of all of them (ConvTranspose: 0).
static LogicalResult checkOperands(Operation *op, RankedTensorType x, RankedTensorType w, Value bias, int64_t group,
                                   bool transposed) {
  if (x.getRank() < 3) {
    return op->emitOpError("input of rank ")
           << x.getRank() << ", expected batch, channels and at least one spatial axis";
  }
  if (w && w.getRank() != x.getRank()) {
    return op->emitOpError("weights of rank ") << w.getRank() << " for an input of rank " << x.getRank();
  }
  if (group < 1) {
    return op->emitOpError("attribute 'group' is ") << group;
  }
  Sizes weights = w ? sizesOf(w) : Sizes();
  if (!w || weights[0].isUnknown() || weights[1].isUnknown()) {
    return success();
  }
  // The weights say how many channels an open axis has.
  Size expected = transposed ? weights[0] : weights[1] * Size(group);
  if (Size channels = sizeOf(x, 1); failed(require(op, channels, expected))) {
    return op->emitOpError("input has ") << channels.text() << " channels, the weights are for " << expected.text();
  }
  if (failed(require(op, floorDiv(weights[0], group) * Size(group), weights[0]))) {
    return op->emitOpError("group of ") << group << " does not divide " << weights[0].text() << " channels";
  }
  auto b = ranked(bias);
  Size outputs = outputsOf(weights, group, transposed);
  if (b && (b.getRank() != 1 || failed(require(op, sizeOf(b, 0), outputs)))) {
    return op->emitOpError("bias of type ") << b << " for " << outputs.text() << " output channels";
  }
  return success();
}

template <typename Op>
static LogicalResult infer(Op op, SmallVectorImpl<Type> &types, bool transposed, Value bias, Type element) {
  auto x = ranked(op.getX()), w = ranked(op.getW());
  types.assign(1, typeOfRank(knownRank(op.getW()), element));
  if (!x) {
    return success();
  }
  if (failed(checkOperands(op, x, w, bias, op.getGroup(), transposed))) {
    return failure();
  }
  Sizes from = sizesOf(x), shape(x.getRank(), Size::unknown());
  shape[0] = from[0];
  if (w) {
    shape[1] = outputsOf(sizesOf(w), static_cast<int64_t>(op.getGroup()), transposed);
  }
  if (auto kernel = kernelOf(op, op.getW())) {
    bool fits = !w || static_cast<int64_t>(kernel->size()) + 2 == w.getRank();
    for (size_t i = 0; w && fits && i < kernel->size(); ++i) {
      fits = succeeded(require(op, sizeOf(w, static_cast<int64_t>(i) + 2), (*kernel)[i]));
    }
    if (!fits) {
      return op.emitOpError("attribute 'kernel_shape' contradicts the weights of type ") << w;
    }
    ArrayRef<Size> spatial = ArrayRef<Size>(from).drop_front(2);
    auto window = transposed ? transposedWindowOf(op, spatial, *kernel) : windowOf(op, spatial, *kernel);
    if (failed(window)) {
      return failure();
    }
    llvm::copy(window->out, shape.begin() + 2);
  }
  types[0] = sizedType(shape, element);
  return success();
}

LogicalResult ConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  return infer(*this, types, false, getB(), elementOf(getX()));
}
LogicalResult ConvTransposeOp::inferTypes(SmallVectorImpl<Type> &types) {
  return infer(*this, types, true, getB(), elementOf(getX()));
}

/// The window of an op whose types have been inferred; failure where something is dynamic.
template <typename Op> static FailureOr<Window> knownWindow(Op op, bool transposed) {
  auto x = ranked(op.getX());
  auto kernel = kernelOf(op, op.getW());
  if (!x || !kernel || x.getRank() < 3) {
    return failure();
  }
  Sizes from = sizesOf(x);
  ArrayRef<Size> spatial = ArrayRef<Size>(from).drop_front(2);
  return transposed ? transposedWindowOf(op, spatial, *kernel) : windowOf(op, spatial, *kernel);
}

// Where only the run knows how large the weights are, and of double precision or more than three axes, there are no
// kernels: the places that each tap reads are gathered, and the sum over taps and channels is a matrix product.

namespace {
class GatheredConv {
public:
  GatheredConv(Operation *op, PatternRewriter &rewriter, Window window, int64_t group)
      : f(rewriter, op->getLoc()), window(std::move(window)), group(group), x(op->getOperand(0)), w(op->getOperand(1)),
        bias(isa<ConvOp, ConvTransposeOp>(op) ? op->getOperand(2) : Value()), y(sizesOf(ranked(op->getResult(0)))),
        weights(sizesOf(ranked(w))) {}

  /// `padding`: what lies around the image; null: zeros.
  Value convolution(Value padding = {}) {
    const Size &channels = weights[1];
    Value filters = f.reshapeTo(w, {group, floorDiv(weights[0], group), channels * product(window.taps)});
    return biased(filters, padded(x, window.before, window.after, padding), window.strides, /*backwards=*/false);
  }

  /// Zeros lie between the elements, so that there is one for each place of the result that a tap may come from. Those
  /// are read from the last tap to the first.
  Value transposed() {
    Sizes from = sizesOf(ranked(x)), one(from.begin(), from.begin() + 2), spread = one, none, between, before, after;
    for (size_t i = 0; i < window.rank(); ++i) {
      Size n = from[i + 2], last = (window.taps[i] - 1) * Size(window.dilations[i]);
      Size stride = window.strides[i];
      one.append({n, 1}), none.append({0, 0}), between.append({0, stride - 1}), spread.push_back(n * stride);
      before.push_back(last - window.before[i]);
      after.push_back(window.out[i] + window.before[i] - n * stride);
    }
    Value wide = f.reshapeTo(padded(f.reshapeTo(x, one), none, between), spread);
    Sizes apart = {group, floorDiv(weights[0], group), weights[1], product(window.taps)};
    Value filters = f.transpose(f.reshapeTo(w, apart), {0, 2, 1, 3});
    filters = f.reshapeTo(filters, {group, weights[1], apart[1] * apart[3]});
    SmallVector<int64_t> each(window.rank(), 1);
    return biased(filters, padded(wide, before, after), each, /*backwards=*/true);
  }

private:
  Formula f;
  Window window;
  int64_t group;
  Value x, w, bias;
  Sizes y, weights;

  /// Zeros (or, where negative, what is cut off) before and behind the last axes.
  Value padded(Value v, ArrayRef<Size> before, ArrayRef<Size> after, Value padding = {}) {
    size_t rank = ranked(v).getRank(), rest = rank - before.size();
    Sizes pads(2 * rank, 0);
    llvm::copy(before, pads.begin() + rest), llvm::copy(after, pads.begin() + rank + rest);
    bool any = llvm::any_of(pads, [](const Size &pad) { return !pad.is(0); });
    return any ? f.op("Pad", {v, makeSizes(f.b, f.loc, pads), padding, Value()}) : v;
  }

  /// [batch, channels, taps..., places...] of [batch, channels, spatial...].
  Value columns(Value v, ArrayRef<int64_t> strides, bool backwards) {
    SmallVector<int64_t> order = {0, 1};
    auto rank = static_cast<int64_t>(window.rank());
    for (int64_t i = 0; i < rank; ++i) {
      const Size &taps = window.taps[i], &places = window.out[i];
      Value tap = f.countTo(f.scalar(taps)), place = f.countTo(f.scalar(places));
      tap = backwards ? f.sub(f.scalar(taps - 1), tap) : tap;
      tap = f.reshapeTo(f.mul(tap, f.scalar(window.dilations[i])), {taps, 1});
      v = f.op("Gather", {v, f.add(tap, f.mul(place, f.scalar(strides[i])))}, {f.integer("axis", 2 * i + 2)});
      order.insert(order.begin() + 2 + i, 2 * i + 2);
      order.push_back(2 * i + 3);
    }
    return f.transpose(v, order);
  }

  /// `filters`: [group, outputs of one, inputs of one and taps].
  Value biased(Value filters, Value v, ArrayRef<int64_t> strides, bool backwards) {
    Size inputs = sizeOf(ranked(filters), 2), places = product(window.out);
    Value read = f.reshapeTo(columns(v, strides, backwards), {y[0], group, inputs, places});
    Value sums = f.reshapeTo(f.op("MatMul", {filters, read}), y);
    if (!present(bias)) {
      return sums;
    }
    Sizes beside(y.size() - 1, 1);
    beside[0] = y[1];
    return f.add(sums, f.reshapeTo(bias, beside));
  }
};

/// Of bytes: zeros are packed among the weights, and lie around the image on every run.
bool isPacked(IntegerConvOp op) {
  auto isNumber = [](const Size &size) { return size.isNumber(); };
  auto window = knownWindow(op, false);
  return constantThrough(op.getW()) && succeeded(window) && llvm::all_of(window->before, isNumber) &&
         llvm::all_of(window->after, isNumber);
}

template <typename Op> LogicalResult gather(Op op, bool transposed, PatternRewriter &rewriter) {
  bool sized = isSized(op.getX()) && isSized(op.getW()) && isSized(op.getY());
  // What is required of the sizes may give them numbers, and then there is a kernel.
  bool mayBeSolved = !requirementsOf(op).empty() && !isSolved(op);
  if (!sized || mayBeSolved || whyGathered(op).empty()) {
    return failure();
  }
  auto window = knownWindow(op, transposed);
  if (failed(window)) {
    return failure();
  }
  GatheredConv conv(op, rewriter, *window, static_cast<int64_t>(op.getGroup()));
  rewriter.replaceOp(op, transposed ? conv.transposed() : conv.convolution());
  return success();
}
} // namespace

std::string whyGathered(Operation *op) {
  constexpr int64_t mostAxes = 5; // three of them spatial
  Value x = op->getOperand(0), weights = op->getOperand(1);
  if (!isSized(x) || !isSized(op->getResult(0)) || !isStatic(weights) || ranked(x).isDynamicDim(1)) {
    return "shapes are not known at compile time";
  }
  Type element = computedIn(elementOf(x));
  if (isa<FloatType>(element) && !element.isF32()) {
    return "convolutions of this element type are not built";
  }
  if (ranked(x).getRank() > mostAxes) {
    return "it has more than three spatial axes";
  }
  auto integers = dyn_cast<IntegerConvOp>(op);
  return integers && !isPacked(integers) ? "its weights or its padding are not known at compile time" : "";
}

LogicalResult ConvOp::decompose(PatternRewriter &rewriter) {
  auto window = knownWindow(*this, false);
  if (failed(window)) {
    return failure();
  }
  bool said = succeeded(explicitPads(*this, *window, rewriter));
  return said ? success() : gather(*this, false, rewriter);
}
LogicalResult ConvTransposeOp::decompose(PatternRewriter &rewriter) { return gather(*this, true, rewriter); }

// Convolutions of bytes.

LogicalResult IntegerConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  return infer(*this, types, false, {}, IntegerType::get(getContext(), 32));
}

/// As products of int32, where no kernel can be made.
LogicalResult IntegerConvOp::decompose(PatternRewriter &rewriter) {
  auto window = knownWindow(*this, false);
  if (failed(window)) {
    return failure();
  }
  if (succeeded(explicitPads(*this, *window, rewriter))) {
    return success();
  }
  bool sized = isSized(getX()) && isSized(getW()) && isSized(getY());
  if (!sized || whyGathered(*this).empty()) {
    return failure();
  }
  Type i32 = rewriter.getI32Type();
  for (OpOperand &operand : (*this)->getOpOperands().take_front(2)) {
    Formula f(rewriter, getLoc());
    rewriter.modifyOpInPlace(*this, [&] { operand.set(f.cast(operand.get(), i32, numberOfElement(i32))); });
  }
  Value padding =
      makeConstant(rewriter, getLoc(), constantFromIntegers(tensorOf({}, i32), {static_cast<int64_t>(getPadding())}));
  GatheredConv conv(*this, rewriter, *window, static_cast<int64_t>(getGroup()));
  rewriter.replaceOp(*this, conv.convolution(padding));
  return success();
}

LogicalResult HalfConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  return infer(*this, types, false, {}, Float32Type::get(getContext()));
}

LogicalResult ConvIntegerOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkZero(*this, getX(), {}, getXZeroPoint())) || failed(checkZero(*this, getW(), {}, getWZeroPoint()))) {
    return failure();
  }
  auto w = ranked(getW());
  if (failed(checkPlaces(*this, getXZeroPoint(), "zero points of X", {})) ||
      (w && w.getRank() && failed(checkPlaces(*this, getWZeroPoint(), "zero points of W", sizeOf(w, 0))))) {
    return failure();
  }
  return infer(*this, types, false, {}, IntegerType::get(getContext(), 32));
}

namespace {
/// sum (x - z)(w - u) = sum x w - z (sum w - k u) - u sum x, where around the image lies z.
class ZeroPoints {
public:
  ZeroPoints(ConvIntegerOp op, PatternRewriter &rewriter, const Window &window)
      : f(rewriter, op.getLoc()), op(op), window(window) {}

  Value convolution() {
    auto type = ranked(op.getW());
    int64_t spatial = type.getRank() - 2;
    Quantized x = withSign(f, op.getX(), alongEnd(f, op.getXZeroPoint(), 0), /*isSigned=*/false),
              w = withSign(f, op.getW(), alongEnd(f, op.getWZeroPoint(), spatial), /*isSigned=*/true);
    auto around = x.zero ? integersOf(x.zero) : SmallVector<int64_t>(1, 0);
    Value image = around ? x.values : padded(x);
    for (NamedAttribute a : op->getAttrs()) {
      if (around || (a.getName() != "pads" && a.getName() != "auto_pad")) {
        attributes.push_back(a);
      }
    }
    if (around && around->front()) {
      attributes.push_back(f.integer("padding", around->front()));
    }
    Value y = sums(image, w.values);
    if (x.zero) {
      Value taps = sumAlong(f, w.values, llvm::to_vector(llvm::seq<int64_t>(1, type.getRank())));
      Sizes beside(spatial + 1, 1);
      beside[0] = sizeOf(type, 0);
      taps = f.reshapeTo(taps, beside);
      if (w.zero) {
        Sizes sizes = sizesOf(type);
        Value count = f.scalar(support::product(ArrayRef<Size>(sizes).drop_front()));
        taps = f.sub(taps, f.mul(f.cast(count, elementOf(taps), numberOfElement(elementOf(taps))), w.zero));
      }
      y = f.sub(y, f.mul(x.zero, taps));
    }
    return w.zero ? f.sub(y, f.mul(w.zero, sumsOfWindows(image, around ? around->front() : 0))) : y;
  }

private:
  Formula f;
  ConvIntegerOp op;
  const Window &window;
  SmallVector<NamedAttribute> attributes;

  Value sums(Value image, Value weights) { return f.op("IntegerConv", {image, weights, Value()}, attributes); }

  /// With a zero point around it that only the run knows.
  Value padded(const Quantized &x) {
    Type u8 = elementOf(x.values);
    Sizes pads(2 * ranked(x.values).getRank(), 0);
    llvm::copy(window.before, pads.begin() + 2);
    llvm::copy(window.after, pads.begin() + ranked(x.values).getRank() + 2);
    bool any = llvm::any_of(pads, [](const Size &pad) { return !pad.is(0); });
    Value value = any ? f.cast(x.zero, u8, numberOfElement(u8)) : Value();
    return any ? f.op("Pad", {x.values, makeSizes(f.b, f.loc, pads), value, Value()}) : x.values;
  }

  /// The sums of an image's windows: of one filter, which serves all, where there is one group. There a pixel's
  /// channels are added up first, and the window's pixels then, as floats, which are exact below 2^24.
  Value sumsOfWindows(Value image, int64_t around) {
    Sizes sizes = sizesOf(ranked(op.getW())), pixel(sizes.size(), 1), taps(sizes);
    sizes[0] = op.getGroup() == 1 ? Size(1) : sizes[0];
    pixel[1] = sizes[1], taps[0] = 1, taps[1] = 1;
    Size window = support::product(ArrayRef<Size>(taps)), all = window * sizes[1];
    if (op.getGroup() != 1 || window.is(1) || !all.isNumber() || all.number() > (1 << 24) / 255) {
      return sums(image, ones(sizes, f.b.getI8Type()));
    }
    Type f32 = f.b.getF32Type(), i32 = f.b.getI32Type();
    auto castTo = [&](Value v, Type element) { return f.cast(v, element, numberOfElement(element)); };
    int64_t outside = around * sizes[1].number(); // what a pixel around the image adds up to
    Value pixels = castTo(f.op("IntegerConv", {image, ones(pixel, f.b.getI8Type()), Value()}), f32);
    SmallVector<NamedAttribute> inWindow =
        llvm::to_vector(llvm::make_filter_range(attributes, [](NamedAttribute a) { return a.getName() != "padding"; }));
    Value y = f.op("Conv", {f.sub(pixels, f.number(outside, pixels)), ones(taps, f32), Value()}, inWindow);
    return castTo(f.add(y, f.number(outside * window.number(), y)), i32);
  }

  Value ones(ArrayRef<Size> sizes, Type element) {
    auto type = tensorOf({1}, element);
    auto one = element.isF32() ? constantFromFloats(type, {1}) : constantFromIntegers(type, {1});
    return f.op("ConstantOfShape", {makeSizes(f.b, f.loc, sizes)}, {f.b.getNamedAttr("value", one)});
  }
};
} // namespace

LogicalResult ConvIntegerOp::decompose(PatternRewriter &rewriter) {
  auto window = knownWindow(*this, false);
  if (failed(window) || !isSized(getX()) || !isSized(getW()) || !isSized(getY())) {
    return failure();
  }
  rewriter.replaceOp(*this, ZeroPoints(*this, rewriter, *window).convolution());
  return success();
}

LogicalResult QLinearConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkOwn(*this, getX(), getXScale(), getXZeroPoint(), /*divides=*/false)) ||
      failed(checkOwn(*this, getW(), getWScale(), getWZeroPoint(), /*divides=*/false)) ||
      failed(checkOwn(*this, getYZeroPoint(), getYScale(), getYZeroPoint(), /*divides=*/true))) {
    return failure();
  }
  auto w = ranked(getW());
  std::optional<Size> outputs = w && w.getRank() ? std::optional(sizeOf(w, 0)) : std::nullopt;
  if ((outputs && failed(checkPlaces(*this, getWScale(), "scales of W", outputs))) ||
      failed(checkPlaces(*this, getXScale(), "scales of X", {})) ||
      failed(checkPlaces(*this, getYScale(), "scales of Y", {}))) {
    return failure();
  }
  return infer(*this, types, false, getB(), elementOf(getYZeroPoint()));
}

LogicalResult QLinearConvOp::decompose(PatternRewriter &rewriter) {
  auto w = ranked(getW());
  if (!isSized(getX()) || !isSized(getW()) || !isSized(getY())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  int64_t spatial = w.getRank() - 2;
  Value sums = f.op("ConvInteger", {getX(), getW(), getXZeroPoint(), getWZeroPoint()}, (*this)->getAttrs());
  if (present(getB())) {
    sums = f.add(sums, alongEnd(f, getB(), spatial));
  }
  Value factor =
      f.div(f.mul(alongEnd(f, getXScale(), 0), alongEnd(f, getWScale(), spatial)), alongEnd(f, getYScale(), 0));
  rewriter.replaceOp(*this, requantize(f, sums, factor, alongEnd(f, getYZeroPoint(), 0), elementOf(getY())));
  return success();
}

void registerConv(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Conv.cpp.inc"
      >();
}

} // namespace ingot::onnx
