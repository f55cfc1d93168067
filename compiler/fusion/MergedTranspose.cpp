// Merges transposes. A transpose of a transpose is one transpose. A transpose that moves only axes of size 1 past
// others is a reshape, which costs nothing. Two transposes also merge across a reshape that does no more than add or
// drop axes of size 1: it moves behind them.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Move.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Merges a transpose with the transpose that makes its operand.
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

/// Turns a transpose that leaves the order of all axes longer than 1 as it is into a reshape.
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

/// Merges transpose(reshape(transpose(x))), where the reshape keeps all axes longer than 1, into one transpose of x and
/// a reshape behind it. The transpose puts the axes of size 1 first: wherever they are, they cost nothing.
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
    SmallVector<int64_t> source = first.permutation(),
                         kept; // the axes of x that are longer than 1, in the order of the first transpose's result
    for (int64_t axis : source) {
      if (!from[axis].is(1)) {
        kept.push_back(axis);
      }
    }
    // `origin` has the axis of x that each axis of the reshape's result comes from, or -1 for an axis of size 1.
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
    // `perm` has the axes of size 1 first, then the others in their final order.
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
