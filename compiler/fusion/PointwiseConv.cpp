// Writes convolutions of one tap as what they are, where no convolution's layout is gained:
//
//   y[n][o][pixel] = sum over c of w[o][c] * x[n][c][pixel]     a product of matrices, from a row-major image
//   y[n][c][pixel] = w[c] * x[n][c][pixel]                      of each channel by itself: elementwise, in any layout
//
// A convolution first brings its image into blocks of channels, which takes longer than the few multiplications of such
// a product. An image is certainly row-major where the caller gives it, or an op has just moved it; images that other
// convolutions make are in blocks already. Weights must be constant.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The inputs for each output from which on hardly anything is made of what is read, and the channels up to which they
/// are few.
constexpr int64_t inputsOfOutput = 4, fewChannels = 32;

/// Returns whether an image is row-major whatever layouts are assigned.
bool isRowMajor(Value x) {
  Operation *maker = x.getDefiningOp();
  return !maker || isa<onnx::ReshapeOp, onnx::TransposeOp>(maker);
}

/// Returns whether `v` is read by nothing but a few elementwise ops in a row, whose result is the function's.
bool isOnlyReturned(Value v) {
  constexpr int mostSteps = 4;
  for (int step = 0; step < mostSteps && v.hasOneUse(); ++step) {
    Operation *user = *v.user_begin();
    if (user->hasTrait<OpTrait::IsTerminator>()) {
      return true;
    }
    if (!isa<onnx::Elementwise>(user) || user->getNumResults() != 1) {
      return false;
    }
    v = user->getResult(0);
  }
  return false;
}

/// Returns whether each output pixel is made of the input pixel at its own place.
bool isPointwise(onnx::ConvOp conv, RankedTensorType w) {
  return llvm::all_of(w.getShape().drop_front(2), [](int64_t taps) { return taps == 1; }) && isUnpadded(conv) &&
         areAll(conv.getStrides(), 1);
}

struct Pointwise : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(onnx::ConvOp conv, PatternRewriter &rewriter) const override {
    auto x = onnx::ranked(conv.getX()), w = onnx::ranked(conv.getW()), y = onnx::ranked(conv.getY());
    bool isKnown = x && y && w && w.getElementType().isF32() && w.hasStaticShape() && onnx::constantOf(conv.getW()) &&
                   onnx::isSized(conv.getX()) && onnx::isSized(conv.getY());
    if (!isKnown || !isPointwise(conv, w)) {
      return failure();
    }
    onnx::Formula f(rewriter, conv.getLoc());
    int64_t outputs = w.getDimSize(0), inputs = w.getDimSize(1), groups = static_cast<int64_t>(conv.getGroup());
    if (groups > 1 && groups == outputs && inputs == 1 && onnx::sizeOf(x, 1).is(outputs)) {
      rewriter.replaceOp(conv, scaled(conv, outputs, f));
      return success();
    }
    bool isLittle =
        outputs * inputsOfOutput <= inputs || (std::max(outputs, inputs) <= fewChannels && isOnlyReturned(conv.getY()));
    if (groups != 1 || inputs == 1 || !isLittle || !isRowMajor(conv.getX())) {
      return failure();
    }
    rewriter.replaceOp(conv, product(conv, outputs, inputs, f));
    return success();
  }

private:
  /// Multiplies each channel by its own weight.
  static Value scaled(onnx::ConvOp conv, int64_t channels, onnx::Formula &f) {
    SmallVector<int64_t> ofChannel(onnx::ranked(conv.getX()).getRank() - 1, 1);
    ofChannel[0] = channels;
    Value y = f.mul(conv.getX(), f.reshape(conv.getW(), ofChannel));
    return onnx::present(conv.getB()) ? f.add(y, f.reshape(conv.getB(), ofChannel)) : y;
  }

  static Value product(onnx::ConvOp conv, int64_t outputs, int64_t inputs, onnx::Formula &f) {
    onnx::Sizes sizes = onnx::sizesOf(onnx::ranked(conv.getX()));
    onnx::Size pixels = 1;
    for (const onnx::Size &size : ArrayRef(sizes).drop_front(2)) {
      pixels = pixels * size;
    }
    Value image = f.reshapeTo(conv.getX(), {sizes[0], sizes[1], pixels});
    Value y = f.op("MatMul", {f.reshape(conv.getW(), {outputs, inputs}), image});
    if (onnx::present(conv.getB())) {
      y = f.add(y, f.reshape(conv.getB(), {outputs, 1}));
    }
    return f.reshapeTo(y, onnx::sizesOf(onnx::ranked(conv.getY())));
  }
};

} // namespace

void populatePointwiseConv(RewritePatternSet &patterns) {
  patterns.add<Pointwise>(patterns.getContext(), /*benefit=*/0);
}

} // namespace ingot::fusion
