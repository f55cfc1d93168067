// A transposed convolution whose kernel is as large as its strides makes a block of outputs of each pixel, and no
// output of two: it is a convolution of one tap, with an output channel for each place in a block, and a rearrangement.
//   y[n, o, p * s + k] = sum of w[c, o, k] * x[n, c, p]
// Where it has few output channels, as the last one of a segmentation that makes a map of scores, each residue of the
// outputs would be a convolution by itself, with vectors of channels that are nearly empty. Weights and bias are
// constant.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// So many output channels fill a quarter of a vector at most on machines with long ones.
constexpr int64_t fewChannels = 4;

bool areAll(std::optional<ArrayRef<int64_t>> given, int64_t value) {
  return !given || llvm::all_of(*given, [&](int64_t v) { return v == value; });
}

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
    int64_t outputs = w.getDimSize(1), places = onnx::elements(kernel);
    bool aside = conv.getAutoPad() == "NOTSET" && !conv.getOutputShape() && areAll(conv.getPads(), 0) &&
                 areAll(conv.getOutputPadding(), 0) && areAll(conv.getDilations(), 1);
    bool few = outputs > 0 && outputs <= fewChannels && places > 1 && w.getDimSize(0) > 0;
    if (!aside || !few || !conv.getStrides() || !llvm::equal(*conv.getStrides(), kernel)) {
      return failure();
    }
    Value bias = biased ? repeated(conv, places, rewriter) : conv.getB();
    rewriter.replaceOp(conv, written(conv, kernel, bias, rewriter));
    return success();
  }

private:
  static Value repeated(onnx::ConvTransposeOp conv, int64_t places, PatternRewriter &rewriter) {
    SmallVector<double> values, biases = *onnx::floatsOf(conv.getB());
    for (double b : biases) {
      values.append(places, b);
    }
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, rewriter.getF32Type());
    return onnx::makeConstant(rewriter, conv.getLoc(), onnx::constantFromFloats(type, values));
  }

  static Value written(onnx::ConvTransposeOp conv, ArrayRef<int64_t> kernel, Value bias, PatternRewriter &rewriter) {
    onnx::Formula f(rewriter, conv.getLoc());
    auto w = onnx::ranked(conv.getW());
    int64_t rank = static_cast<int64_t>(kernel.size()), inputs = w.getDimSize(0),
            channels = w.getDimSize(1) * onnx::elements(kernel);
    SmallVector<int64_t> one = {channels, inputs};
    one.append(rank, 1);
    Value weights = f.reshape(f.transpose(f.reshape(conv.getW(), {inputs, channels}), {1, 0}), one);
    Value each = f.op("Conv", {conv.getX(), weights, bias});
    // [n][o][kernel...][pixels...] becomes [n][o][pixel][place]... of each axis.
    onnx::Sizes in = onnx::sizesOf(onnx::ranked(conv.getX())), split = {in[0], w.getDimSize(1)};
    llvm::append_range(split, kernel);
    llvm::append_range(split, ArrayRef(in).drop_front(2));
    SmallVector<int64_t> order = {0, 1};
    for (int64_t i = 0; i < rank; ++i) {
      order.append({2 + rank + i, 2 + i});
    }
    return f.reshapeTo(f.transpose(f.reshapeTo(each, split), order), onnx::sizesOf(onnx::ranked(conv.getY())));
  }
};

} // namespace

void populateShuffledPixels(RewritePatternSet &patterns) { patterns.add<Shuffle>(patterns.getContext()); }

} // namespace ingot::fusion
