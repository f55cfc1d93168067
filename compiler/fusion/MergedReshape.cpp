// Keeps only the last of a chain of reshapes, and no reshape at all where the shape is the operand's own. Flatten,
// Squeeze and Unsqueeze have become reshapes before fusions run.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Reads what the reshape before reads. That one goes if nothing else needs it.
struct Merged : OpRewritePattern<onnx::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto type = onnx::ranked(op.getY());
    if (!type || !onnx::isSized(op.getY())) {
      return failure();
    }
    if (op.getX().getType() == type) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto before = op.getX().getDefiningOp<onnx::ReshapeOp>();
    if (!before || !onnx::isSized(before.getX())) {
      return failure();
    }
    rewriter.replaceOp(op, reshapedAs(rewriter, jointLoc(rewriter, {before, op}), before.getX(), type));
    return success();
  }
};

} // namespace

void populateMergedReshape(RewritePatternSet &patterns) { patterns.add<Merged>(patterns.getContext()); }

} // namespace ingot::fusion
