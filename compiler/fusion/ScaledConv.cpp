// Additions and multiplications by constants a channel, behind and before a convolution of constant weights, become
// part of its weights and bias: batch normalisation above all, which has become a product and a sum. A chain is taken
// at once, so that weights are written once. Before a convolution a sum is taken only where nothing is padded: the
// padding's zeros would have to become the sum's.
#include "compiler/fusion/Linear.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Which channel a row of the weights belongs to: Conv has [outputs][inputs of the group], ConvTranspose
/// [inputs][outputs of the group].
struct Rows {
  int64_t first, second, group, inner; ///< dimensions 0 and 1, groups, elements behind them
  explicit Rows(RankedTensorType type, int64_t group)
      : first(type.getDimSize(0)), second(type.getDimSize(1)), group(group),
        inner(onnx::elements(type.getShape().drop_front(2))) {}
  /// The channel of dimension 1 that row i (over dimensions 0 and 1) works on.
  int64_t channelOfSecond(int64_t i) const { return i / second / (first / group) * second + i % second; }
};

template <typename Op> constexpr bool transposed = std::is_same_v<Op, onnx::ConvTransposeOp>;

/// Weights times the factor of their output channel, or of their input channel.
template <typename Op> ElementsAttr scaledWeights(Op conv, ArrayRef<double> factors, bool outputs) {
  Rows rows(onnx::ranked(conv.getW()), conv.getGroup());
  ElementsAttr weights = onnx::constantOf(conv.getW());
  if (outputs != transposed<Op>) {
    return scaledRows(weights, rows.second * rows.inner, factors, [](int64_t i) { return i; });
  }
  return scaledRows(weights, rows.inner, factors, [&](int64_t i) { return rows.channelOfSecond(i); });
}

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
  /// Whether every output reads a whole window of the image.
  static bool shiftIsSafe(Op conv) { return !transposed<Op> && isUnpadded(conv); }

  /// The bias, and what the offsets of the inputs add up to.
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
