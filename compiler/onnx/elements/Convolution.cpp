// The shapes of Conv, ConvTranspose and ConvInteger, and how one that has no kernel becomes a product. For an image of
// one channel and three pixels, and a filter of two taps:
//
//   taps            w0  w1
//   places read     [a, b], [b, c]              two rows for two pixels of the result
//   result          [a b; b c] * [w0, w1]'
#include "compiler/onnx/elements/Convolution.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

/// The channels that a convolution with weights of these sizes gives.
static Size outputsOf(ArrayRef<Size> weights, int64_t group, bool transposed) {
  return transposed ? weights[1] * Size(group) : weights[0];
}

/// Checks that Conv and ConvTranspose share, as far as the shapes are known. The axis of the weights whose dimension is
/// the input channels is that of a group's (Conv: 1) or of all of them (ConvTranspose: 0).
LogicalResult Convolution::check(RankedTensorType x, RankedTensorType w, Value bias) const {
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

/// The rank is that of the weights, even where the image's is not known.
LogicalResult Convolution::inferTypes(SmallVectorImpl<Type> &types, Value bias, Type element) const {
  auto image = ranked(x), weights = ranked(w);
  types.assign(1, typeOfRank(knownRank(w), element));
  if (!image) {
    return success();
  }
  if (failed(check(image, weights, bias))) {
    return failure();
  }
  Sizes from = sizesOf(image), shape(image.getRank(), Size::unknown());
  shape[0] = from[0];
  if (weights) {
    shape[1] = outputsOf(sizesOf(weights), group, transposed);
  }
  if (auto kernel = kernelOf(op, w)) {
    bool fits = !weights || static_cast<int64_t>(kernel->size()) + 2 == weights.getRank();
    for (size_t i = 0; weights && fits && i < kernel->size(); ++i) {
      fits = succeeded(require(op, sizeOf(weights, static_cast<int64_t>(i) + 2), (*kernel)[i]));
    }
    if (!fits) {
      return op->emitOpError("attribute 'kernel_shape' contradicts the weights of type ") << weights;
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

FailureOr<Window> Convolution::window() const {
  auto image = ranked(x);
  auto kernel = kernelOf(op, w);
  if (!image || !kernel || image.getRank() < 3) {
    return failure();
  }
  Sizes from = sizesOf(image);
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
    Sizes byGroup = {group, floorDiv(weights[0], group), weights[1], product(window.taps)};
    Value filters = f.transpose(f.reshapeTo(w, byGroup), {0, 2, 1, 3});
    filters = f.reshapeTo(filters, {group, weights[1], byGroup[1] * byGroup[3]});
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
bool isPacked(formats::Int8ConvOp op) {
  auto isNumber = [](const Size &size) { return size.isNumber(); };
  auto window = Convolution(op).window();
  return constantThrough(op.getW()) && succeeded(window) && llvm::all_of(window->before, isNumber) &&
         llvm::all_of(window->after, isNumber);
}
} // namespace

Value Convolution::gathered(PatternRewriter &rewriter, const Window &window, Value padding) const {
  GatheredConv conv(op, rewriter, window, group);
  return transposed ? conv.transposed() : conv.convolution(padding);
}

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
  auto integers = dyn_cast<formats::Int8ConvOp>(op);
  return integers && !isPacked(integers) ? "its weights or its padding are not known at compile time" : "";
}

} // namespace ingot::onnx
