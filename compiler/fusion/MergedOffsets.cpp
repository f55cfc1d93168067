// Merges two constants that are added to integers one after the other: what the zero point of an image amounts to, and
// a bias.
//   (x +- earlier) +- own  becomes  x +- offset
// The sums of int32 wrap around, so the order of additions changes no bit, and the pattern applies to strict accuracy
// as well. The new offset is a sum of two constants, which the graph's simplification folds.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Binary.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Merges an addition or subtraction of a constant with the one that makes its left operand.
template <typename Op> struct Merged : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Operation *before = op.getA().getDefiningOp();
    if (!before || !isa<onnx::AddOp, onnx::SubOp>(before) || !before->hasOneUse() ||
        !onnx::isInt(onnx::elementOf(op.getResult()), 32) || !onnx::constantOf(op.getB()) ||
        !onnx::constantOf(before->getOperand(1)) || before->getOperand(0).getType() != op.getType()) {
      return failure();
    }
    onnx::Formula f(rewriter, jointLoc(rewriter, {before, op}));
    Value own = op.getB(), earlier = before->getOperand(1);
    bool adds = isa<onnx::AddOp>(op.getOperation()), added = isa<onnx::AddOp>(before);
    // The offset is +-earlier +- own. Where both ops subtract, it is the sum of both and is subtracted.
    Value offset =
        added ? (adds ? f.add(own, earlier) : f.sub(earlier, own)) : (adds ? f.sub(own, earlier) : f.add(own, earlier));
    Value from = before->getOperand(0);
    rewriter.replaceOp(op, added || adds ? f.add(from, offset) : f.sub(from, offset));
    return success();
  }
};

} // namespace

void populateMergedOffsets(RewritePatternSet &patterns) {
  patterns.add<Merged<onnx::AddOp>, Merged<onnx::SubOp>>(patterns.getContext());
}

} // namespace ingot::fusion
