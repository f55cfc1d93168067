// Moves additions of constants and multiplications by them, one number for each channel, into the constant weights and
// bias of a convolution behind or before them:
//   conv(x, w, b) * f + o   becomes  conv(x, w * f, b * f + o)           f by output channel
//   conv(x * f + o, w, b)   becomes  conv(x, w * f, b + sum of w * o)    f and o by input channel
// Above all this takes in batch normalisation, which has become a product and a sum. A chain of such ops is taken in at
// once, so that weights are written once.
//
// A sum before a convolution is taken in only where nothing is padded: the padding's zeros would have to become the
// sum's constants.
#include "compiler/fusion/Linear.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The dimensions of a convolution's weights, and which channel a row of them belongs to. A row is what belongs to one
/// index of dimensions 0 and 1. Conv has them as [outputs][inputs of the group], ConvTranspose as [inputs][outputs of
/// the group].
struct Rows {
  int64_t first, second, group, inner; ///< sizes of dimensions 0 and 1, number of groups, elements of a row
  explicit Rows(RankedTensorType type, int64_t group)
      : first(type.getDimSize(0)), second(type.getDimSize(1)), group(group),
        inner(onnx::elements(type.getShape().drop_front(2))) {}
  /// Returns the channel, counted over all groups, that row i (of dimensions 0 and 1) has along dimension 1.
  int64_t channelOfSecond(int64_t i) const { return i / second / (first / group) * second + i % second; }
};

/// Returns the weights multiplied by the factors of their output channels (`outputs`) or of their input channels.
template <typename Op> ElementsAttr scaledWeights(Op conv, ArrayRef<double> factors, bool outputs) {
  Rows rows(onnx::ranked(conv.getW()), conv.getGroup());
  ElementsAttr weights = onnx::constantOf(conv.getW());
  // Dimension 0 of the weights is that of the outputs; of a ConvTranspose, that of the inputs.
  if (outputs != isTransposedConv<Op>) {
    return scaledRows(weights, rows.second * rows.inner, factors, [](int64_t i) { return i; });
  }
  return scaledRows(weights, rows.inner, factors, [&](int64_t i) { return rows.channelOfSecond(i); });
}

/// Returns whether a convolution is of float32, with static shapes and a constant bias or none.
template <typename Op> bool isF32Conv(Op conv) {
  auto x = onnx::ranked(conv.getX()), w = onnx::ranked(conv.getW()), y = onnx::ranked(conv.getY());
  return x && w && y && x.hasStaticShape() && w.hasStaticShape() && y.hasStaticShape() && x.getElementType().isF32() &&
         (!onnx::present(conv.getB()) || onnx::constantOf(conv.getB()));
}

template <typename Op>
Operation *remade(Op conv, PatternRewriter &rewriter, Location loc, Value x, Value w, ElementsAttr bias) {
  Value b = bias ? onnx::makeConstant(rewriter, loc, bias) : conv.getB();
  return onnx::createOp(rewriter, loc, conv->getName().getStringRef(), {x, w, b}, conv->getAttrs());
}

/// Takes a chain behind the convolution into its weights and bias.
template <typename Op> struct After : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op conv, PatternRewriter &rewriter) const override {
    if (!isF32Conv(conv)) {
      return failure();
    }
    int64_t channels = onnx::ranked(conv.getY()).getDimSize(1);
    Linear linear(channels);
    SmallVector<Operation *> chain = {conv};
    while (chain.back()->getResult(0).hasOneUse()) {
      Operation *user = *chain.back()->getResult(0).user_begin();
      auto next = linearOf(user, chain.back()->getResult(0), 1);
      if (!next || (next->scales() && !mayScale(conv.getW(), linear.then(*next)))) {
        break;
      }
      linear = linear.then(*next);
      chain.push_back(user);
    }
    if (chain.size() == 1) {
      return failure();
    }
    SmallVector<double> bias = biasOf(conv, channels);
    for (auto [b, factor, offset] : llvm::zip_equal(bias, linear.factor, linear.offset)) {
      b = b * factor + offset;
    }
    ElementsAttr newBias = finiteConstant(conv.getContext(), {channels}, bias);
    ElementsAttr weights = linear.scales() ? scaledWeights(conv, linear.factor, true) : onnx::constantOf(conv.getW());
    if (!newBias || (linear.scales() && !weights)) {
      return failure();
    }
    rewriter.setInsertionPoint(chain.back());
    Location loc = jointLoc(rewriter, chain);
    Value w = linear.scales() ? onnx::makeConstant(rewriter, loc, weights) : conv.getW();
    rewriter.replaceOp(chain.back(), remade(conv, rewriter, loc, conv.getX(), w, newBias)->getResult(0));
    return success();
  }
};

/// Takes a chain before the convolution into its weights and bias.
template <typename Op> struct Before : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op conv, PatternRewriter &rewriter) const override {
    if (!isF32Conv(conv)) {
      return failure();
    }
    Linear linear(onnx::ranked(conv.getX()).getDimSize(1));
    SmallVector<Operation *> chain = {conv};
    Value x = conv.getX();
    while (Operation *op = x.hasOneUse() ? x.getDefiningOp() : nullptr) {
      bool second = op->getNumOperands() == 2 && onnx::constantOf(op->getOperand(0));
      Value data = op->getNumOperands() == 2 ? op->getOperand(second ? 1 : 0) : Value();
      auto step = data ? linearOf(op, data, 1) : std::nullopt;
      if (!step || !mayScale(conv.getW(), step->then(linear)) || (step->shifts() && !shiftIsSafe(conv))) {
        break;
      }
      linear = step->then(linear);
      chain.push_back(op);
      x = data;
    }
    if (chain.size() == 1) {
      return failure();
    }
    ElementsAttr bias = linear.shifts() ? shiftedBias(conv, linear.offset) : ElementsAttr();
    ElementsAttr weights = scaledWeights(conv, linear.factor, false);
    if (!weights || (linear.shifts() && !bias)) {
      return failure();
    }
    std::reverse(chain.begin(), chain.end());
    Location loc = jointLoc(rewriter, chain);
    Value w = onnx::makeConstant(rewriter, loc, weights);
    rewriter.replaceOp(conv, remade(conv, rewriter, loc, x, w, bias)->getResult(0));
    return success();
  }

private:
  /// Returns whether every output reads a whole window of the image, so that an offset of the image adds the same to
  /// each.
  static bool shiftIsSafe(Op conv) { return !isTransposedConv<Op> && isUnpadded(conv); }

  /// Returns the bias with the sum of weights times the offsets of their input channels added to it.
  static ElementsAttr shiftedBias(Op conv, ArrayRef<double> offsets) {
    Rows rows(onnx::ranked(conv.getW()), conv.getGroup());
    SmallVector<double> bias = biasOf(conv, rows.first);
    std::vector<char> storage;
    ArrayRef<char> bytes = onnx::bytesOf(onnx::constantOf(conv.getW()), storage);
    for (int64_t i = 0, n = rows.first * rows.second; i < n; ++i) {
      double offset = offsets[rows.channelOfSecond(i)];
      for (int64_t k = 0; k < rows.inner; ++k) {
        float weight;
        std::memcpy(&weight, bytes.data() + sizeof(float) * (i * rows.inner + k), sizeof(float));
        bias[i / rows.second] += offset * weight;
      }
    }
    return finiteConstant(conv.getContext(), {rows.first}, bias);
  }
};

} // namespace

void populateScaledConv(RewritePatternSet &patterns) {
  patterns.addWithLabel<After<onnx::ConvOp>, After<onnx::ConvTransposeOp>, Before<onnx::ConvOp>,
                        Before<onnx::ConvTransposeOp>>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
