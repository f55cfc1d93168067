// Writes a convolution of one tap, from a row-major image to few channels, as a product of matrices:
//   y[n][o][pixel] = sum over c of w[o][c] * x[n][c][pixel]
// A convolution would first bring its image into blocks of channels, which takes longer than so few multiplications.
// The image is certainly row-major where the caller gives it, or an op has just moved it; images that other
// convolutions make are in blocks already. Weights must be constant.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The least inputs for each output: what is made is so much less than what is read.
constexpr int64_t inputsOfOutput = 4;

/// Returns whether an image is row-major whatever layouts are assigned.
bool isRowMajor(Value x) {
  Operation *maker = x.getDefiningOp();
  return !maker || isa<onnx::ReshapeOp, onnx::TransposeOp>(maker);
}

/// Returns whether each output pixel is made of the input pixel at its own place.
bool isPointwise(onnx::ConvOp conv, ArrayRef<int64_t> kernel) {
  return llvm::all_of(kernel, [](int64_t taps) { return taps == 1; }) && isUnpadded(conv) &&
         areAll(conv.getStrides(), 1) && conv.getGroup() == 1;
}

struct Pointwise : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(onnx::ConvOp conv, PatternRewriter &rewriter) const override {
    auto x = onnx::ranked(conv.getX()), w = onnx::ranked(conv.getW()), y = onnx::ranked(conv.getY());
    bool isKnown = x && y && w && w.getElementType().isF32() && w.hasStaticShape() && onnx::constantOf(conv.getW()) &&
                   onnx::isSized(conv.getX()) && onnx::isSized(conv.getY());
    if (!isKnown || !isRowMajor(conv.getX()) || !isPointwise(conv, w.getShape().drop_front(2)) ||
        w.getDimSize(0) * inputsOfOutput > w.getDimSize(1)) {
      return failure();
    }
    onnx::Formula f(rewriter, conv.getLoc());
    onnx::Sizes sizes = onnx::sizesOf(x);
    onnx::Size pixels = 1;
    for (const onnx::Size &size : ArrayRef(sizes).drop_front(2)) {
      pixels = pixels * size;
    }
    Value image = f.reshapeTo(conv.getX(), {sizes[0], sizes[1], pixels});
    Value product = f.op("MatMul", {f.reshape(conv.getW(), {w.getDimSize(0), w.getDimSize(1)}), image});
    if (onnx::present(conv.getB())) {
      product = f.add(product, f.reshape(conv.getB(), {w.getDimSize(0), 1}));
    }
    rewriter.replaceOp(conv, f.reshapeTo(product, onnx::sizesOf(y)));
    return success();
  }
};

} // namespace

void populatePointwiseConv(RewritePatternSet &patterns) { patterns.add<Pointwise>(patterns.getContext()); }

} // namespace ingot::fusion
