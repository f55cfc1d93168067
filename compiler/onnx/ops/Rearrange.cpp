// Makes ops of movements, which have no kernel, slices, reshapes and transposes.
#include "compiler/onnx/ops/Rearrange.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Pad.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Rearrange.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// These belong to Split.

/// Returns the sizes of the results along the axis; nothing when they are not known yet.
static FailureOr<std::optional<Sizes>> partsOf(SplitOp op, const Size &d) {
  using Result = std::optional<Sizes>;
  int64_t n = op.getNumResults();
  if (present(op.getSplit())) {
    auto parts = sizesIn(op.getSplit());
    if (failed(requireLength(op, op.getSplit(), n))) {
      return op.emitOpError("split of type ") << op.getSplit().getType() << " for " << n << " results", failure();
    }
    if (!parts) {
      return Result();
    }
    Size sum = 0;
    for (const Size &part : *parts) {
      sum = sum + part;
    }
    if (failed(require(op, d, sum)) ||
        llvm::any_of(*parts, [](const Size &p) { return p.isNumber() && p.number() < 0; })) {
      return op.emitOpError("cannot split ") << d.text() << " into " << textOf(*parts), failure();
    }
    return Result(std::move(parts));
  }
  if (n == 0) {
    return Result();
  }
  Size size = ceilDiv(d, n), rest = d;
  Sizes parts;
  for (int64_t i = 0; i < n; ++i) {
    parts.push_back(min(size, rest));
    rest = rest - parts.back();
  }
  return Result(std::move(parts));
}

/// Without sizes all parts have the size rounded up, and the last ones what is left: 7 in three parts is 3, 3, 1.
LogicalResult SplitOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  if (!data) {
    types.append(getNumResults(), unrankedOf(elementOf(getData())));
    return success();
  }
  auto axis = normalAxis(getAxis(), data.getRank());
  if (!axis) {
    return emitOpError("axis ") << static_cast<int64_t>(getAxis()) << " is outside of " << data;
  }
  auto parts = partsOf(*this, sizeOf(data, *axis));
  if (failed(parts)) {
    return failure();
  }
  for (unsigned i = 0; i < getNumResults(); ++i) {
    Sizes shape = sizesOf(data);
    shape[*axis] = *parts ? (**parts)[i] : Size::unknown();
    types.push_back(sizedType(shape, data.getElementType()));
  }
  return success();
}

/// Slices share the operand's memory where they are views, so that a split along the first axis copies nothing.
LogicalResult SplitOp::decompose(PatternRewriter &rewriter) {
  auto data = ranked(getData());
  auto axis = data ? normalAxis(getAxis(), data.getRank()) : std::nullopt;
  if (!axis || !llvm::all_of(getYs(), [&](Value y) { return ranked(y) && !sizeOf(ranked(y), *axis).isUnknown(); })) {
    return failure();
  }
  SmallVector<Value> pieces;
  Size start = 0;
  Value along = makeIntegers(rewriter, getLoc(), {*axis});
  for (Value y : getYs()) {
    Size end = start + sizeOf(ranked(y), *axis);
    Value from = makeSizes(rewriter, getLoc(), {start}), to = makeSizes(rewriter, getLoc(), {end});
    pieces.push_back(make<SliceOp>(rewriter, getLoc(), {getData(), from, to, along, Value()}));
    start = end;
  }
  rewriter.replaceOp(*this, pieces);
  return success();
}

/// The parts of a constant have its strides, and begin where the one before ends along the axis.
LogicalResult SplitOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  if (!operands[0] || !llvm::all_of(getYs(), isStatic)) {
    return failure();
  }
  support::Strided<int64_t> source(0, rowMajorStrides(ranked(getData()).getShape()));
  int64_t axis = *normalAxis(getAxis(), ranked(getData()).getRank());
  for (Value y : getYs()) {
    results.push_back(gatherStrided(operands[0], ranked(y), source));
    source.offset += ranked(y).getDimSize(axis) * source.strides[axis];
  }
  return success();
}

LogicalResult SplitOp::upgrade(Node &node) {
  node.attributeToOperand("split", 1);
  // Opset 1 has the sizes as numbers of the data's own type.
  Value split = node.operand(1);
  if (node.opset < 2 && split && isa<FloatType>(elementOf(split))) {
    Formula f(node.builder, node.loc);
    auto parts = floatsOf(split);
    node.operands[1] =
        parts ? makeIntegers(f.b, f.loc, llvm::map_to_vector(*parts, wholePart)) : f.cast(split, f.b.getI64Type(), 7);
  }
  return success();
}

// These write space and depth: a reshape that splits axes, a transpose, and a reshape that joins them.

/// A block of channels becomes block * block pixels, or the other way round; what does not divide is refused, and of
/// open sizes it is required that they divide.
static LogicalResult inferRearranged(Operation *op, Value data, int64_t block, bool toSpace,
                                     SmallVectorImpl<Type> &types) {
  auto x = ranked(data);
  if (!x) {
    types.push_back(typeOfRank(4, elementOf(data)));
    return success();
  }
  if (x.getRank() != 4 || block <= 0) {
    return op->emitOpError("needs four axes and a positive block size, has ") << x << " and " << block;
  }
  Sizes shape = sizesOf(x);
  auto scale = [&](Size &d, int64_t by, bool up) {
    bool exact = up || !d.isNumber() || d.number() % by == 0;
    Size whole = up ? d * Size(by) : floorDiv(d, by);
    if (!up && d.isNumber() == false) {
      (void)require(op, whole * Size(by), d);
    }
    d = whole;
    return exact;
  };
  if (!scale(shape[1], block * block, !toSpace) || !scale(shape[2], block, toSpace) ||
      !scale(shape[3], block, toSpace)) {
    return op->emitOpError("blocks of ") << block << " do not divide " << x;
  }
  types.push_back(sizedType(shape, x.getElementType()));
  return success();
}

/// Writes Reshape to `split`, Transpose by `perm`, and Reshape to the result's shape.
static LogicalResult rearrange(Operation *op, PatternRewriter &rewriter, ArrayRef<Size> split, ArrayRef<int64_t> perm) {
  if (!isSized(op->getOperand(0)) || !isSized(op->getResult(0))) {
    return failure();
  }
  Formula f(rewriter, op->getLoc());
  Value transposed = make<TransposeOp>(rewriter, op->getLoc(), {f.reshapeTo(op->getOperand(0), split)},
                                       {rewriter.getNamedAttr("perm", rewriter.getDenseI64ArrayAttr(perm))});
  rewriter.replaceOp(op, f.reshapeTo(transposed, sizesOf(ranked(op->getResult(0)))));
  return success();
}

LogicalResult DepthToSpaceOp::inferTypes(SmallVectorImpl<Type> &types) {
  return inferRearranged(*this, getData(), getBlocksize(), true, types);
}
/// Channels are [rows of a block, columns of a block, c] in the mode DCR, and [c, rows, columns] in CRD. For blocks of
/// 2:
///
///   DCR   [n, 2, 2, c, h, w]   to   [n, c, h, 2, w, 2]   to   [n, c, 2 h, 2 w]
LogicalResult DepthToSpaceOp::decompose(PatternRewriter &rewriter) {
  int64_t b = getBlocksize();
  auto x = ranked(getData());
  if (!isSized(getData())) {
    return failure();
  }
  Sizes s = sizesOf(x);
  Size n = s[0], c = floorDiv(s[1], b * b), h = s[2], w = s[3];
  if (getMode() == "CRD") {
    return rearrange(*this, rewriter, {n, c, b, b, h, w}, {0, 1, 4, 2, 5, 3});
  }
  return rearrange(*this, rewriter, {n, b, b, c, h, w}, {0, 3, 4, 1, 5, 2});
}
LogicalResult SpaceToDepthOp::inferTypes(SmallVectorImpl<Type> &types) {
  return inferRearranged(*this, getData(), getBlocksize(), false, types);
}
/// Undoes DepthToSpace: the axes of a block move in front of the channels, or behind them in CRD.
LogicalResult SpaceToDepthOp::decompose(PatternRewriter &rewriter) {
  int64_t b = getBlocksize();
  auto x = ranked(getData());
  if (!isSized(getData())) {
    return failure();
  }
  Sizes s = sizesOf(x), split = {s[0], s[1], floorDiv(s[2], b), b, floorDiv(s[3], b), b};
  if (getMode() == "CRD") {
    return rearrange(*this, rewriter, split, {0, 1, 3, 5, 2, 4});
  }
  return rearrange(*this, rewriter, split, {0, 3, 5, 1, 2, 4});
}

// These belong to Crop and ImageScaler.

/// The border is (left, top, right, bottom); a scale gives the size in place of right and bottom.
LogicalResult CropOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  ArrayRef<int64_t> border = getBorder();
  auto size = getScale();
  if (!isSized(getData())) {
    types.push_back(typeOfRank(4, elementOf(getData())));
    return success();
  }
  if (data.getRank() != 4 || border.size() != 4 || (size && size->size() != 2)) {
    return emitOpError("needs four axes, a border of four numbers and, if any, a scale of two");
  }
  Sizes shape = sizesOf(data);
  for (int64_t axis : {2, 3}) {
    int64_t before = border[3 - axis], after = border[5 - axis];
    Size whole = shape[axis];
    shape[axis] = size ? Size((*size)[axis - 2]) : whole - before - after;
    Size behind = whole - before - shape[axis];
    bool fits = before >= 0 && succeeded(require(*this, max(shape[axis], 0), shape[axis])) &&
                succeeded(require(*this, max(behind, 0), behind));
    if (!fits) {
      return emitOpError("border goes beyond ") << data;
    }
  }
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}
LogicalResult CropOp::decompose(PatternRewriter &rewriter) {
  auto y = ranked(getY());
  // A slice would accept other sizes, so that what is required of sizes has to be known as a fact first.
  if (!y || !isSized(getY()) || !requirementsOf(*this).empty()) {
    return failure();
  }
  auto list = [&](ArrayRef<int64_t> v) { return makeIntegers(rewriter, getLoc(), v); };
  int64_t top = getBorder()[1], left = getBorder()[0];
  Size bottom = sizeOf(y, 2) + top, right = sizeOf(y, 3) + left;
  Value ends = makeSizes(rewriter, getLoc(), {bottom, right});
  rewriter.replaceOp(*this,
                     make<SliceOp>(rewriter, getLoc(), {getData(), list({top, left}), ends, list({2, 3}), Value()}));
  return success();
}

// These belong to CenterCropPad.

/// Returns the axes that `shape` is about, in its order; nothing when they are wrong, or not known yet.
static std::optional<SmallVector<int64_t>> croppedAxes(CenterCropPadOp op) {
  int64_t rank = ranked(op.getData()).getRank();
  SmallVector<int64_t> axes;
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t given : op.getAxes().value_or(all)) {
    auto axis = normalAxis(given, rank);
    if (!axis || llvm::is_contained(axes, *axis)) {
      return std::nullopt;
    }
    axes.push_back(*axis);
  }
  bool fits = succeeded(requireLength(op, op.getShape(), static_cast<int64_t>(axes.size())));
  return fits ? std::optional(axes) : std::nullopt;
}

LogicalResult CenterCropPadOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData()), shape = ranked(getShape());
  if (!data || !shape) {
    auto rank = data || getAxes() ? knownRank(getData()) : entriesOf(getShape());
    return push(types, typeOfRank(*this, rank, elementOf(getData())));
  }
  auto axes = croppedAxes(*this);
  auto wanted = sizesIn(getShape());
  if (!axes || (wanted && llvm::any_of(*wanted, [](const Size &s) { return s.isNumber() && s.number() < 0; }))) {
    return emitOpError("axes and sizes of type ") << shape << " do not fit " << data;
  }
  Sizes sizes = sizesOf(data);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    sizes[axis] = wanted ? (*wanted)[i] : Size::unknown();
  }
  types.push_back(sizedType(sizes, data.getElementType()));
  return success();
}

/// Returns the constant false or 0, which has no axes.
static Value zeroOf(Formula &f, Type element) {
  return makeConstant(f.b, f.loc,
                      isBool(element)           ? DenseElementsAttr::get(tensorOf({}, element), false)
                      : isa<FloatType>(element) ? constantFromFloats(tensorOf({}, element), {0.0})
                                                : constantFromIntegers(tensorOf({}, element), {0}));
}

/// Writes a crop or a pad of an axis, of which half lies before, rounded down. Where it is not known which of the two
/// it is, the elements further on by that difference are read, if there are any.
LogicalResult CenterCropPadOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getData()) || !ranked(getY()) || !isStatic(getShape())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  auto axes = croppedAxes(*this);
  auto wanted = sizesIn(getShape());
  Value y = getData(), zero = zeroOf(f, elementOf(y));
  int64_t rank = ranked(y).getRank();
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    Size d = sizeOf(ranked(y), axis), n = wanted ? (*wanted)[i] : Size::unknown(),
         kept = min(d, n).simplified(factsOf(*this));
    if (kept == n || (d.isNumber() && n.isNumber())) {
      Size cut = floorDiv(d - kept, 2), before = floorDiv(n - kept, 2);
      auto one = [&](const Size &size) { return makeSizes(f.b, f.loc, {size}); };
      Value place = makeIntegers(f.b, f.loc, {axis});
      y = kept == d ? y : f.op("Slice", {y, one(cut), one(cut + kept), place, Value()});
      y = kept == n ? y : f.op("Pad", {y, makeSizes(f.b, f.loc, {before, n - kept - before}), zero, place});
      continue;
    }
    Value index = makeInteger(f.b, f.loc, static_cast<int64_t>(i)), size = f.scalar(d), none = f.scalar(0);
    Value count = f.cast(f.op("Gather", {getShape(), index}, {f.integer("axis", 0)}), f.b.getI64Type(), 7);
    Value from = f.add(f.countTo(count), f.div(f.sub(size, count), f.scalar(2)));
    Value outside = f.op("Or", {f.op("Less", {from, none}), f.op("GreaterOrEqual", {from, size})});
    Value nearest = f.op("Max", {f.op("Min", {from, f.sub(size, f.scalar(1))}), none});
    y = f.op("Gather", {y, nearest}, {f.integer("axis", axis)});
    if (axis + 1 < rank) {
      SmallVector<int64_t> behind = llvm::to_vector(llvm::seq<int64_t>(1, rank - axis));
      outside = f.op("Unsqueeze", {outside, makeIntegers(f.b, f.loc, behind)});
    }
    y = f.op("Where", {outside, zero, y});
  }
  rewriter.replaceOp(*this, y);
  return success();
}

LogicalResult ImageScalerOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getData().getType());
  return success();
}
LogicalResult ImageScalerOp::decompose(PatternRewriter &rewriter) {
  auto data = ranked(getData());
  if (!data || data.getRank() != 4) {
    return failure();
  }
  Location loc = getLoc();
  SmallVector<double> bias(getBias().begin(), getBias().end());
  Type element = data.getElementType();
  Value shift = makeConstant(rewriter, loc,
                             constantFromFloats(tensorOf({static_cast<int64_t>(bias.size()), 1, 1}, element), bias));
  Value scaled =
      make<MulOp>(rewriter, loc, {getData(), makeNumber(rewriter, loc, getScale().convertToDouble(), element)});
  rewriter.replaceOp(*this, make<AddOp>(rewriter, loc, {scaled, shift}));
  return success();
}

void registerRearrange(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Rearrange.cpp.inc"
      >();
}

} // namespace ingot::onnx
