// Moves multiplications by constants into the constant right operand B of a product:
//   (A B) * f + o   becomes  A (B * f) + o     f by column of the product
//   (A * f) B       becomes  A (B * f)         f by column of A, which is a row of B
// Sums between such factors move behind the product as one sum. They stay an elementwise op, because that is the
// kernel's epilogue and costs nothing there.
#include "compiler/fusion/Linear.h"
#include "compiler/onnx/ops/MatMul.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Returns whether the product is of float32 and B is a constant matrix, or several.
bool isF32Product(onnx::MatMulOp op) {
  auto a = onnx::ranked(op.getA()), b = onnx::ranked(op.getB()), y = onnx::ranked(op.getY());
  return a && b && y && b.getRank() >= 2 && y.getRank() >= 1 && a.getElementType().isF32() &&
         onnx::constantOf(op.getB());
}

/// Returns B multiplied by the factors of the product's columns (`columns`), or else of the rows of B. A transposed B
/// has its columns as rows of memory.
ElementsAttr scaledB(onnx::MatMulOp op, ArrayRef<double> factors, bool columns) {
  ElementsAttr b = onnx::constantOf(op.getB());
  int64_t last = onnx::ranked(op.getB()).getShape().back(), size = static_cast<int64_t>(factors.size());
  if (columns != op.getTransB()) {
    return scaledRows(b, 1, factors, [&](int64_t i) { return i % last; });
  }
  return scaledRows(b, last, factors, [&](int64_t i) { return i % size; });
}

/// Takes a chain behind the product into B; what the chain adds becomes one sum behind the product.
struct After : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    if (!isF32Product(op)) {
      return failure();
    }
    auto type = onnx::ranked(op.getY());
    int64_t axis = type.getRank() - 1, columns = type.getDimSize(axis);
    Linear linear(columns);
    SmallVector<Operation *> chain = {op};
    while (chain.back()->getResult(0).hasOneUse()) {
      Operation *user = *chain.back()->getResult(0).user_begin();
      auto next = linearOf(user, chain.back()->getResult(0), axis);
      if (!next || (next->scales() && !mayScale(op.getB(), linear.then(*next)))) {
        break;
      }
      linear = linear.then(*next);
      chain.push_back(user);
    }
    if (!linear.scales()) {
      return failure();
    }
    ElementsAttr b = scaledB(op, linear.factor, true);
    ElementsAttr offset = finiteConstant(op.getContext(), {columns}, linear.offset);
    if (!b || !offset) {
      return failure();
    }
    rewriter.setInsertionPoint(chain.back());
    Location loc = jointLoc(rewriter, chain);
    Value y =
        onnx::make<onnx::MatMulOp>(rewriter, loc, {op.getA(), onnx::makeConstant(rewriter, loc, b)}, op->getAttrs());
    if (linear.shifts()) {
      y = onnx::make<onnx::AddOp>(rewriter, chain.back()->getLoc(), {y, onnx::makeConstant(rewriter, loc, offset)});
    }
    rewriter.replaceOp(chain.back(), y);
    return success();
  }
};

/// Takes one factor before the product, of A's columns, into B.
struct Before : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    Operation *scale = op.getA().hasOneUse() ? op.getA().getDefiningOp() : nullptr;
    if (!isF32Product(op) || op.getTransA() || !isa_and_nonnull<onnx::MulOp, onnx::DivOp>(scale)) {
      return failure();
    }
    Value x = scale->getOperand(onnx::constantOf(scale->getOperand(0)) ? 1 : 0);
    auto linear = linearOf(scale, x, onnx::ranked(op.getA()).getRank() - 1);
    ElementsAttr b = linear && mayScale(op.getB(), *linear) ? scaledB(op, linear->factor, false) : ElementsAttr();
    if (!b) {
      return failure();
    }
    Location loc = jointLoc(rewriter, {scale, op});
    Value y = onnx::make<onnx::MatMulOp>(rewriter, loc, {x, onnx::makeConstant(rewriter, loc, b)}, op->getAttrs());
    rewriter.replaceOp(op, y);
    return success();
  }
};

} // namespace

void populateScaledMatMul(RewritePatternSet &patterns) {
  patterns.addWithLabel<After, Before>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
