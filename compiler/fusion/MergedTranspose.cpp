// A transpose of a transpose is one transpose. One that moves only axes of size 1 past others is a reshape, which costs
// nothing; so it is across a reshape that does no more than add or drop axes of size 1.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Move.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

struct OfTranspose : OpRewritePattern<onnx::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::TransposeOp op, PatternRewriter &rewriter) const override {
    auto first = op.getData().getDefiningOp<onnx::TransposeOp>();
    if (!first || !onnx::isSized(first.getData())) {
      return failure();
    }
    SmallVector<int64_t> inner = first.permutation(), both;
    for (int64_t axis : op.permutation()) {
      both.push_back(inner[axis]);
    }
    rewriter.replaceOp(op, transposed(rewriter, jointLoc(rewriter, {first, op}), first.getData(), both));
    return success();
  }
};

struct OfUnitAxes : OpRewritePattern<onnx::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::TransposeOp op, PatternRewriter &rewriter) const override {
    auto from = onnx::ranked(op.getData()), to = onnx::ranked(op.getY());
    if (!from || !onnx::isSized(op.getData()) || !to || !onnx::isSized(op.getY())) {
      return failure();
    }
    int64_t last = -1;
    for (int64_t axis : op.permutation()) {
      if (from.getDimSize(axis) == 1) {
        continue;
      }
      if (axis < last && !(from.hasStaticShape() && from.getNumElements() == 0)) {
        return failure();
      }
      last = axis;
    }
    rewriter.replaceOp(op, reshapedAs(rewriter, op.getLoc(), op.getData(), to));
    return success();
  }
};

/// transpose(reshape(transpose(x))) where the reshape keeps all axes but those of size 1: the axes of x, in what order.
struct AcrossUnitAxes : OpRewritePattern<onnx::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::TransposeOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getData().getDefiningOp<onnx::ReshapeOp>();
    auto first = reshape ? reshape.getX().getDefiningOp<onnx::TransposeOp>() : onnx::TransposeOp();
    if (!first || !onnx::isSized(first.getData()) || !onnx::isSized(op.getY())) {
      return failure();
    }
    onnx::Sizes shape = onnx::sizesOf(onnx::ranked(reshape.getY())),
                from = onnx::sizesOf(onnx::ranked(first.getData()));
    SmallVector<int64_t> source = first.permutation(), kept; // axes of x behind the axes of the first's result > 1
    for (int64_t axis : source) {
      if (!from[axis].is(1)) {
        kept.push_back(axis);
      }
    }
    SmallVector<int64_t> origin(shape.size(), -1);
    size_t k = 0;
    for (auto [i, d] : llvm::enumerate(shape)) {
      if (d.is(1)) {
        continue;
      }
      if (k >= kept.size() || !(from[kept[k]] == d)) {
        return failure();
      }
      origin[i] = kept[k++];
    }
    if (k != kept.size()) {
      return failure();
    }
    // Axes of size 1 first, then the others in their final order.
    SmallVector<int64_t> perm;
    for (int64_t axis : source) {
      if (!llvm::is_contained(kept, axis)) {
        perm.push_back(axis);
      }
    }
    for (int64_t axis : op.permutation()) {
      if (origin[axis] >= 0) {
        perm.push_back(origin[axis]);
      }
    }
    Location loc = jointLoc(rewriter, {first, reshape, op});
    Value y = transposed(rewriter, loc, first.getData(), perm);
    rewriter.replaceOp(op, reshapedAs(rewriter, loc, y, onnx::ranked(op.getY())));
    return success();
  }
};

} // namespace

void populateMergedTranspose(RewritePatternSet &patterns) {
  patterns.add<OfTranspose, OfUnitAxes, AcrossUnitAxes>(patterns.getContext());
}

} // namespace ingot::fusion
