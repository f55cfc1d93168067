// Samples of images at places that the run computes. GridSample and RoiSample have kernels; the others are written in
// terms of these or of Gather:
//
//   AffineGrid     [batch, rows, columns, 2] places, each a matrix times (x, y, 1)
//   RoiAlign       RoiSample of an image with channels last, so that a sample reads neighbouring elements
//   MaxRoiPool     RoiSample in the mode "pixels", which takes the largest of whole pixels
//   CropAndResize  four gathered pixels for each bin, mixed by their distances
#include "compiler/onnx/ops/Sample.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "runtime_support/include/ingot.h"
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Sample.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

// These belong to GridSample.

/// Kernels compute offsets in an image as 32-bit integers.
static constexpr int64_t mostPixels = std::numeric_limits<int32_t>::max();

LogicalResult GridSampleOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(oneOf(*this, "mode", getMode(), {"linear", "nearest", "cubic"})) ||
      failed(oneOf(*this, "padding_mode", getPaddingMode(), {"zeros", "border", "reflection"}))) {
    return failure();
  }
  auto x = ranked(getX()), grid = ranked(getGrid());
  if (!x || !grid) {
    types.push_back(typeOfRank(commonRank({getX(), getGrid()}), elementOf(getX())));
    return success();
  }
  int64_t spatial = x.getRank() - 2;
  Sizes image = sizesOf(x), places = sizesOf(grid);
  if (spatial < 1 || grid.getRank() != x.getRank() || failed(require(*this, places.back(), spatial)) ||
      failed(require(*this, image[0], places[0]))) {
    return emitOpError("needs a grid [batch, places..., spatial axes] for an image [batch, channels, pixels...], not ")
           << grid << " for " << x;
  }
  for (const Size &d : ArrayRef(image).drop_front(2)) {
    if (failed(require(*this, max(d, 1), d))) {
      return emitOpError("samples an image without pixels");
    }
  }
  Size pixels = product(ArrayRef(image).drop_front(2));
  if (failed(require(*this, min(pixels, mostPixels), pixels))) {
    return emitOpError("samples an image of more than ") << mostPixels << " pixels";
  }
  Sizes shape{image[0], image[1]};
  shape.append(places.begin() + 1, places.end() - 1);
  types.push_back(sizedType(shape, x.getElementType()));
  return success();
}

/// Takes the names that modes had before volumes could be sampled.
LogicalResult GridSampleOp::upgrade(Node &node) {
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  if (node.opset < 20 && (!mode || mode.getValue() == "bilinear" || mode.getValue() == "bicubic")) {
    node.attributes.set("mode", node.builder.getStringAttr(mode && mode.getValue() == "bicubic" ? "cubic" : "linear"));
  }
  return success();
}

/// Computes sums of integers as floats, and casts them as Cast does, since the standard does not say how they become
/// integers.
LogicalResult GridSampleOp::decompose(PatternRewriter &rewriter) {
  Type element = elementOf(getX());
  int64_t number = numberOfElement(element);
  if (getMode() == "nearest" || isa<FloatType>(element) || !number) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value y = f.op("GridSample", {f.cast(getX(), rewriter.getF32Type(), 1), getGrid()}, (*this)->getAttrs());
  rewriter.replaceOp(*this, f.cast(y, element, number));
  return success();
}

// These belong to AffineGrid.

/// Returns how many axes the image of an AffineGrid has: its size or the matrices say so.
static Size spatialAxesOf(AffineGridOp op) {
  auto theta = ranked(op.getTheta()), size = ranked(op.getSize());
  Size axes = size && size.getRank() == 1 ? sizeOf(size, 0) - Size(2) : Size::unknown();
  for (int64_t axis = 1; theta && theta.getRank() == 3 && axis < 3 && !axes.isNumber(); ++axis) {
    axes = sizeOf(theta, axis) - Size(axis - 1);
  }
  return axes;
}

LogicalResult AffineGridOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto theta = ranked(getTheta()), size = ranked(getSize());
  Type element = elementOf(getTheta());
  Size axes = spatialAxesOf(*this);
  if (!theta || !size || !axes.isNumber()) {
    auto rank = axes.isNumber() ? std::optional(axes.number() + 2) : std::nullopt;
    return push(types, typeOfRank(*this, rank, element));
  }
  int64_t spatial = axes.number();
  auto sizes = sizesIn(getSize());
  if (failed(requireLength(*this, getSize(), spatial + 2)) || (spatial != 2 && spatial != 3) || theta.getRank() != 3 ||
      failed(require(*this, sizeOf(theta, 1), spatial)) || failed(require(*this, sizeOf(theta, 2), spatial + 1)) ||
      (sizes && failed(require(*this, sizeOf(theta, 0), sizes->front())))) {
    return emitOpError("needs matrices [batch, 2, 3] or [batch, 3, 4] and the size of an image of so many axes, not ")
           << theta << " and " << size;
  }
  Sizes shape(spatial, Size::unknown());
  if (sizes && static_cast<int64_t>(sizes->size()) == spatial + 2) {
    shape.assign(sizes->begin() + 2, sizes->end());
  }
  shape.insert(shape.begin(), sizeOf(theta, 0));
  shape.push_back(spatial);
  types.push_back(sizedType(shape, element));
  return success();
}

/// Sums up, over the axes of the image, the last one first, a coordinate times a column of the matrix, and adds the
/// last column.
LogicalResult AffineGridOp::decompose(PatternRewriter &rewriter) {
  if (!isStatic(getSize()) || !isSized(getTheta()) || !ranked(getGrid())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  int64_t spatial = ranked(getGrid()).getRank() - 2, number = numberOfElement(elementOf(getTheta()));
  auto real = [&](Value v) { return f.cast(v, elementOf(getTheta()), number); };
  auto column = [&](int64_t n) {
    Sizes shape(spatial + 2, 1);
    shape.front() = sizeOf(ranked(getTheta()), 0), shape.back() = spatial;
    return f.reshapeTo(f.op("Gather", {getTheta(), f.scalar(n)}, {f.integer("axis", 2)}), shape);
  };
  auto coordinates = [&](int64_t axis) {
    Value count = f.op("Gather", {getSize(), f.scalar(2 + axis)}, {f.integer("axis", 0)});
    Value x = real(f.countTo(count)), one = f.number(1, getTheta());
    x = f.add(x, x);
    x = getAlignCorners() ? f.div(x, f.op("Max", {f.sub(real(count), one), one})) : f.div(f.add(x, one), real(count));
    SmallVector<int64_t> others = llvm::to_vector(llvm::seq<int64_t>(0, spatial + 2));
    others.erase(others.begin() + 1 + axis);
    return f.op("Unsqueeze", {f.sub(x, one), makeIntegers(rewriter, getLoc(), others)});
  };
  Value sum = column(spatial);
  for (int64_t axis = 0; axis < spatial; ++axis) {
    sum = f.add(f.mul(coordinates(axis), column(spatial - 1 - axis)), sum);
  }
  rewriter.replaceOp(*this, sum);
  return success();
}

// These belong to RoiAlign.

/// The most samples along a bin, more than anybody wants, so that tables of them have possible sizes.
static constexpr int64_t mostSamples = 1 << 16;

/// Infers batch, channels and bins of RoiAlign's result; `channels` is the axis of the image.
template <typename Op> static LogicalResult inferRegions(Op op, int64_t channels, SmallVectorImpl<Type> &types) {
  auto x = ranked(op.getX()), rois = ranked(op.getRois()), batch = ranked(op.getBatchIndices());
  if (failed(channels == 1 ? oneOf(op, "mode", op.getMode(), {"avg", "max"}) : success()) ||
      failed(oneOf(op, "coordinate_transformation_mode", op.getCoordinateTransformationMode(),
                   {"half_pixel", "output_half_pixel"}))) {
    return failure();
  }
  int64_t height = op.getOutputHeight(), width = op.getOutputWidth(), ratio = op.getSamplingRatio();
  if (height < 1 || width < 1) {
    return op.emitOpError("regions of ") << height << " by " << width << " bins";
  }
  if (ratio > mostSamples) {
    return op.emitOpError("attribute 'sampling_ratio' is ") << ratio;
  }
  if (!x || !rois || !batch) {
    types.push_back(typeOfRank(4, elementOf(op.getX())));
    return success();
  }
  if (x.getRank() != 4 || rois.getRank() != 2 || batch.getRank() != 1 || failed(require(op, sizeOf(rois, 1), 4)) ||
      failed(require(op, sizeOf(rois, 0), sizeOf(batch, 0)))) {
    return op.emitOpError("needs an image [batch, channels, height, width], regions [n, 4] and batches [n], not ")
           << x << ", " << rois << " and " << batch;
  }
  types.push_back(sizedType({sizeOf(rois, 0), sizeOf(x, channels), height, width}, x.getElementType()));
  return success();
}
LogicalResult RoiAlignOp::inferTypes(SmallVectorImpl<Type> &types) { return inferRegions(*this, 1, types); }
LogicalResult RoiSampleOp::inferTypes(SmallVectorImpl<Type> &types) { return inferRegions(*this, 3, types); }

/// Adds the attribute that says that pixels are not shifted by a half, as before opset 16, where it did not exist.
LogicalResult RoiAlignOp::upgrade(Node &node) {
  if (node.opset < 16) {
    node.attributes.set("coordinate_transformation_mode", node.builder.getStringAttr("output_half_pixel"));
  }
  return success();
}

LogicalResult RoiAlignOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX()) || !isSized(getY())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value last = f.transpose(getX(), {0, 2, 3, 1});
  rewriter.replaceOp(*this, f.op("RoiSample", {last, getRois(), getBatchIndices()}, (*this)->getAttrs()));
  return success();
}

// These belong to MaxRoiPool.

LogicalResult MaxRoiPoolOp::inferTypes(SmallVectorImpl<Type> &types) {
  ArrayRef<int64_t> bins = getPooledShape();
  if (bins.size() != 2 || bins[0] < 1 || bins[1] < 1) {
    return emitOpError("attribute 'pooled_shape' is [") << bins << "], expected two positive numbers";
  }
  auto x = ranked(getX()), rois = ranked(getRois());
  if (!x || !rois) {
    types.push_back(typeOfRank(4, elementOf(getX())));
    return success();
  }
  if (x.getRank() != 4 || rois.getRank() != 2 || failed(require(*this, sizeOf(rois, 1), 5))) {
    return emitOpError("needs an image [batch, channels, height, width] and regions [n, 5], not ")
           << x << " and " << rois;
  }
  types.push_back(sizedType({sizeOf(rois, 0), sizeOf(x, 1), bins[0], bins[1]}, x.getElementType()));
  return success();
}

/// Takes the first column of the regions as the batch.
LogicalResult MaxRoiPoolOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX()) || !isSized(getY())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  auto columns = [&](int64_t from, int64_t to) {
    auto list = [&](int64_t n) { return makeIntegers(rewriter, getLoc(), {n}); };
    return f.op("Slice", {getRois(), list(from), list(to), list(1), Value()});
  };
  Value batch = f.op("Squeeze", {columns(0, 1), makeIntegers(rewriter, getLoc(), {1})});
  NamedAttribute attributes[] = {
      rewriter.getNamedAttr("mode", rewriter.getStringAttr("pixels")), f.integer("output_height", getPooledShape()[0]),
      f.integer("output_width", getPooledShape()[1]), f.number("spatial_scale", getSpatialScale().convertToDouble())};
  Value regions[] = {f.transpose(getX(), {0, 2, 3, 1}), columns(1, 5),
                     f.cast(batch, rewriter.getI64Type(), INGOT_INT64)};
  rewriter.replaceOp(*this, f.op("RoiSample", regions, attributes));
  return success();
}

// These write CropAndResize.

namespace {
/// The places of the bins of regions along one axis of the image, [regions, bins].
struct Bins {
  Value low, high; ///< the pixels on both sides, int64
  Value weight;    ///< the weight of the higher pixel
  Value inside;    ///< whether the place is in the image at all
};
} // namespace

/// Returns the places of bins. Corners of a region are at its first and last bin; one bin is in the middle. `starts`
/// and `ends` are parts of the image's length.
static Bins binsAlong(Formula &f, Value starts, Value ends, Value count, Value pixels, bool nearest) {
  auto number = [&](double n) { return f.number(n, starts); };
  Value last = f.sub(pixels, number(1)), from = f.mul(starts, last), to = f.mul(ends, last);
  Value bin = like(f, f.countTo(count), starts), lastBin = f.sub(like(f, count, starts), number(1));
  Value step = f.div(f.mul(f.sub(ends, starts), last), f.op("Max", {lastBin, number(1)}));
  Value place = f.op("Where", {f.op("Equal", {bin, lastBin}), to, f.add(from, f.mul(bin, step))});
  Value middle = f.mul(f.mul(f.add(starts, ends), number(0.5)), last);
  place = f.op("Where", {f.op("Equal", {lastBin, number(0)}), middle, place});
  Bins bins;
  bins.inside = f.op("And", {f.op("GreaterOrEqual", {place, number(0)}), f.op("LessOrEqual", {place, last})});
  place = f.op("Min", {f.op("Max", {place, number(0)}), last});
  Value low = f.op("Floor", {place}), high = f.op("Ceil", {place});
  bins.weight = f.sub(place, low);
  low = nearest ? f.op("Where", {f.op("GreaterOrEqual", {bins.weight, number(0.5)}), high, low}) : low;
  bins.low = integers(f, low), bins.high = integers(f, high);
  return bins;
}

/// Gathers rows of channels, up to four for each bin.
LogicalResult CropAndResizeOp::upgrade(Node &node) {
  StringRef mode = node.text("mode", "bilinear");
  if (failed(node.needs(4))) {
    return failure();
  }
  if (mode != "bilinear" && mode != "nearest") {
    return node.error("mode '" + mode + "' is unknown, expected 'bilinear' or 'nearest'");
  }
  Formula f(node.builder, node.loc);
  Value x = node.operand(0), rois = node.operand(1);
  SmallVector<Bins, 2> axes;
  for (int64_t axis : {0, 1}) {
    Value count = integers(f, f.reshape(slice(f, node.operand(3), 0, axis, axis + 1), {}));
    axes.push_back(binsAlong(f, slice(f, rois, 1, axis, axis + 1), slice(f, rois, 1, axis + 2, axis + 3), count,
                             like(f, lengthOf(f, x, 2 + axis), rois), mode == "nearest"));
  }
  const Bins &rows = axes[0], &columns = axes[1];
  Value width = lengthOf(f, x, 3), height = lengthOf(f, x, 2);
  Value pixels = f.mul(sizeAlong(f, x, 0), f.mul(sizeAlong(f, x, 2), sizeAlong(f, x, 3)));
  Value all = reshapeBy(f, f.transpose(x, {0, 2, 3, 1}), {pixels, sizeAlong(f, x, 1)});
  Value first = f.mul(unsqueeze(f, integers(f, node.operand(2)), {1}), height);
  auto at = [&](Value row, Value column) {
    Value line = unsqueeze(f, f.mul(f.add(first, row), width), {2});
    return f.op("Gather", {all, f.add(line, unsqueeze(f, column, {1}))}, {f.integer("axis", 0)});
  };
  Value y;
  if (mode == "nearest") {
    y = at(rows.low, columns.low);
  } else {
    auto mixed = [&](Value a, Value b, Value weight) { return f.add(a, f.mul(f.sub(b, a), like(f, weight, x))); };
    Value along = unsqueeze(f, columns.weight, {1, 3});
    Value top = mixed(at(rows.low, columns.low), at(rows.low, columns.high), along);
    Value bottom = mixed(at(rows.high, columns.low), at(rows.high, columns.high), along);
    y = mixed(top, bottom, unsqueeze(f, rows.weight, {2, 3}));
  }
  Value inside = f.op("And", {unsqueeze(f, rows.inside, {2, 3}), unsqueeze(f, columns.inside, {1, 3})});
  y = f.op("Where", {inside, y, f.number(node.number("extrapolation_value", 0), x)});
  return give(node, f.transpose(y, {0, 3, 1, 2}));
}

void registerSample(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Sample.cpp.inc"
      >();
}

} // namespace ingot::onnx
