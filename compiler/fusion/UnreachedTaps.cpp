// Cuts off the outer taps of a kernel that read nothing but padding, whichever output they serve, together with that
// padding. A dilated convolution on an image that is smaller than its reach becomes a smaller convolution, and the halo
// around the image shrinks to what is read. For a ConvTranspose these are the taps that write nothing but what its pads
// cut away.
//
// Weights must be constant, and the size of the axis a number on both sides.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/ops/Conv.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// One axis of a window.
struct Axis {
  /// The window moves over an image of `size` pixels, with `before` and `after` pixels of padding, to `steps` places
  /// that are `stride` pixels apart. It has `taps` taps, `dilation` pixels apart.
  int64_t steps, size, taps, stride, dilation, before, after;

  /// Returns whether a tap reads a pixel of the image at any place of the window.
  bool reaches(int64_t tap) const {
    // The first step at which the tap is not in front of the image decides: later ones are further behind.
    int64_t begin = tap * dilation - before, step = begin < 0 ? (-begin + stride - 1) / stride : 0;
    return step < steps && begin + step * stride < size;
  }
  /// Returns how many taps in front read only padding. One more is cut only while as much padding in front can go with
  /// it.
  int64_t unreachedInFront() const {
    int64_t n = 0;
    while (n < taps - 1 && !reaches(n) && (n + 1) * dilation <= before) {
      ++n;
    }
    return n;
  }
  /// Returns how many taps at the end read only padding, besides those in front.
  int64_t unreachedBehind(int64_t inFront) const {
    int64_t n = 0;
    while (n < taps - 1 - inFront && !reaches(taps - 1 - n) && (n + 1) * dilation <= after) {
      ++n;
    }
    return n;
  }
};

/// The taps [first, first + count) of an axis, which are kept.
struct Range {
  int64_t first, count;
};

/// Replaces a convolution by one with a smaller kernel and smaller pads.
template <typename Op> struct CutTaps : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op conv, PatternRewriter &rewriter) const override {
    auto x = onnx::ranked(conv.getX()), w = onnx::ranked(conv.getW()), y = onnx::ranked(conv.getY());
    if (!x || !w || !y || !w.hasStaticShape() || !isWeight(conv.getW()) || !conv.getW().hasOneUse()) {
      return failure();
    }
    auto mode = conv->template getAttrOfType<StringAttr>("auto_pad");
    if ((mode && mode.getValue() != "NOTSET") || conv->hasAttr("output_shape")) {
      return failure();
    }
    int64_t rank = w.getRank() - 2;
    SmallVector<int64_t> pads = listed(conv.getPads(), 2 * rank, 0), strides = listed(conv.getStrides(), rank, 1),
                         dilations = listed(conv.getDilations(), rank, 1);
    SmallVector<Range> kept;
    bool cuts = false;
    for (int64_t i = 0; i < rank; ++i) {
      int64_t taps = w.getDimSize(i + 2);
      onnx::Size in = onnx::sizeOf(x, i + 2), out = onnx::sizeOf(y, i + 2);
      kept.push_back({0, taps});
      if (!in.isNumber() || !out.isNumber() || pads[i] < 0 || pads[rank + i] < 0) {
        continue;
      }
      int64_t image = in.number(), places = out.number();
      if (isTransposedConv<Op>) { // whose window moves over the result
        std::swap(image, places);
      }
      Axis axis = {places, image, taps, strides[i], dilations[i], pads[i], pads[rank + i]};
      int64_t front = axis.unreachedInFront(), behind = axis.unreachedBehind(front);
      kept.back() = {front, taps - front - behind};
      pads[i] -= front * dilations[i], pads[rank + i] -= behind * dilations[i];
      cuts |= front + behind > 0;
    }
    if (!cuts) {
      return failure();
    }
    replace(conv, kept, pads, rewriter);
    return success();
  }

private:
  static void replace(Op conv, ArrayRef<Range> kept, ArrayRef<int64_t> pads, PatternRewriter &rewriter) {
    SmallVector<int64_t> begins, ends, axes, kernel;
    for (auto [i, range] : llvm::enumerate(kept)) {
      begins.push_back(range.first), ends.push_back(range.first + range.count), kernel.push_back(range.count);
      axes.push_back(static_cast<int64_t>(i) + 2);
    }
    Location loc = conv.getLoc();
    auto list = [&](ArrayRef<int64_t> values) { return onnx::makeIntegers(rewriter, loc, values); };
    Value weights =
        onnx::make<onnx::SliceOp>(rewriter, loc, {conv.getW(), list(begins), list(ends), list(axes), Value()});
    NamedAttrList attributes(conv->getAttrs());
    attributes.set("pads", rewriter.getDenseI64ArrayAttr(pads));
    attributes.set("kernel_shape", rewriter.getDenseI64ArrayAttr(kernel));
    Operation *made = onnx::createOp(rewriter, loc, conv->getName().getStringRef(), {conv.getX(), weights, conv.getB()},
                                     attributes.getAttrs());
    rewriter.replaceOp(conv, made->getResults());
  }
};

} // namespace

void populateUnreachedTaps(RewritePatternSet &patterns) {
  patterns.add<CutTaps<onnx::ConvOp>, CutTaps<onnx::ConvTransposeOp>>(patterns.getContext());
}

} // namespace ingot::fusion
