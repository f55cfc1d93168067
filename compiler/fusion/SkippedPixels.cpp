// Writes a convolution of one tap that skips most pixels as a slice of these pixels and a convolution of them:
//   Conv(x, kernel 1, strides s)  ->  Conv(Slice(x, steps s), kernel 1)
// Convolutions read channel blocks, and to make blocks of all pixels takes longer than to compute what is left of them.
// With strides of 2 along two axes, as residual networks have them, the image is in blocks already, and nothing
// changes.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Conv.h"
#include <limits>

using namespace mlir;

namespace ingot::fusion {
namespace {

/// One pixel of so many is read.
constexpr int64_t leastSkipped = 8;

struct Skip : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(onnx::ConvOp conv, PatternRewriter &rewriter) const override {
    auto w = onnx::ranked(conv.getW());
    std::optional<ArrayRef<int64_t>> strides = conv.getStrides();
    bool ofOneTap = w && w.hasStaticShape() && areAll(w.getShape().drop_front(2), 1);
    if (!ofOneTap || !strides || onnx::elements(*strides) < leastSkipped || !onnx::isSized(conv.getX()) ||
        conv.getAutoPad() != "NOTSET" || !areAll(conv.getPads(), 0)) {
      return failure();
    }
    onnx::Formula f(rewriter, conv.getLoc());
    auto rank = static_cast<int64_t>(strides->size());
    auto integers = [&](ArrayRef<int64_t> values) { return onnx::makeIntegers(f.b, f.loc, values); };
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, rank + 2));
    Value pixels = f.op("Slice", {conv.getX(), integers(SmallVector<int64_t>(rank, 0)),
                                  integers(SmallVector<int64_t>(rank, std::numeric_limits<int64_t>::max())),
                                  integers(axes), integers(*strides)});
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getXMutable().assign(pixels);
      conv.removeStridesAttr();
    });
    return success();
  }
};

} // namespace

void populateSkippedPixels(RewritePatternSet &patterns) { patterns.add<Skip>(patterns.getContext()); }

} // namespace ingot::fusion
