#include "compiler/onnx/ops/Sample.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Formula.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Sample.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static LogicalResult oneOf(Operation *op, StringRef name, StringRef value, ArrayRef<StringRef> allowed) {
  if (llvm::is_contained(allowed, value)) {
    return success();
  }
  return op->emitOpError("attribute '") << name << "' is '" << value << "', expected " << llvm::join(allowed, " or ");
}

// GridSample.

/// Offsets in an image are 32-bit integers in the kernel.
static constexpr int64_t mostPixels = std::numeric_limits<int32_t>::max();

LogicalResult GridSampleOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(oneOf(*this, "mode", getMode(), {"linear", "nearest", "cubic"})) ||
      failed(oneOf(*this, "padding_mode", getPaddingMode(), {"zeros", "border", "reflection"}))) {
    return failure();
  }
  auto x = ranked(getX()), grid = ranked(getGrid());
  if (!x || !grid) {
    types.push_back(unrankedOf(elementOf(getX())));
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

/// The names of modes before volumes could be sampled.
LogicalResult GridSampleOp::upgrade(Node &node) {
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  if (node.opset < 20 && (!mode || mode.getValue() == "bilinear" || mode.getValue() == "bicubic")) {
    node.attributes.set("mode", node.builder.getStringAttr(mode && mode.getValue() == "bicubic" ? "cubic" : "linear"));
  }
  return success();
}

StringRef GridSampleOp::family() { return "GridSample"; }
std::string GridSampleOp::unsupported() { return whyUnsized(*this); }
bool GridSampleOp::fusesEpilogue() { return false; }

/// Between integers, sums are floats: the standard says nothing of how they become integers; as Cast does it.
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

// RoiAlign.

/// More samples along a bin than anybody wants, so that tables of them have sizes that can be.
static constexpr int64_t mostSamples = 1 << 16;

/// The batch, channels and bins of RoiAlign's result; `channels` is the axis of the image.
template <typename Op> static LogicalResult inferRegions(Op op, int64_t channels, SmallVectorImpl<Type> &types) {
  auto x = ranked(op.getX()), rois = ranked(op.getRois()), batch = ranked(op.getBatchIndices());
  if (failed(oneOf(op, "mode", op.getMode(), {"avg", "max"})) ||
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
    types.push_back(unrankedOf(elementOf(op.getX())));
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

/// Before opset 16 pixels were not shifted by a half, and there was no attribute to say so.
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
  Value last =
      f.op("Transpose", {getX()}, {rewriter.getNamedAttr("perm", rewriter.getDenseI64ArrayAttr({0, 2, 3, 1}))});
  rewriter.replaceOp(*this, f.op("RoiSample", {last, getRois(), getBatchIndices()}, (*this)->getAttrs()));
  return success();
}

StringRef RoiSampleOp::family() { return "RoiSample"; }
std::string RoiSampleOp::unsupported() { return whyUnsized(*this); }
bool RoiSampleOp::fusesEpilogue() { return false; }

void registerSample(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Sample.cpp.inc"
      >();
}

} // namespace ingot::onnx
