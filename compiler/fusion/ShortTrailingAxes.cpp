// Reduces short trailing axes first, and then the others, where a reduction is over both and axes that are kept lie
// between. In one reduction each sum would visit a few neighbours here and there; in two, vectors have whole rows of
// short sums, and then whole columns (lower/families/Reduce.cpp).
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Reduce.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The most elements of the trailing axes. Rows of more are vectors of their own.
constexpr int64_t shortRow = 16;

/// Returns how many of the reduced axes are the last ones of `type`, one behind the other.
size_t trailingAxes(ArrayRef<int64_t> axes, RankedTensorType type) {
  size_t count = 0;
  while (count < axes.size() && axes[axes.size() - 1 - count] == type.getRank() - 1 - static_cast<int64_t>(count)) {
    ++count;
  }
  return count;
}

struct Split : OpRewritePattern<onnx::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(onnx::ReduceOp op, PatternRewriter &rewriter) const override {
    auto x = onnx::ranked(op.getData()), y = onnx::ranked(op.getReduced());
    if (!x || !y || !onnx::isSized(op.getData()) || !onnx::isSized(op.getReduced())) {
      return failure();
    }
    ArrayRef<int64_t> axes = op.getAxes();
    size_t trailing = trailingAxes(axes, x);
    ArrayRef<int64_t> first = axes.take_back(trailing), others = axes.drop_back(trailing);
    int64_t elements = 1;
    for (int64_t axis : first) {
      elements *= x.isDynamicDim(axis) ? shortRow + 1 : x.getDimSize(axis);
    }
    // A mean of means of whole numbers would be rounded twice.
    bool isExact = op.getKind() != "Mean" || isa<FloatType>(x.getElementType());
    if (others.empty() || elements <= 1 || elements > shortRow || !isExact) {
      return failure();
    }
    onnx::Formula f(rewriter, op.getLoc());
    auto reduced = [&](Value v, ArrayRef<int64_t> along) {
      return f.op("Reduce", {v},
                  {f.b.getNamedAttr("kind", op.getKindAttr()),
                   f.b.getNamedAttr("axes", f.b.getDenseI64ArrayAttr(along)), f.flag("keepdims")});
    };
    rewriter.replaceOp(op, f.reshapeTo(reduced(reduced(op.getData(), first), others), onnx::sizesOf(y)));
    return success();
  }
};

} // namespace

void populateShortTrailingAxes(RewritePatternSet &patterns) {
  patterns.addWithLabel<Split>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
