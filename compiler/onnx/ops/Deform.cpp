// Writes DeformConv as GridSample at the places of all taps, a product with the mask, and a matrix product with the
// weights.
#include "compiler/onnx/ops/Deform.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Deform.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// The sizes and numbers of one DeformConv, by the two axes of the image.
struct Taps {
  Size batch, channels, out[2], image[2];
  int64_t features = 0, kernel[2] = {}, strides[2] = {}, dilations[2] = {}, pads[2] = {}, group = 1, offsetGroup = 1;
  int64_t count() const { return kernel[0] * kernel[1]; }
};

} // namespace

/// Returns the taps; nothing while sizes are not known; failure with a message where they contradict.
static FailureOr<std::optional<Taps>> tapsOf(DeformConvOp op) {
  auto x = ranked(op.getX()), w = ranked(op.getW()), offset = ranked(op.getOffset());
  if (!isSized(op.getX()) || !isStatic(op.getW()) || !isSized(op.getOffset())) {
    return std::optional<Taps>();
  }
  auto list = [](std::optional<ArrayRef<int64_t>> given, size_t count, int64_t otherwise) {
    return given ? SmallVector<int64_t>(*given) : SmallVector<int64_t>(count, otherwise);
  };
  auto strides = list(op.getStrides(), 2, 1), dilations = list(op.getDilations(), 2, 1),
       pads = list(op.getPads(), 4, 0);
  auto positive = [](ArrayRef<int64_t> numbers, int64_t least) {
    return llvm::all_of(numbers, [&](int64_t n) { return n >= least && n <= INT32_MAX; });
  };
  if (x.getRank() != 4 || w.getRank() != 4 || offset.getRank() != 4) {
    return op.emitOpError("takes an image of two spatial axes, not ") << x << ", " << w << " and " << offset;
  }
  int64_t group = op.getGroup(), offsetGroup = op.getOffsetGroup(), count = w.getDimSize(2) * w.getDimSize(3);
  if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4 || !positive(strides, 1) ||
      !positive(dilations, 1) || !positive(pads, 0) || group < 1 || offsetGroup < 1 || w.getDimSize(0) % group ||
      count < 1) {
    return op.emitOpError("strides, dilations, pads or groups do not fit ") << w;
  }
  Taps t;
  t.batch = sizeOf(x, 0), t.channels = sizeOf(x, 1), t.features = w.getDimSize(0);
  t.group = group, t.offsetGroup = offsetGroup;
  for (int axis : {0, 1}) {
    t.image[axis] = sizeOf(x, 2 + axis);
    t.kernel[axis] = w.getDimSize(2 + axis), t.strides[axis] = strides[axis], t.dilations[axis] = dilations[axis];
    t.pads[axis] = pads[axis];
    Size span = t.image[axis] + Size(pads[axis] + pads[2 + axis] - (t.kernel[axis] - 1) * dilations[axis] - 1);
    t.out[axis] = floorDiv(span, strides[axis]) + Size(1);
    if (failed(require(op, sizeOf(offset, 2 + axis), t.out[axis]))) {
      return op.emitOpError("offset of type ") << offset << " for results of [" << t.out[0].text() << ", ...]";
    }
  }
  if (failed(require(op, t.channels, Size(w.getDimSize(1) * group))) ||
      failed(require(op, t.channels, Size(offsetGroup) * floorDiv(t.channels, offsetGroup))) ||
      failed(require(op, sizeOf(offset, 1), Size(offsetGroup * count * 2))) ||
      failed(require(op, sizeOf(offset, 0), t.batch))) {
    return op.emitOpError("channels, groups and offsets do not fit each other: ") << x << ", " << w << ", " << offset;
  }
  return std::optional(t);
}

LogicalResult DeformConvOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto taps = tapsOf(*this);
  if (failed(taps)) {
    return failure();
  }
  types.push_back(
      *taps ? Type(sizedType({(*taps)->batch, (*taps)->features, (*taps)->out[0], (*taps)->out[1]}, elementOf(getX())))
            : typeOfRank(4, elementOf(getX())));
  return success();
}

/// Whether GridSample counts from the middle of the first pixel to that of the last one. Numbers of pixels are exact
/// for more sizes then (the reference counts so), but an axis needs two pixels.
static bool countsFromMiddle(const Taps &t) { return t.image[0].atLeast(2) && t.image[1].atLeast(2); }

/// Returns the places of the taps of an axis before they are moved, [taps, rows, columns], where axes along which all
/// are equal have size 1. They are numbers as GridSample counts: the pixels of an image of n lie at 2i / (n - 1) - 1,
/// or else at (2i + 1) / n - 1.
static Value placesOf(Formula &f, const Taps &t, int axis, Value moved) {
  SmallVector<double> inKernel;
  for (int64_t tap = 0; tap < t.count(); ++tap) {
    int64_t at = axis ? tap % t.kernel[1] : tap / t.kernel[1];
    inKernel.push_back(static_cast<double>(at * t.dilations[axis] - t.pads[axis]));
  }
  auto type = tensorOf({t.count(), 1, 1}, elementOf(moved));
  Value taps = makeConstant(f.b, f.loc, constantFromFloats(type, inKernel));
  auto number = [&](Value v) { return f.op("CastLike", {v, moved}); };
  Value steps = f.mul(number(f.countTo(f.scalar(t.out[axis]))), f.number(t.strides[axis], moved));
  steps = f.reshapeTo(steps, axis ? Sizes{1, 1, t.out[1]} : Sizes{1, t.out[0], 1});
  Value pixel = f.add(f.add(taps, steps), moved);
  Value doubled = f.mul(pixel, f.number(2, moved));
  if (countsFromMiddle(t)) {
    return f.sub(f.div(doubled, number(f.scalar(t.image[axis] - Size(1)))), f.number(1, moved));
  }
  doubled = f.add(doubled, f.number(1, moved));
  return f.sub(f.div(doubled, number(f.scalar(t.image[axis]))), f.number(1, moved));
}

/// The image is divided by offset groups for the sampling, and by groups for the product:
///
///   samples   [batch * offset groups, channels of one, taps * rows, columns]
///   product   [features, channels * taps] times [channels * taps, rows * columns] in each group
LogicalResult DeformConvOp::decompose(PatternRewriter &rewriter) {
  auto taps = tapsOf(*this);
  if (failed(taps) || !*taps || (present(getMask()) && !isSized(getMask()))) {
    return failure();
  }
  const Taps &t = **taps;
  Formula f(rewriter, getLoc());
  Size images = t.batch * Size(t.offsetGroup), inOffsets = floorDiv(t.channels, t.offsetGroup);
  Size inGroup = floorDiv(t.channels, t.group), pixels = t.out[0] * t.out[1];
  Value moved = f.reshapeTo(getOffset(), {images, t.count(), 2, t.out[0], t.out[1]});
  SmallVector<Value> places; // one for each axis of the image, the last one first
  for (int axis : {1, 0}) {
    Value own = f.op("Gather", {moved, makeInteger(f.b, f.loc, axis)}, {f.integer("axis", 2)});
    places.push_back(f.reshapeTo(placesOf(f, t, axis, own), {images, Size(t.count()) * t.out[0], t.out[1], 1}));
  }
  Value grid = f.op("Concat", places, {f.integer("axis", 3)});
  Value x = f.reshapeTo(getX(), {images, inOffsets, t.image[0], t.image[1]});
  Value samples = f.op("GridSample", {x, grid}, {f.integer("align_corners", countsFromMiddle(t))});
  if (present(getMask())) {
    samples = f.reshapeTo(samples, {t.batch, t.offsetGroup, inOffsets, t.count(), pixels});
    samples = f.mul(samples, f.reshapeTo(getMask(), {t.batch, t.offsetGroup, 1, t.count(), pixels}));
  }
  samples = f.reshapeTo(samples, {t.batch, t.group, inGroup * Size(t.count()), pixels});
  int64_t rows = t.features / t.group;
  Value weights = f.reshapeTo(getW(), {1, t.group, rows, inGroup * Size(t.count())});
  Value y = f.reshapeTo(f.op("MatMul", {weights, samples}), {t.batch, t.features, t.out[0], t.out[1]});
  rewriter.replaceOp(*this, present(getB()) ? f.add(y, f.reshapeTo(getB(), {t.features, 1, 1})) : y);
  return success();
}

void registerDeform(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Deform.cpp.inc"
      >();
}

} // namespace ingot::onnx
