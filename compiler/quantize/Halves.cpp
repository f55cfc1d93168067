// Both factors are rounded to 8 bits once, each by up to 2^-9 of itself; products of two are exact in float32, and sums
// are of float32. What a product reads is rounded by the kernel that makes it: it takes half the room, and so do the
// weights.
#include "compiler/quantize/Halves.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Formula.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/MatMul.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ingot::quantize {
namespace {

/// Smaller matrices take no time, and rounding what they read would.
constexpr int64_t leastExtent = 16;

/// A matrix as the words of HalfMatMul.
ElementsAttr wordsOf(ElementsAttr matrix, bool transposed, MLIRContext *context) {
  auto shape = matrix.getShapedType().getShape();
  int64_t k = shape[transposed ? 1 : 0], n = shape[transposed ? 0 : 1];
  std::vector<char> storage, words(2 * k * n);
  ArrayRef<char> from = onnx::bytesOf(matrix, storage);
  onnx::FloatCodec wide(matrix.getElementType()), half(BFloat16Type::get(context));
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double value = wide.read(from.data() + wide.bytes() * (transposed ? j * k + i : i * n + j));
      half.write(value, &words[2 * (i / 2 * 2 * n + 2 * j + i % 2)]);
    }
  }
  return onnx::constantFromBytes(onnx::tensorOf({k / 2, n}, IntegerType::get(context, 32)), std::move(words));
}

struct Product : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    auto a = onnx::ranked(op.getA()), b = onnx::ranked(op.getB());
    ElementsAttr matrix = onnx::constantOf(op.getB());
    if (!a || !b || !matrix || op.getTransA() || a.getRank() < 2 || b.getRank() != 2 || !a.getElementType().isF32()) {
      return failure();
    }
    int64_t k = b.getDimSize(op.getTransB() ? 1 : 0), n = b.getDimSize(op.getTransB() ? 0 : 1);
    if (k % 2 || k < leastExtent || n < leastExtent) {
      return failure();
    }
    onnx::Formula f(rewriter, op.getLoc());
    Type half = rewriter.getBF16Type();
    Value words = onnx::makeConstant(rewriter, op.getLoc(), wordsOf(matrix, op.getTransB(), getContext()));
    rewriter.replaceOp(op, f.op("HalfMatMul", {f.cast(op.getA(), half, onnx::numberOfElement(half)), words}));
    return success();
  }
};

} // namespace

LogicalResult useHalves(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<Product>(function.getContext());
  GreedyRewriteConfig config;
  config.enableConstantCSE(false); // weights are large; equal ones are one attribute already
  return applyPatternsGreedily(function, FrozenRewritePatternSet(std::move(patterns)), config);
}

} // namespace ingot::quantize
