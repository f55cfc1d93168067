// Writes a transposed convolution whose kernel is n * s, its strides, or is made so, as an ordinary convolution. Each
// block of s outputs is made of n pixels, so it is a convolution of n taps with an output channel for each place in a
// block, a rearrangement of channels into places, and a cut where there are pads:
//   y[o, p * s + k] = sum of w[c, o, k + j * s] * x[c, p - j] over c and 0 <= j < n
// This is done for few output channels, as the last transposed convolution of a segmentation has, which makes a map of
// scores, or of a decoder that makes a wave. Otherwise each residue of the outputs would be a convolution by itself,
// with vectors of channels that are nearly empty. If the kernel is no multiple, zeros are put behind it. Where it is
// smaller than the stride, no tap makes the last places of a block: the convolution leaves them out, zeros are put
// there, and the bias is added behind. With strides of 1 there is one place, and it is done for any number of channels:
// an ordinary convolution has more algorithms. Weights and bias must be constant.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The most output channels for which this pays: they fill at most a quarter of a vector of 16 floats.
constexpr int64_t fewChannels = 4;

/// Replaces a ConvTranspose of few output channels.
struct Shuffle : OpRewritePattern<onnx::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(onnx::ConvTransposeOp conv, PatternRewriter &rewriter) const override {
    auto x = onnx::ranked(conv.getX()), w = onnx::ranked(conv.getW()), y = onnx::ranked(conv.getY());
    bool known = x && y && w && w.hasStaticShape() && w.getElementType().isF32() && onnx::constantOf(conv.getW()) &&
                 onnx::isSized(conv.getX()) && onnx::isSized(conv.getY());
    bool biased = onnx::present(conv.getB());
    if (!known || conv.getGroup() != 1 || (biased && !onnx::constantOf(conv.getB()))) {
      return failure();
    }
    ArrayRef<int64_t> kernel = w.getShape().drop_front(2);
    SmallVector<int64_t> ones(kernel.size(), 1);
    ArrayRef<int64_t> strides = conv.getStrides().value_or(ArrayRef<int64_t>(ones));
    int64_t outputs = w.getDimSize(1), places = onnx::elements(strides);
    bool aside = conv.getAutoPad() == "NOTSET" && !conv.getOutputShape() && areAll(conv.getOutputPadding(), 0) &&
                 areAll(conv.getDilations(), 1);
    bool few = outputs > 0 && (outputs <= fewChannels || places == 1) && onnx::elements(w.getShape()) > 0;
    if (!aside || !few || strides.size() != kernel.size()) {
      return failure();
    }
    rewriter.replaceOp(conv, written(conv, strides, rewriter));
    return success();
  }

private:
  /// Returns how many places of a block taps make, for each axis.
  static SmallVector<int64_t> madePlaces(ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides) {
    return llvm::map_to_vector(llvm::zip_equal(kernel, strides),
                               [](auto both) { return std::min(std::get<0>(both), std::get<1>(both)); });
  }

  /// Returns the bias with each number once for each place of a block.
  static Value repeated(onnx::ConvTransposeOp conv, int64_t places, PatternRewriter &rewriter) {
    SmallVector<double> values, biases = *onnx::floatsOf(conv.getB());
    for (double b : biases) {
      values.append(places, b);
    }
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, rewriter.getF32Type());
    return onnx::makeConstant(rewriter, conv.getLoc(), onnx::constantFromFloats(type, values));
  }

  /// Returns the taps of each axis, n.
  static SmallVector<int64_t> tapsOf(ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides) {
    return llvm::map_to_vector(llvm::zip_equal(kernel, strides), [](auto both) {
      return static_cast<int64_t>(llvm::divideCeil(std::get<0>(both), std::get<1>(both)));
    });
  }

  /// Returns the weights of the convolution, which has w[c, o, k + j * s] at [o, k][c][n - 1 - j].
  static Value shuffledWeights(onnx::ConvTransposeOp conv, ArrayRef<int64_t> strides, PatternRewriter &rewriter) {
    auto w = onnx::ranked(conv.getW());
    ArrayRef<int64_t> kernel = w.getShape().drop_front(2);
    SmallVector<int64_t> taps = tapsOf(kernel, strides), made = madePlaces(kernel, strides);
    int64_t inputs = w.getDimSize(0), outputs = w.getDimSize(1), size = onnx::elements(kernel),
            places = onnx::elements(made), allTaps = onnx::elements(taps);
    SmallVector<double> from = *onnx::floatsOf(conv.getW()), to(outputs * places * inputs * allTaps, 0.0);
    for (auto [i, value] : llvm::enumerate(from)) {
      int64_t at = static_cast<int64_t>(i), rest = at % size, o = at / size % outputs, c = at / size / outputs;
      int64_t place = 0, tap = 0, placeStep = 1, tapStep = 1;
      for (size_t axis = kernel.size(); axis-- > 0; rest /= kernel[axis]) {
        int64_t stride = strides[axis], k = rest % kernel[axis], n = taps[axis];
        place += k % stride * placeStep, tap += (n - 1 - k / stride) * tapStep;
        placeStep *= made[axis], tapStep *= n;
      }
      to[((o * places + place) * inputs + c) * allTaps + tap] = value;
    }
    SmallVector<int64_t> shape = {outputs * places, inputs};
    llvm::append_range(shape, taps);
    auto type = RankedTensorType::get(shape, rewriter.getF32Type());
    return onnx::makeConstant(rewriter, conv.getLoc(), onnx::constantFromFloats(type, to));
  }

  /// Writes the convolution, padded by n - 1 on both sides so that it also makes the outputs at the edges, and the
  /// rearrangement.
  static Value written(onnx::ConvTransposeOp conv, ArrayRef<int64_t> strides, PatternRewriter &rewriter) {
    onnx::Formula f(rewriter, conv.getLoc());
    ArrayRef<int64_t> kernel = onnx::ranked(conv.getW()).getShape().drop_front(2);
    SmallVector<int64_t> places = madePlaces(kernel, strides);
    bool areAllMade = ArrayRef(places) == strides, isBiased = onnx::present(conv.getB());
    Value none = onnx::makeNone(rewriter, conv.getLoc());
    Value bias = isBiased && areAllMade ? repeated(conv, onnx::elements(places), rewriter) : none;
    Value weights = shuffledWeights(conv, strides, rewriter);
    ArrayRef<int64_t> taps = onnx::ranked(weights).getShape().drop_front(2);
    SmallVector<int64_t> around = llvm::map_to_vector(taps, [](int64_t n) { return n - 1; });
    around.append(around.begin(), around.end());
    NamedAttrList attributes;
    attributes.set("pads", rewriter.getDenseI64ArrayAttr(around));
    Value y = rearranged(f.op("Conv", {conv.getX(), weights, bias}, attributes.getAttrs()), strides, places, f);
    y = cut(padsOf(conv, kernel, strides, taps), y, f);
    if (isBiased && !areAllMade) {
      SmallVector<int64_t> shape(kernel.size() + 1, 1);
      shape[0] = -1;
      y = f.add(y, f.reshape(conv.getB(), shape));
    }
    return y;
  }

  /// Makes [n][o][place...][pixel...] into [n][o] and, for each spatial axis, [pixel][place], which then merge to one
  /// axis. Places that no tap makes are zeros.
  static Value rearranged(Value each, ArrayRef<int64_t> strides, ArrayRef<int64_t> places, onnx::Formula &f) {
    auto rank = static_cast<int64_t>(strides.size());
    onnx::Sizes made = onnx::sizesOf(onnx::ranked(each)), all = {made[0], made[1].number() / onnx::elements(places)},
                split = all;
    split.append(places.begin(), places.end());
    llvm::append_range(split, ArrayRef(made).drop_front(2));
    SmallVector<int64_t> order = {0, 1}, behind(2 * (2 + 2 * rank), 0);
    for (int64_t i = 0; i < rank; ++i) {
      order.append({2 + rank + i, 2 + i});
      behind[(2 + 2 * rank) + 3 + 2 * i] = strides[i] - places[i];
      all.push_back(made[2 + i] * onnx::Size(strides[i]));
    }
    Value y = f.transpose(f.reshapeTo(each, split), order);
    if (places != strides) {
      Value none = onnx::makeNone(f.b, f.loc);
      y = f.op("Pad", {y, onnx::makeIntegers(f.b, f.loc, behind), none, none});
    }
    return f.reshapeTo(y, all);
  }

  /// Returns what is cut away from whole blocks: the pads, and what the zeros behind the kernel make.
  static SmallVector<int64_t> padsOf(onnx::ConvTransposeOp conv, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                     ArrayRef<int64_t> taps) {
    size_t rank = kernel.size();
    SmallVector<int64_t> pads(2 * rank, 0);
    llvm::copy(conv.getPads().value_or(ArrayRef<int64_t>()), pads.begin());
    for (size_t i = 0; i < rank; ++i) {
      pads[rank + i] += taps[i] * strides[i] - kernel[i];
    }
    return pads;
  }

  /// Returns `all` without the outputs that the pads take away.
  static Value cut(ArrayRef<int64_t> pads, Value all, onnx::Formula &f) {
    size_t rank = pads.size() / 2;
    SmallVector<int64_t> from, to, axes;
    for (size_t i = 0; i < rank; ++i) {
      if (pads[i] || pads[rank + i]) {
        from.push_back(pads[i]), axes.push_back(static_cast<int64_t>(i) + 2);
        to.push_back(pads[rank + i] ? -pads[rank + i] : std::numeric_limits<int64_t>::max());
      }
    }
    auto integers = [&](ArrayRef<int64_t> values) { return onnx::makeIntegers(f.b, f.loc, values); };
    return axes.empty() ? all : f.op("Slice", {all, integers(from), integers(to), integers(axes), Value()});
  }
};

} // namespace

void populateShuffledPixels(RewritePatternSet &patterns) { patterns.add<Shuffle>(patterns.getContext()); }

} // namespace ingot::fusion
