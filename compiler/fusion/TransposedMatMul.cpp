// A transpose of the last two axes before a product is how the product reads its operand, whoever else reads it: strict
// sums must not have another order where a value is kept.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/MatMul.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The operand behind a transpose of the last two axes.
Value untransposed(Value v) {
  auto transpose = v.getDefiningOp<onnx::TransposeOp>();
  if (!transpose) {
    return {};
  }
  SmallVector<int64_t> perm = transpose.permutation();
  size_t rank = perm.size();
  if (rank < 2) {
    return {};
  }
  std::swap(perm[rank - 1], perm[rank - 2]);
  return llvm::equal(perm, llvm::seq<int64_t>(0, rank)) ? transpose.getData() : Value();
}

struct Absorbed : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    Value a = untransposed(op.getA()), b = untransposed(op.getB());
    if (!a && !b) {
      return failure();
    }
    rewriter.modifyOpInPlace(op, [&] {
      if (a) {
        op.setOperand(0, a);
        op.setTransA(!op.getTransA());
      }
      if (b) {
        op.setOperand(1, b);
        op.setTransB(!op.getTransB());
      }
    });
    return success();
  }
};

} // namespace

void populateTransposedMatMul(RewritePatternSet &patterns) { patterns.add<Absorbed>(patterns.getContext()); }

} // namespace ingot::fusion
