// Resizes one axis after the other where that reads fewer elements:
//
//   Interpolate(x, rows, columns)  becomes  Interpolate(Interpolate(x, rows), columns)
//
// An element of the result is a sum over all combinations of the taps of the axes: 16 for cubic interpolation of an
// image, and more with an antialiasing filter. One axis after the other it is a sum of four, of elements that are sums
// of four, and only the last axis is read at positions that are apart. What is between is in memory, so tensors that
// are rounded there are left alone, as is what has few taps. An axis that shrinks comes before one that grows.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Resize.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Fewer combinations than these take no longer than to store and load what is between.
constexpr int64_t leastCombinations = 9;

struct SeparatedResize : OpRewritePattern<onnx::InterpolateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::InterpolateOp op, PatternRewriter &rewriter) const override {
    auto data = onnx::ranked(op.getData()), result = onnx::ranked(op.getResult());
    Type element = data.getElementType();
    if (op.getNearest() || op.getAxes().size() < 2 || (!element.isF32() && !element.isF64())) {
      return failure();
    }
    int64_t combinations = 1;
    for (size_t i = 0; i < op.getAxes().size(); ++i) {
      int64_t taps = onnx::ranked(op.getTables()[2 * i]).getDimSize(0);
      if (taps == ShapedType::kDynamic) {
        return failure();
      }
      combinations *= taps;
    }
    if (combinations < leastCombinations) {
      return failure();
    }
    SmallVector<size_t> order, growing;
    for (auto [i, axis] : llvm::enumerate(op.getAxes())) {
      (grows(axis, data, result) ? growing : order).push_back(i);
    }
    order.append(growing);
    Value x = op.getData();
    for (size_t i : order) {
      NamedAttrList attributes(op->getAttrs());
      attributes.set("axes", rewriter.getDenseI64ArrayAttr({op.getAxes()[i]}));
      x = onnx::make<onnx::InterpolateOp>(rewriter, op.getLoc(), {x, op.getTables()[2 * i], op.getTables()[2 * i + 1]},
                                          attributes.getAttrs());
    }
    rewriter.replaceOp(op, x);
    return success();
  }

  static bool grows(int64_t axis, RankedTensorType from, RankedTensorType to) {
    return (onnx::sizeOf(to, axis) - onnx::sizeOf(from, axis)).atLeast(1, support::Facts());
  }
};

} // namespace

void populateSeparatedResize(RewritePatternSet &patterns) {
  patterns.addWithLabel<SeparatedResize>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
