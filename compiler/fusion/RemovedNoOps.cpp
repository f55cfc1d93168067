// Removes ops that leave their operand as it is: a Cast to the same type, a movement (Expand, Tile, Slice, Pad and
// others) that keeps the shape and the place of each element, a Concat of one tensor, a multiplication by 1, and an
// addition of 0, where the other operand is as large as the result. (-0 + 0 is 0, so strict accuracy keeps the sum, and
// the difference x - (-0), which is the same. It drops x + (-0) and x - 0, which are x whatever the sign of a zero.)
// Ops that are done twice (Relu, Abs, rounding) are done once, and those that undo themselves (Neg, Not) go in pairs.
// Concats of Concats along one axis become one, and neighbouring constants in a Concat become one constant.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Unary.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Returns whether the result's elements are those of operand 0, each in its place.
bool movesNothing(onnx::Mover op) {
  Type type = op->getResult(0).getType();
  if (!onnx::isSized(op->getResult(0)) || op->getOperand(0).getType() != type) {
    return false;
  }
  auto offset = onnx::contiguousOffset(op);
  return offset && offset->is(0);
}

/// Removes a movement that moves nothing.
struct NothingMoved : OpInterfaceRewritePattern<onnx::Mover> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(onnx::Mover op, PatternRewriter &rewriter) const override {
    if (!movesNothing(op)) {
      return failure();
    }
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// Removes a Cast to the type that the value has.
struct SameType : OpRewritePattern<onnx::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::CastOp op, PatternRewriter &rewriter) const override {
    if (op.getX().getType() != op.getY().getType()) {
      return failure();
    }
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

/// Removes an op one of whose operands is its neutral element: the right one, or also the left one where the op
/// commutes. A zero is neutral only with the sign of `neutral`.
template <typename Op> struct Neutral : OpRewritePattern<Op> {
  double neutral;
  bool commutes;
  Neutral(MLIRContext *context, double neutral, bool commutes)
      : OpRewritePattern<Op>(context), neutral(neutral), commutes(commutes) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < (commutes ? 2 : 1); ++i) {
      Value x = op->getOperand(i), other = op->getOperand(1 - i);
      std::optional<double> number = numberOf(other);
      if (x.getType() == op->getResult(0).getType() && number == neutral &&
          std::signbit(*number) == std::signbit(neutral)) {
        rewriter.replaceOp(op, x);
        return success();
      }
    }
    return failure();
  }
};

/// Removes the second of two equal ops, which leaves what the first one has made: the largest of x and 0, a number
/// without its sign, a whole number.
template <typename Op> struct DoneTwice : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op->getOperand(0).template getDefiningOp<Op>()) {
      return failure();
    }
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// Removes two equal ops of which the second one undoes the first one.
template <typename Op> struct Undone : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto first = op->getOperand(0).template getDefiningOp<Op>();
    if (!first) {
      return failure();
    }
    rewriter.replaceOp(op, first->getOperand(0));
    return success();
  }
};

/// Makes Abs(Neg(x)) Abs(x).
struct SignDropped : OpRewritePattern<onnx::AbsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::AbsOp op, PatternRewriter &rewriter) const override {
    auto negated = op->getOperand(0).getDefiningOp<onnx::NegOp>();
    if (!negated) {
      return failure();
    }
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, negated->getOperand(0)); });
    return success();
  }
};

/// Merges a Concat with those of its operands that are Concats along the same axis and have no other reader, and leaves
/// out empty operands. A Concat of constants alone is left to be folded.
struct OfConcats : OpRewritePattern<onnx::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConcatOp op, PatternRewriter &rewriter) const override {
    auto type = onnx::ranked(op.getY());
    if (!type || !onnx::isSized(op.getY())) {
      return failure();
    }
    int64_t rank = type.getRank(), axis = *onnx::normalAxis(op.getAxis(), rank);
    SmallVector<Value> pieces;
    for (Value x : op.getXs()) {
      auto inner = onlyFor<onnx::ConcatOp>(x);
      if (inner && onnx::normalAxis(inner.getAxis(), rank) == axis && !llvm::all_of(inner.getXs(), onnx::constantOf)) {
        llvm::append_range(pieces, inner.getXs());
      } else if (onnx::ranked(x).getDimSize(axis) != 0 || op.getXs().size() == 1) {
        pieces.push_back(x);
      }
    }
    if (pieces.empty() || llvm::equal(pieces, op.getXs())) {
      return failure();
    }
    rewriter.replaceOp(op, onnx::make<onnx::ConcatOp>(rewriter, op.getLoc(), pieces, op->getAttrs()));
    return success();
  }
};

/// Puts neighbouring constants, if nothing else reads them, into a Concat of their own, which the phase graph folds to
/// one constant.
struct OfConstants : OpRewritePattern<onnx::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConcatOp op, PatternRewriter &rewriter) const override {
    auto isOwn = [](Value x) { return onnx::constantOf(x) && x.hasOneUse(); };
    SmallVector<Value> pieces;
    for (ValueRange left = op.getXs(); !left.empty();) {
      ValueRange run = left.take_front(llvm::find_if_not(left, isOwn) - left.begin());
      if (run.size() == op.getXs().size()) {
        return failure(); // all operands are constants, so the Concat is folded as it is
      }
      pieces.push_back(run.size() > 1
                           ? onnx::make<onnx::ConcatOp>(rewriter, op.getLoc(), SmallVector<Value>(run), op->getAttrs())
                           : left.front());
      left = left.drop_front(std::max<size_t>(run.size(), 1));
    }
    if (pieces.size() == op.getXs().size()) {
      return failure();
    }
    rewriter.replaceOp(op, onnx::make<onnx::ConcatOp>(rewriter, op.getLoc(), pieces, op->getAttrs()));
    return success();
  }
};

} // namespace

void populateRemovedNoOps(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<NothingMoved, SameType, OfConcats, OfConstants>(context);
  patterns.add<Neutral<onnx::MulOp>>(context, 1.0, true);
  patterns.add<Neutral<onnx::DivOp>>(context, 1.0, false);
  patterns.add<Neutral<onnx::SubOp>>(context, 0.0, false);
  patterns.add<Neutral<onnx::AddOp>>(context, -0.0, true);
  patterns.addWithLabel<Neutral<onnx::SubOp>>({roundsOtherwise}, context, -0.0, false);
  patterns.addWithLabel<Neutral<onnx::AddOp>>({roundsOtherwise}, context, 0.0, true);
  patterns
      .add<DoneTwice<onnx::ReluOp>, DoneTwice<onnx::AbsOp>, DoneTwice<onnx::FloorOp>, DoneTwice<onnx::CeilOp>,
           DoneTwice<onnx::RoundOp>, Undone<onnx::NegOp>, Undone<onnx::NotOp>, Undone<onnx::BitwiseNotOp>, SignDropped>(
          context);
}

} // namespace ingot::fusion
