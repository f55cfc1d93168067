// Writes a Resize whose sizes, scales or region only the run knows: the tables of tableOf() (elements/Interpolation.h)
// are computed by ops, in single precision as ONNX Runtime does, so that both round alike. Axes whose numbers are all
// known have constant tables nevertheless, and axes that nothing changes have none.
//
// Where sizes follow from scales, the size has to be an expression: 1.5 is the fraction 3/2, and floor(3 * n / 2) is
// what the product in single precision gives as long as n is not beyond some ten thousands (mostPart). Other scales
// give a size that is known only when the run computes it.
#include "compiler/onnx/rewriting/OpenResize.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/sizes/Ranks.h"
#include "compiler/onnx/sizes/SizesInData.h"
#include <cmath>

using namespace mlir;

namespace ingot::onnx {

bool hasEntries(Value v) { return present(v) && !(isStatic(v) && ranked(v).getNumElements() == 0); }

AxisResize axisOf(ResizeOp op, int64_t d) {
  AxisResize axis;
  axis.from = axis.to = d;
  axis.mode = op.getMode(), axis.coordinates = op.getCoordinateTransformationMode(),
  axis.nearestMode = op.getNearestMode();
  axis.cubicA = op.getCubicCoeffA().convertToFloat();
  axis.excludeOutside = op.getExcludeOutside(), axis.antialias = op.getAntialias();
  return axis;
}

/// The largest numerator or denominator, whichever is smaller, of a scale that is taken for a fraction, and the largest
/// denominator. Up to 2^24 / (3 * denominator) elements floor(size * scale) is then the same in single precision and in
/// whole numbers: no less than 55,000 elements along the longer one of the two axes.
static constexpr double mostPart = 100, mostDenominator = 1 << 10;

/// Returns size * scale in single precision, rounded down; unknown where no expression of the size is that.
static Size scaled(const Size &size, float scale) {
  if (size.isNumber()) {
    double to = std::floor(static_cast<float>(size.number()) * scale);
    return to >= 0 && to < 1e9 ? Size(static_cast<int64_t>(to)) : Size::unknown();
  }
  for (double denominator = 1; denominator <= mostDenominator; ++denominator) {
    double exact = scale * denominator, numerator = std::round(exact);
    if (numerator < 1 || static_cast<float>(numerator / denominator) != scale) {
      continue;
    }
    // A scale that is less than its fraction, 1.3, may fall short of the whole numbers that the fraction gives, unless
    // products round up to them.
    bool reaches = exact >= numerator - std::ldexp(numerator, -25);
    return reaches && std::min(numerator, denominator) <= mostPart
               ? floorDiv(size * Size(static_cast<int64_t>(numerator)), Size(static_cast<int64_t>(denominator)))
               : Size::unknown();
  }
  return Size::unknown();
}

/// Returns the elements of a tensor of one axis, where each is known.
static SmallVector<std::optional<double>> knownElements(Value v) {
  SmallVector<std::optional<double>> all;
  if (auto floats = floatsOf(v)) {
    all.assign(floats->begin(), floats->end());
  } else if (auto concat = v.getDefiningOp<ConcatOp>(); concat && ranked(v) && ranked(v).getRank() == 1) {
    for (Value part : concat->getOperands()) {
      all.append(knownElements(part));
    }
  } else if (isStatic(v)) {
    all.resize(ranked(v).getNumElements());
  }
  return all;
}

/// Whether tf_crop_and_resize leaves the axis as it is.
static bool keepsAll(ResizeOp op, const OpenResizeAxis &a, size_t axes) {
  if (!(a.from == a.to)) {
    return false;
  }
  auto roi = knownElements(op.getRoi());
  return a.from.is(1) || (roi.size() == 2 * axes && roi[a.entry] == 0.0 && roi[axes + a.entry] == 1.0);
}

/// Returns the size where a policy scales all axes alike, by the least or the largest of what their sizes ask for.
static Size alike(ArrayRef<OpenResizeAxis> axes, const Size &from, bool least) {
  Size best = Size::unknown();
  for (const OpenResizeAxis &a : axes) { // the result is rounded to the nearest
    Size length = max(a.from, 1), to = floorDiv(Size(2) * from * a.wanted + length, Size(2) * length);
    best = best.isUnknown() ? to : least ? min(best, to) : max(best, to);
  }
  return best;
}

/// Returns all axes that a Resize with open sizes speaks of; nothing where it is not known what becomes of them.
static std::optional<SmallVector<OpenResizeAxis>> givenAxesOf(ResizeOp op) {
  auto data = ranked(op.getData());
  auto scales = hasEntries(op.getScales()) ? floatsOf(op.getScales()) : std::nullopt;
  auto sizes = hasEntries(op.getSizes()) ? sizesIn(op.getSizes()) : std::nullopt;
  bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  if (!isSized(op.getData()) || (!scales && !sizes)) {
    return std::nullopt;
  }
  SmallVector<int64_t> axes =
      op.getAxes() ? SmallVector<int64_t>(*op.getAxes()) : llvm::to_vector(llvm::seq<int64_t>(0, data.getRank()));
  if ((scales ? scales->size() : sizes->size()) != axes.size() ||
      (crops && (!isStatic(op.getRoi()) || ranked(op.getRoi()).getNumElements() != int64_t(2 * axes.size())))) {
    return std::nullopt;
  }
  SmallVector<OpenResizeAxis> result;
  for (auto [i, given] : llvm::enumerate(axes)) {
    auto axis = normalAxis(given, data.getRank());
    if (!axis) {
      return std::nullopt;
    }
    Size from = sizeOf(data, *axis);
    float scale = scales ? static_cast<float>((*scales)[i]) : 0;
    Size to = sizes ? (*sizes)[i] : scaled(from, scale);
    result.push_back({*axis, from, to, to, scales ? std::optional(scale) : std::nullopt, static_cast<int64_t>(i)});
  }
  return result;
}

/// Axes that stay as they are do not count, so that a Resize of images has tables for two of its four axes.
std::optional<SmallVector<OpenResizeAxis>> openAxesOf(ResizeOp op) {
  auto axes = givenAxesOf(op);
  StringRef policy = op.getKeepAspectRatioPolicy();
  bool scales = hasEntries(op.getScales()), crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  if (!axes) {
    return std::nullopt;
  }
  SmallVector<OpenResizeAxis> result;
  for (OpenResizeAxis a : *axes) {
    if (!scales && policy != "stretch") {
      a.to = alike(*axes, a.from, policy == "not_larger");
    }
    bool stays = a.to == a.from && (scales ? a.scale == 1.0F : policy == "stretch");
    if (crops ? !keepsAll(op, a, axes->size()) : !stays) {
      result.push_back(a);
    }
  }
  return result;
}

namespace {
/// The rewrite of a Resize whose tables are computed in each run.
struct OpenExpansion {
  ResizeOp op;
  Formula f;

  Value floatOf(const Size &size) { return f.cast(f.scalar(size), f.b.getF32Type(), 1); }
  Value number(const Number &v) { return makeNumber(f.b, f.loc, v, f.b.getF32Type()); }
  Value roi(int64_t i) { return f.op("Gather", {op.getRoi(), makeInteger(f.b, f.loc, i)}); }
  Value least(Value a, Value b) { return f.op("Min", {a, b}); }
  Value most(Value a, Value b) { return f.op("Max", {a, b}); }

  /// Returns the number of result elements for an operand element, rank 0. It may be a constant, an entry of the
  /// operand, or follow from sizes; with a policy all axes have one scale.
  Value scaleOf(const OpenResizeAxis &a) {
    if (a.scale) {
      return number(*a.scale);
    }
    if (hasEntries(op.getScales())) {
      return f.cast(f.op("Gather", {op.getScales(), makeInteger(f.b, f.loc, a.entry)}), f.b.getF32Type(), 1);
    }
    StringRef policy = op.getKeepAspectRatioPolicy();
    if (policy == "stretch") {
      return f.div(floatOf(a.to), floatOf(a.from));
    }
    SmallVector<Value> all = llvm::map_to_vector(
        *givenAxesOf(op), [&](const OpenResizeAxis &b) { return f.div(floatOf(b.wanted), floatOf(b.from)); });
    return f.op(policy == "not_larger" ? "Min" : "Max", all);
  }

  /// Returns the place of each result position in the operand, [to].
  Value original(const OpenResizeAxis &a) {
    Value x = f.cast(f.countTo(f.scalar(a.to)), f.b.getF32Type(), 1);
    StringRef mode = op.getCoordinateTransformationMode();
    if (mode == "tf_crop_and_resize") {
      return cropped(a, x);
    }
    if (mode == "align_corners") {
      Value last = most(floatOf(a.to - 1), number(1));
      return f.div(f.mul(x, floatOf(a.from - 1)), last);
    }
    Value scale = scaleOf(a);
    if (mode == "asymmetric") {
      return f.div(x, scale);
    }
    x = f.div(f.add(x, number(0.5)), scale);
    if (mode == "tf_half_pixel_for_nn") {
      return x;
    }
    x = f.sub(x, number(0.5));
    if (mode == "half_pixel_symmetric") {
      Value length = floatOf(a.from), adjustment = f.div(floatOf(a.to), f.mul(scale, length));
      return f.add(f.mul(f.div(length, number(2)), f.sub(number(1), adjustment)), x);
    }
    // With one result element pytorch takes the first.
    return mode == "half_pixel" ? x : f.mul(x, least(floatOf(a.to - 1), number(1)));
  }

  /// The result spans the region [start, end] of the axis; a single element is in its middle.
  Value cropped(const OpenResizeAxis &a, Value x) {
    int64_t axes = ranked(op.getRoi()).getNumElements() / 2;
    Value start = f.cast(roi(a.entry), f.b.getF32Type(), 1), end = f.cast(roi(axes + a.entry), f.b.getF32Type(), 1);
    Value reach = floatOf(a.from - 1);
    Value middle = f.add(f.mul(x, number(0)), f.mul(f.mul(number(0.5), f.add(start, end)), reach));
    if (a.to.is(1)) {
      return middle;
    }
    Value step = f.div(f.mul(f.sub(end, start), reach), floatOf(a.to - 1));
    Value spread = f.add(f.mul(start, reach), f.mul(x, step));
    return a.to.atLeast(2, factsOf(op)) ? spread
                                        : f.op("Where", {f.op("Equal", {floatOf(a.to), number(1)}), middle, spread});
  }

  /// Returns the result where its coordinates lie in the operand, else the extrapolation value.
  Value filled(Value y, ArrayRef<OpenResizeAxis> axes) {
    int64_t rank = ranked(op.getData()).getRank();
    Value mask;
    for (const OpenResizeAxis &a : axes) {
      Value x = original(a);
      Value inside =
          f.op("And", {f.op("GreaterOrEqual", {x, number(0)}), f.op("LessOrEqual", {x, floatOf(a.from - 1)})});
      Sizes shape(rank - a.axis, 1);
      shape[0] = a.to;
      inside = f.reshapeTo(inside, shape);
      mask = mask ? f.op("And", {mask, inside}) : inside;
    }
    Value outside = makeNumber(f.b, f.loc, op.getExtrapolationValue().convertToDouble(), elementOf(y));
    return mask ? f.op("Where", {mask, y, outside}) : y;
  }

  /// Returns positions as one row of a table, kept inside the operand; a position that is no number is the first.
  Value row(const OpenResizeAxis &a, Value x, bool positions) {
    if (positions && op.getCoordinateTransformationMode() == "tf_crop_and_resize") {
      x = f.op("Where", {f.op("GreaterOrEqual", {x, number(0)}), x, number(0)});
    }
    if (positions) {
      x = f.cast(most(least(x, floatOf(a.from - 1)), number(0)), f.b.getI32Type(), 6);
    }
    return f.reshapeTo(x, {1, a.to});
  }

  /// Rounds a place to the position of an element. "Prefer floor" rounds 0.5 down: ceil(x - 0.5).
  Value nearest(const OpenResizeAxis &a, Value x) {
    StringRef mode = op.getNearestMode();
    Value below = f.op("Floor", {x});
    if (mode == "simple") { // opsets before 11
      return f.op("Where", {f.op("Less", {scaleOf(a), number(1)}), f.op("Ceil", {x}), below});
    }
    return mode == "floor"               ? below
           : mode == "ceil"              ? f.op("Ceil", {x})
           : mode == "round_prefer_ceil" ? f.op("Floor", {f.add(x, number(0.5))})
                                         : f.op("Ceil", {f.sub(x, number(0.5))});
  }

  /// Returns how many elements a result element is made of.
  Size tapsOf(const OpenResizeAxis &a) {
    int64_t reach = op.getMode() == "cubic" ? 2 : 1;
    if (!op.getAntialias()) {
      return 2 * reach;
    }
    if (a.scale) {
      return 2 * static_cast<int64_t>(std::ceil(static_cast<double>(reach) / std::min(1.0F, *a.scale)));
    }
    if (hasEntries(op.getScales())) { // data tells their number, but no result element needs more than all
      Size most = Size(reach) * (a.from + 1);
      Value far = f.op("Ceil", {f.div(number(reach), least(scaleOf(a), number(1)))});
      SizesInData data(op, f.b);
      return Size(2) * data.read(data.i64(least(far, floatOf(most))), most);
    }
    StringRef policy = op.getKeepAspectRatioPolicy();
    Size half = Size::unknown();
    for (const OpenResizeAxis &b : policy == "stretch" ? SmallVector<OpenResizeAxis>{a} : *givenAxesOf(op)) {
      Size one = ceilDiv(Size(reach) * b.from, max(b.wanted, 1));
      half = half.isUnknown() ? one : policy == "not_smaller" ? min(half, one) : max(half, one);
    }
    return Size(2) * max(half, reach);
  }

  /// Computes the two pieces of Keys' kernel, for distances up to 1 and up to 2; c is cubic_coeff_a.
  Value cubicWeight(Value distance) {
    double c = op.getCubicCoeffA().convertToDouble();
    Value x = f.abs(distance);
    Value near = f.add(f.mul(f.mul(f.sub(f.mul(number(c + 2), x), number(c + 3)), x), x), number(1));
    Value far = f.mul(number(c), f.sub(f.mul(f.add(f.mul(f.sub(x, number(5)), x), number(8)), x), number(4)));
    Value outer = f.op("Where", {f.op("Less", {x, number(2)}), far, number(0)});
    return f.op("Where", {f.op("LessOrEqual", {x, number(1)}), near, outer});
  }

  /// Returns positions and weights of an axis, [taps, to], as tableOf() does for numbers.
  std::pair<Value, Value> filter(const OpenResizeAxis &a, Value x) {
    Size taps = tapsOf(a);
    Value tap = f.cast(f.countTo(f.scalar(taps)), f.b.getF32Type(), 1);
    x = f.reshapeTo(x, {1, a.to});
    Value first = f.sub(f.op("Floor", {x}), floatOf(floorDiv(taps, 2) - 1));
    Value at = f.add(first, f.reshapeTo(tap, {taps, 1})), distance = f.sub(at, x);
    if (op.getAntialias()) {
      distance = f.mul(distance, least(scaleOf(a), number(1)));
    }
    Value weight = op.getMode() == "cubic" ? cubicWeight(distance) : most(f.sub(number(1), f.abs(distance)), number(0));
    Value last = floatOf(a.from - 1);
    if (op.getExcludeOutside()) {
      Value inside = f.op("And", {f.op("GreaterOrEqual", {at, number(0)}), f.op("LessOrEqual", {at, last})});
      weight = f.op("Where", {inside, weight, number(0)});
    }
    if (op.getExcludeOutside() || op.getAntialias()) {
      Value sum = f.reduce("ReduceSum", weight, {0}, /*keepdims=*/true);
      weight = f.div(weight, f.op("Where", {f.op("Equal", {sum, number(0)}), number(1), sum}));
    }
    return {f.cast(most(least(at, last), number(0)), f.b.getI32Type(), 6), weight};
  }

  /// Returns the tables of an axis, which are constants where nothing depends on the run.
  std::pair<Value, Value> tables(const OpenResizeAxis &a) {
    bool isNearest = op.getMode() == "nearest", crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
    bool known = a.from.isNumber() && a.to.isNumber() && !crops &&
                 (a.scale || (!hasEntries(op.getScales()) && op.getKeepAspectRatioPolicy() == "stretch"));
    if (known && !a.from.is(0)) {
      AxisResize axis = axisOf(op, a.from.number());
      axis.to = a.to.number();
      axis.scale = a.scale ? *a.scale : static_cast<float>(axis.to) / static_cast<float>(axis.from);
      AxisTable table = tableOf(axis);
      auto shape = [&](Type element) { return tensorOf({table.taps, axis.to}, element); };
      return {makeConstant(f.b, f.loc, constantFromIntegers(shape(f.b.getI32Type()), table.index)),
              makeConstant(f.b, f.loc, constantFromFloats(shape(f.b.getF32Type()), table.weight))};
    }
    Value x = original(a);
    if (isNearest) {
      Value index = row(a, nearest(a, x), true);
      return {index, f.cast(index, f.b.getF32Type(), 1)};
    }
    if (op.getMode() == "cubic" || op.getAntialias() || op.getExcludeOutside()) {
      return filter(a, x);
    }
    Value first = f.op("Floor", {x}), share = f.sub(x, first);
    Value rows[] = {row(a, first, true), row(a, f.add(first, number(1)), true)};
    Value shares[] = {row(a, f.sub(number(1), share), false), row(a, share, false)};
    return {f.op("Concat", rows, {f.integer("axis", 0)}), f.op("Concat", shares, {f.integer("axis", 0)})};
  }

  Value interpolate(Value x, ArrayRef<Value> tables, ArrayRef<int64_t> axes) {
    SmallVector<Value> operands{x};
    llvm::append_range(operands, tables);
    return f.op("Interpolate", operands,
                {f.b.getNamedAttr("axes", f.b.getDenseI64ArrayAttr(axes)),
                 f.b.getNamedAttr("nearest", f.b.getBoolAttr(op.getMode() == "nearest"))});
  }

  Value run(ArrayRef<OpenResizeAxis> axes) {
    Type element = elementOf(op.getData());
    bool isNearest = op.getMode() == "nearest";
    bool direct = isNearest ? !isBool(element) : isa<FloatType>(element);
    Type through = direct ? element : isNearest ? Type(f.b.getIntegerType(8, false)) : f.b.getF32Type();
    Value y = f.cast(op.getData(), through, numberOfElement(through));
    SmallVector<Value> together;
    SmallVector<int64_t> resized;
    for (const OpenResizeAxis &a : axes) {
      auto [index, weight] = tables(a);
      weight = through.isF64() ? f.cast(weight, through, 11) : weight;
      if (sizeOf(ranked(index), 0).isNumber()) {
        together.append({index, weight});
        resized.push_back(a.axis);
      } else {
        y = interpolate(y, {index, weight}, {a.axis});
      }
    }
    y = resized.empty() ? y : interpolate(y, together, resized);
    y = f.cast(y, element, numberOfElement(element));
    return op.getCoordinateTransformationMode() == "tf_crop_and_resize" ? filled(y, axes) : y;
  }
};
} // namespace

Value resizeOpen(ResizeOp op, ArrayRef<OpenResizeAxis> axes, PatternRewriter &rewriter) {
  return OpenExpansion{op, {rewriter, op.getLoc()}}.run(axes);
}

} // namespace ingot::onnx
