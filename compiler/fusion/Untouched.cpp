// Ops that leave their operand as it is go: a Cast to the same type, an Expand, Tile, Slice or Pad that keeps the shape
// (one that keeps it and moves nothing, that is), a Concat of one, and a multiplication by 1 or an addition of 0 of
// what is as large as the result. (-0 + 0 is 0: strict accuracy keeps the sum.) A Concat of Concats of one axis is one;
// constants beside each other in a Concat are one.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Whether the result's elements are operand 0's, each in its place.
bool movesNothing(onnx::Mover op) {
  Type type = op->getResult(0).getType();
  if (!onnx::isSized(op->getResult(0)) || op->getOperand(0).getType() != type) {
    return false;
  }
  auto offset = onnx::contiguousOffset(op);
  return offset && offset->is(0);
}

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

/// `neutral` as the right operand, and as the left one where the op commutes.
template <typename Op> struct Neutral : OpRewritePattern<Op> {
  double neutral;
  bool commutes;
  Neutral(MLIRContext *context, double neutral, bool commutes)
      : OpRewritePattern<Op>(context), neutral(neutral), commutes(commutes) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < (commutes ? 2 : 1); ++i) {
      Value x = op->getOperand(i), other = op->getOperand(1 - i);
      if (x.getType() == op->getResult(0).getType() && numberOf(other) == neutral) {
        rewriter.replaceOp(op, x);
        return success();
      }
    }
    return failure();
  }
};

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

/// Constants that stand beside each other and that nobody else reads: graph makes one of their Concat.
struct OfConstants : OpRewritePattern<onnx::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConcatOp op, PatternRewriter &rewriter) const override {
    auto isOwn = [](Value x) { return onnx::constantOf(x) && x.hasOneUse(); };
    SmallVector<Value> pieces;
    for (ValueRange left = op.getXs(); !left.empty();) {
      ValueRange run = left.take_front(llvm::find_if_not(left, isOwn) - left.begin());
      if (run.size() == op.getXs().size()) {
        return failure(); // a constant as a whole
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

void populateUntouched(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<NothingMoved, SameType, OfConcats, OfConstants>(context);
  patterns.add<Neutral<onnx::MulOp>>(context, 1.0, true);
  patterns.add<Neutral<onnx::DivOp>>(context, 1.0, false);
  patterns.add<Neutral<onnx::SubOp>>(context, 0.0, false);
  patterns.addWithLabel<Neutral<onnx::AddOp>>({roundsOtherwise}, context, 0.0, true);
}

} // namespace ingot::fusion
