// Resizes images by tables. Which elements a result element is made of, and with which weights, depends on its place
// along each axis alone, so each axis that changes gets a table of positions and one of weights, [taps, size] each
// (elements/Interpolation.h), and the kernel (Interpolate) is the same for all modes: a sum over taps, or with
// `nearest` a copy. For open sizes the tables are computed by the run (rewriting/OpenResize.h).
//
// tf_crop_and_resize also needs to know which places lie outside of the image, where it gives a number of its own.
#include "compiler/onnx/ops/Resize.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/elements/Interpolation.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/rewriting/OpenResize.h"
#include "compiler/onnx/sizes/Ranks.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Resize.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Returns an entry for each axis of the operand; nothing when scales or sizes are not constant yet. Failure: they
/// contradict the operand.
static FailureOr<std::optional<SmallVector<AxisResize>>> axesOf(ResizeOp op) {
  using Result = std::optional<SmallVector<AxisResize>>;
  auto data = ranked(op.getData());
  if (!isStatic(op.getData())) {
    return Result();
  }
  SmallVector<int64_t> axes =
      op.getAxes() ? SmallVector<int64_t>(*op.getAxes()) : llvm::to_vector(llvm::seq<int64_t>(0, data.getRank()));
  for (int64_t &axis : axes) {
    auto normal = normalAxis(axis, data.getRank());
    if (!normal) {
      return op.emitOpError("axis ") << axis << " is outside of " << data, failure();
    }
    axis = *normal;
  }
  for (Value entries : {op.getScales(), op.getSizes()}) {
    if (hasEntries(entries) && isStatic(entries) && ranked(entries).getNumElements() != int64_t(axes.size())) {
      return op.emitOpError("scales, sizes or roi do not have an entry for each axis"), failure();
    }
  }
  auto scales = hasEntries(op.getScales()) ? floatsOf(op.getScales()) : std::nullopt;
  auto sizes = hasEntries(op.getSizes()) ? integersOf(op.getSizes()) : std::nullopt;
  bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  auto roi = crops ? floatsOf(op.getRoi()) : std::nullopt;
  if ((!scales && !sizes) || (crops && !roi)) {
    return Result();
  }
  size_t n = axes.size();
  if (roi && roi->size() != 2 * n) {
    return op.emitOpError("scales, sizes or roi do not have an entry for each axis"), failure();
  }
  SmallVector<AxisResize> result(data.getRank());
  for (auto [axis, d] : llvm::zip_equal(result, data.getShape())) {
    axis = axisOf(op, d);
  }
  StringRef policy = op.getKeepAspectRatioPolicy();
  float common = policy == "not_larger" ? INFINITY : 0;
  for (size_t i = 0; i < n; ++i) {
    AxisResize &a = result[axes[i]];
    a.scale = scales ? static_cast<float>((*scales)[i]) : static_cast<float>((*sizes)[i]) / static_cast<float>(a.from);
    double to = scales ? std::floor(static_cast<float>(a.from) * a.scale) : static_cast<double>((*sizes)[i]);
    if (!(a.scale > 0 || (a.scale == 0 && sizes)) || !(to >= 0 && to < 1e9) || (a.from == 0 && to > 0)) {
      return op.emitOpError("cannot resize axis ") << axes[i] << " of " << data, failure();
    }
    a.to = static_cast<int64_t>(to);
    common = policy == "not_larger" ? std::min(common, a.scale) : std::max(common, a.scale);
    if (roi) {
      a.roiStart = static_cast<float>((*roi)[i]), a.roiEnd = static_cast<float>((*roi)[n + i]);
    }
  }
  for (size_t i = 0; sizes && policy != "stretch" && i < n; ++i) {
    AxisResize &a = result[axes[i]];
    a.scale = common;
    a.to = static_cast<int64_t>(std::floor(common * static_cast<float>(a.from) + 0.5F));
  }
  return Result(std::move(result));
}

/// Requires that lists of open length have an entry for each axis. Lists without elements, which count as left out, are
/// constants.
static void requireEntries(ResizeOp op) {
  auto data = ranked(op.getData());
  if (!data) {
    return;
  }
  int64_t n = op.getAxes() ? static_cast<int64_t>(op.getAxes()->size()) : data.getRank();
  bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  const std::pair<Value, int64_t> lists[] = {{op.getScales(), n}, {op.getSizes(), n}, {op.getRoi(), crops ? 2 * n : 0}};
  for (const auto &[list, length] : lists) {
    if (auto type = ranked(list); type && length && type.getRank() == 1 && type.isDynamicDim(0)) {
      (void)require(op, sizeOf(type, 0), length);
    }
  }
}

/// Constant lists give numbers; an operand whose sizes are open, or sizes that are computed, give expressions.
LogicalResult ResizeOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  auto axes = axesOf(*this);
  if (failed(axes)) {
    return failure();
  }
  requireEntries(*this);
  if (!data) { // lists have an entry for each axis, and one that is left out has none
    std::optional<int64_t> rank;
    for (Value list : {getScales(), getSizes()}) {
      auto entries = getAxes() ? std::nullopt : entriesOf(list);
      rank = entries && *entries > 0 ? entries : rank;
    }
    return push(types, typeOfRank(*this, rank, elementOf(getData())));
  }
  if (!*axes) {
    Sizes shape(data.getRank(), Size::unknown());
    auto scales = hasEntries(getScales()) ? floatsOf(getScales()) : std::nullopt;
    if (scales && !llvm::all_of(*scales, [](double scale) { return scale > 0 && scale < 1e9; })) {
      return emitOpError("has a scale that is not positive, or larger than any image");
    }
    if (auto open = openAxesOf(*this)) {
      shape = sizesOf(data);
      for (const OpenResizeAxis &a : *open) {
        shape[a.axis] = a.to;
        // An axis without elements cannot get some.
        Size least = hasEntries(getScales()) ? Size(0) : min(a.to, 1);
        if (!a.from.atLeast(1) && !least.is(0) && failed(require(*this, a.from, max(a.from, least)))) {
          return emitOpError("cannot resize axis ") << a.axis << " of " << data;
        }
      }
    }
    types.push_back(sizedType(shape, data.getElementType()));
  } else {
    types.push_back(
        tensorOf(llvm::map_to_vector(**axes, [](const AxisResize &a) { return a.to; }), data.getElementType()));
  }
  return success();
}

/// Whether positions along the axis change at all.
static bool changes(const AxisResize &a) {
  return a.from != a.to || a.scale != 1 || a.coordinates == "tf_crop_and_resize";
}

namespace {
/// The rewrite of one Resize.
struct Expansion {
  ResizeOp op;
  PatternRewriter &b;
  Location loc = op.getLoc();

  Value cast(Value v, Type element) {
    return make<CastOp>(b, loc, {v}, {b.getNamedAttr("to", b.getI64IntegerAttr(numberOfElement(element)))});
  }

  /// Returns 1 where an axis's coordinate lies in the operand, shaped to broadcast along that axis; the axes are
  /// combined.
  Value insideMask(ArrayRef<AxisResize> axes) {
    Value mask;
    for (auto [d, a] : llvm::enumerate(axes)) {
      SmallVector<int64_t> shape(axes.size() - d, 1);
      shape[0] = a.to;
      Value one = makeConstant(b, loc, constantFromBytes(tensorOf(shape, b.getI1Type()), tableOf(a).inside));
      mask = mask ? make<AndOp>(b, loc, {mask, one}) : one;
    }
    return mask;
  }

  /// Types without a kernel take a way round: with `nearest`, which only moves elements, booleans go as bytes, and
  /// integers are interpolated as float32.
  Value run(ArrayRef<AxisResize> axes) {
    Type element = elementOf(op.getData());
    bool nearest = op.getMode() == "nearest";
    bool direct = nearest ? !isBool(element) : isa<FloatType>(element);
    Type through = nearest ? Type(b.getIntegerType(8, false)) : b.getF32Type();
    SmallVector<Value> operands{direct ? Value(op.getData()) : cast(op.getData(), through)};
    SmallVector<int64_t> resized;
    for (auto [d, a] : llvm::enumerate(axes)) {
      if (!changes(a)) {
        continue;
      }
      AxisTable table = tableOf(a);
      resized.push_back(d);
      operands.push_back(
          makeConstant(b, loc, constantFromIntegers(tensorOf({table.taps, a.to}, b.getI32Type()), table.index)));
      Type weights = nearest || !direct ? Type(b.getF32Type()) : element;
      operands.push_back(makeConstant(b, loc, constantFromFloats(tensorOf({table.taps, a.to}, weights), table.weight)));
    }
    if (resized.empty()) {
      return op.getData();
    }
    NamedAttribute attributes[] = {b.getNamedAttr("axes", b.getDenseI64ArrayAttr(resized)),
                                   b.getNamedAttr("nearest", b.getBoolAttr(nearest))};
    Value y = make<InterpolateOp>(b, loc, operands, attributes);
    y = direct ? y : cast(y, element);
    if (op.getCoordinateTransformationMode() == "tf_crop_and_resize") {
      Value outside = makeNumber(b, loc, op.getExtrapolationValue().convertToDouble(), b.getF32Type());
      outside = element.isF32() ? outside : cast(outside, element);
      y = make<WhereOp>(b, loc, {insideMask(axes), y, outside});
    }
    return y;
  }
};
} // namespace

LogicalResult ResizeOp::decompose(PatternRewriter &rewriter) {
  auto axes = axesOf(*this);
  if (failed(axes)) {
    return failure();
  }
  if (!*axes && isSized(getY())) {
    auto open = openAxesOf(*this);
    if (!open) { // the result of a scalar is sized, whatever is not known
      return failure();
    }
    rewriter.replaceOp(*this, open->empty() ? Value(getData()) : resizeOpen(*this, *open, rewriter));
    return success();
  }
  if (!*axes || !isStatic(getY())) {
    return failure();
  }
  rewriter.replaceOp(*this, Expansion{*this, rewriter}.run(**axes));
  return success();
}

/// Adds the attributes that say what Resize meant before opset 11, and Upsample before 10. Scales were the second
/// input, which is the region now.
static void asBeforeOpset11(Node &node) {
  node.attributes.set("coordinate_transformation_mode", node.builder.getStringAttr("asymmetric"));
  node.attributes.set("nearest_mode", node.builder.getStringAttr("simple"));
  if (auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode")); mode && mode.getValue() == "bilinear") {
    node.attributes.set("mode", node.builder.getStringAttr("linear"));
  }
  Value scales = node.operand(1);
  node.operands.resize(3);
  node.operands[1] = {}, node.operands[2] = scales;
}

LogicalResult ResizeOp::upgrade(Node &node) {
  if (node.opset < 11) {
    asBeforeOpset11(node);
  }
  return success();
}

LogicalResult UpsampleOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(typeOfRank(knownRank(getData()), elementOf(getData())));
  return success();
}
/// Its scales were attributes in opsets 1 and 7, and are an input from 9 on.
LogicalResult UpsampleOp::upgrade(Node &node) {
  OpBuilder &b = node.builder;
  SmallVector<double> scales;
  if (auto list = dyn_cast_or_null<DenseF32ArrayAttr>(node.attributes.erase("scales"))) {
    scales.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  }
  auto height = dyn_cast_or_null<FloatAttr>(node.attributes.erase("height_scale"));
  auto width = dyn_cast_or_null<FloatAttr>(node.attributes.erase("width_scale"));
  if (height && width) {
    scales = {1, 1, height.getValueAsDouble(), width.getValueAsDouble()};
  }
  if (!scales.empty()) {
    node.operands.resize(2);
    node.operands[1] = makeConstant(
        b, node.loc, constantFromFloats(tensorOf({static_cast<int64_t>(scales.size())}, b.getF32Type()), scales));
  }
  node.op = "Resize";
  asBeforeOpset11(node);
  return success();
}

// These belong to Interpolate.

LogicalResult InterpolateOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  Sizes shape = sizesOf(data);
  for (auto [i, axis] : llvm::enumerate(getAxes())) {
    shape[axis] = sizeOf(ranked(getTables()[2 * i]), 1);
  }
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}

void registerResize(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Resize.cpp.inc"
      >();
}

} // namespace ingot::onnx
