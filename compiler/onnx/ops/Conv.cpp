// Convolutions, of which one of bytes is rewritten to sums of products of unsigned by signed bytes (Int8Conv) and
// corrections for zero points, and one that no loops over windows can compute (whyGathered) to products of gathered
// pixels. Shapes, windows and the gathering are in elements/Convolution.h.
//
// QLinearConv is ConvInteger with a bias, and a multiplication with xScale * wScale / yScale before its sums are
// rounded.
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Formats.h"
#include "compiler/onnx/elements/Convolution.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Conv.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult ConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  return Convolution(*this).inferTypes(types, getB(), elementOf(getX()));
}
LogicalResult ConvTransposeOp::inferTypes(SmallVectorImpl<Type> &types) {
  return Convolution(*this, /*transposed=*/true).inferTypes(types, getB(), elementOf(getX()));
}

/// Rewrites a convolution to products where that is needed, when all sizes are known and no requirement is left that
/// could make an open one a number.
static LogicalResult gather(const Convolution &conv, PatternRewriter &rewriter) {
  Value y = conv.op->getResult(0);
  // What is required of the sizes may give them numbers, and then there is a kernel.
  bool mayBeSolved = !requirementsOf(conv.op).empty() && !isSolved(conv.op);
  if (!isSized(conv.x) || !isSized(conv.w) || !isSized(y) || mayBeSolved || whyGathered(conv.op).empty()) {
    return failure();
  }
  auto window = conv.window();
  if (failed(window)) {
    return failure();
  }
  rewriter.replaceOp(conv.op, conv.gathered(rewriter, *window));
  return success();
}

/// Pads become explicit first, since those of auto_pad follow from the sizes.
LogicalResult ConvOp::decompose(PatternRewriter &rewriter) {
  Convolution conv(*this);
  auto window = conv.window();
  if (failed(window)) {
    return failure();
  }
  bool changed = succeeded(explicitPads(*this, *window, rewriter));
  return changed ? success() : gather(conv, rewriter);
}

LogicalResult ConvTransposeOp::decompose(PatternRewriter &rewriter) {
  return gather(Convolution(*this, /*transposed=*/true), rewriter);
}

// These are convolutions of bytes.

/// The image has one zero point, and each filter may have its own.
LogicalResult ConvIntegerOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkZero(*this, getX(), {}, getXZeroPoint())) || failed(checkZero(*this, getW(), {}, getWZeroPoint()))) {
    return failure();
  }
  auto w = ranked(getW());
  if (failed(checkPlaces(*this, getXZeroPoint(), "zero points of X", {})) ||
      (w && w.getRank() && failed(checkPlaces(*this, getWZeroPoint(), "zero points of W", sizeOf(w, 0))))) {
    return failure();
  }
  return Convolution(*this).inferTypes(types, {}, IntegerType::get(getContext(), 32));
}

namespace {
/// sum (x - z)(w - u) = sum x w - z (sum w - k u) - u sum x, where around the image lies z.
class ZeroPoints {
public:
  ZeroPoints(ConvIntegerOp op, PatternRewriter &rewriter, const Window &window)
      : f(rewriter, op.getLoc()), op(op), window(window) {}

  /// Signed images are moved to unsigned bytes and unsigned weights to signed ones, with their zero points (withSign).
  Value convolution() {
    auto type = ranked(op.getW());
    int64_t spatial = type.getRank() - 2;
    Quantized x = withSign(f, op.getX(), alongEnd(f, op.getXZeroPoint(), 0), /*isSigned=*/false),
              w = withSign(f, op.getW(), alongEnd(f, op.getWZeroPoint(), spatial), /*isSigned=*/true);
    auto around = x.zero ? integersOf(x.zero) : SmallVector<int64_t>(1, 0);
    Value image = around ? x.values : padded(x);
    for (NamedAttribute a : op->getAttrs()) {
      if (around || (a.getName() != "pads" && a.getName() != "auto_pad")) {
        attributes.push_back(a);
      }
    }
    if (around && around->front()) {
      attributes.push_back(f.integer("padding", around->front()));
    }
    Value y = sums(image, w.values);
    if (x.zero) {
      Value taps = sumAlong(f, w.values, llvm::to_vector(llvm::seq<int64_t>(1, type.getRank())));
      Sizes beside(spatial + 1, 1);
      beside[0] = sizeOf(type, 0);
      taps = f.reshapeTo(taps, beside);
      if (w.zero) {
        Sizes sizes = sizesOf(type);
        Value count = f.scalar(support::product(ArrayRef<Size>(sizes).drop_front()));
        taps = f.sub(taps, f.mul(f.cast(count, elementOf(taps), numberOfElement(elementOf(taps))), w.zero));
      }
      y = f.sub(y, f.mul(x.zero, taps));
    }
    return w.zero ? f.sub(y, f.mul(w.zero, sumsOfWindows(image, around ? around->front() : 0))) : y;
  }

private:
  Formula f;
  ConvIntegerOp op;
  const Window &window;
  SmallVector<NamedAttribute> attributes;

  Value sums(Value image, Value weights) { return formats::make(f, "Int8Conv", {image, weights, Value()}, attributes); }

  /// With a zero point around it that only the run knows.
  Value padded(const Quantized &x) {
    Type u8 = elementOf(x.values);
    Sizes pads(2 * ranked(x.values).getRank(), 0);
    llvm::copy(window.before, pads.begin() + 2);
    llvm::copy(window.after, pads.begin() + ranked(x.values).getRank() + 2);
    bool any = llvm::any_of(pads, [](const Size &pad) { return !pad.is(0); });
    Value value = any ? f.cast(x.zero, u8, numberOfElement(u8)) : Value();
    return any ? f.op("Pad", {x.values, makeSizes(f.b, f.loc, pads), value, Value()}) : x.values;
  }

  /// The sums of an image's windows: of one filter, which serves all, where there is one group. There a pixel's
  /// channels are added up first, and the window's pixels then, as floats, which are exact below 2^24.
  Value sumsOfWindows(Value image, int64_t around) {
    Sizes sizes = sizesOf(ranked(op.getW())), pixel(sizes.size(), 1), taps(sizes);
    sizes[0] = op.getGroup() == 1 ? Size(1) : sizes[0];
    pixel[1] = sizes[1], taps[0] = 1, taps[1] = 1;
    Size window = support::product(ArrayRef<Size>(taps)), all = window * sizes[1];
    if (op.getGroup() != 1 || window.is(1) || !all.isNumber() || all.number() > (1 << 24) / 255) {
      return sums(image, ones(sizes, f.b.getI8Type()));
    }
    Type f32 = f.b.getF32Type(), i32 = f.b.getI32Type();
    auto castTo = [&](Value v, Type element) { return f.cast(v, element, numberOfElement(element)); };
    int64_t outside = around * sizes[1].number(); // what a pixel around the image adds up to
    Value pixels = castTo(formats::make(f, "Int8Conv", {image, ones(pixel, f.b.getI8Type()), Value()}), f32);
    SmallVector<NamedAttribute> inWindow =
        llvm::to_vector(llvm::make_filter_range(attributes, [](NamedAttribute a) { return a.getName() != "padding"; }));
    Value y = f.op("Conv", {f.sub(pixels, f.number(outside, pixels)), ones(taps, f32), Value()}, inWindow);
    return castTo(f.add(y, f.number(outside * window.number(), y)), i32);
  }

  Value ones(ArrayRef<Size> sizes, Type element) {
    auto type = tensorOf({1}, element);
    auto one = element.isF32() ? constantFromFloats(type, {1}) : constantFromIntegers(type, {1});
    return f.op("ConstantOfShape", {makeSizes(f.b, f.loc, sizes)}, {f.b.getNamedAttr("value", one)});
  }
};
} // namespace

LogicalResult ConvIntegerOp::decompose(PatternRewriter &rewriter) {
  auto window = Convolution(*this).window();
  if (failed(window) || !isSized(getX()) || !isSized(getW()) || !isSized(getY())) {
    return failure();
  }
  rewriter.replaceOp(*this, ZeroPoints(*this, rewriter, *window).convolution());
  return success();
}

LogicalResult QLinearConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkOwn(*this, getX(), getXScale(), getXZeroPoint(), /*divides=*/false)) ||
      failed(checkOwn(*this, getW(), getWScale(), getWZeroPoint(), /*divides=*/false)) ||
      failed(checkOwn(*this, getYZeroPoint(), getYScale(), getYZeroPoint(), /*divides=*/true))) {
    return failure();
  }
  auto w = ranked(getW());
  std::optional<Size> outputs = w && w.getRank() ? std::optional(sizeOf(w, 0)) : std::nullopt;
  if ((outputs && failed(checkPlaces(*this, getWScale(), "scales of W", outputs))) ||
      failed(checkPlaces(*this, getXScale(), "scales of X", {})) ||
      failed(checkPlaces(*this, getYScale(), "scales of Y", {}))) {
    return failure();
  }
  return Convolution(*this).inferTypes(types, getB(), elementOf(getYZeroPoint()));
}

LogicalResult QLinearConvOp::decompose(PatternRewriter &rewriter) {
  auto w = ranked(getW());
  if (!isSized(getX()) || !isSized(getW()) || !isSized(getY())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  int64_t spatial = w.getRank() - 2;
  Value sums = f.op("ConvInteger", {getX(), getW(), getXZeroPoint(), getWZeroPoint()}, (*this)->getAttrs());
  if (present(getB())) {
    sums = f.add(sums, alongEnd(f, getB(), spatial));
  }
  Value factor =
      f.div(f.mul(alongEnd(f, getXScale(), 0), alongEnd(f, getWScale(), spatial)), alongEnd(f, getYScale(), 0));
  rewriter.replaceOp(*this, requantize(f, sums, factor, alongEnd(f, getYZeroPoint(), 0), elementOf(getY())));
  return success();
}

void registerConv(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Conv.cpp.inc"
      >();
}

} // namespace ingot::onnx
