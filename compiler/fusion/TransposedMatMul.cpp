// Makes a transpose of the last two axes before a product the way in which the product reads its operand. This happens
// whoever else reads the transposed value: a product adds in an order that depends on how it reads its operands, and
// strict sums must not have another order only because a value is also kept.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/MatMul.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Returns the operand of the transpose that makes `v`, if it swaps the last two axes and keeps all others; null if it
/// does not.
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

/// Takes the transposes of both operands into the product's attributes.
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
