// Movements of elements to places that are known when the model is compiled: Transpose, Slice, Concat, Expand and Tile.
// An op describes itself as boxes with strides (movement()), from which constants are folded, views are found, and
// kernels are made. For x of [3, 4], row-major with strides (4, 1):
//
//   Transpose    one box, source strides (1, 4)
//   Slice        x[0:3:2, 1:3] is one box of [2, 2] at offset 1, strides (8, 1)
//   Expand       to [5, 3, 4]: strides (0, 4, 1)
//   Tile         by [2, 1]: the shape [2, 3, 4] with strides (0, 4, 1), whose first two axes are the result's first one
//   Concat       a box for each operand
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Move.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Bounds beyond this stand for "to the end".
static constexpr int64_t maxExtent = INT32_MAX - 1;

/// Returns a movement of one box, which is the whole result.
static Movement whole(ArrayRef<Size> shape, support::Strided<Size> source) {
  Sizes sizes(shape);
  return {sizes, {MovedBox{Sizes(shape.size(), 0), sizes, 0, std::move(source)}}, -1, {}};
}
static bool sizedEnds(Operation *op) { return isSized(op->getOperand(0)) && isSized(op->getResult(0)); }
static Sizes sizesOf(Value v) { return sizesOf(ranked(v)); }

// These belong to Transpose.

SmallVector<int64_t> TransposeOp::permutation() {
  if (getPerm() && !getPerm()->empty()) {
    return SmallVector<int64_t>(*getPerm());
  }
  auto data = ranked(getData());
  return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, data ? data.getRank() : 0)));
}

LogicalResult TransposeOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  if (!data) {
    bool isGiven = getPerm() && !getPerm()->empty();
    auto rank = isGiven ? std::optional(static_cast<int64_t>(getPerm()->size())) : std::nullopt;
    types.push_back(typeOfRank(rank, elementOf(getData())));
    return success();
  }
  SmallVector<int64_t> perm = permutation(), sorted = perm;
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, data.getRank()))) {
    return emitOpError("perm [") << llvm::make_range(perm.begin(), perm.end())
                                 << "] is not a permutation of the axes of " << data;
  }
  Sizes from = sizesOf(data), shape;
  for (int64_t axis : perm) {
    shape.push_back(from[axis]);
  }
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}

/// The result's axis i walks along the operand's axis perm[i].
std::optional<Movement> TransposeOp::movement() {
  if (!sizedEnds(*this)) {
    return std::nullopt;
  }
  Sizes from = rowMajorStrides(sizesOf(getData())), strides;
  for (int64_t axis : permutation()) {
    strides.push_back(from[axis]);
  }
  return whole(sizesOf(getY()), {0, strides});
}

// These belong to Slice.

namespace {
/// The part that a slice takes along one axis.
struct Cut {
  Size start = 0, size = Size::unknown();
  int64_t step = 1;
};
} // namespace

/// Returns a bound of a slice along an axis of `d` elements within [0, d]; unknown when its sign is not known.
static Size boundOf(const Size &bound, const Size &d, const support::Facts &facts) {
  if (bound.isNumber() && bound.number() < 0) {
    return max(bound.number() < -maxExtent ? Size(0) : d + bound, Size(0));
  }
  if (bound.isNumber() && bound.number() > maxExtent) {
    return d;
  }
  return bound.atLeast(0, facts) ? min(bound, d) : Size::unknown();
}

/// Clamps a bound of a slice that goes backwards to [least, d - 1]; the result is unknown when the bound's sign is.
static Size boundBackwards(const Size &bound, const Size &d, const Size &least, const support::Facts &facts) {
  if (bound.isNumber() && (bound.number() > maxExtent || bound.is(-1))) {
    return d - 1;
  }
  if (bound.isNumber() && bound.number() < 0) {
    return bound.number() < -maxExtent ? least : max(d + bound, least);
  }
  return bound.atLeast(0, facts) ? min(bound, d - 1) : Size::unknown();
}

/// Returns the part that a slice takes along an axis of `d` elements.
static Cut cutOf(const Size &start, const Size &end, int64_t step, const Size &d, const support::Facts &facts) {
  if (step > 0) {
    Size from = boundOf(start, d, facts);
    return {from, ceilDiv(max(boundOf(end, d, facts) - from, 0), step), step};
  }
  if (d.isNumber() && start.isNumber() && end.isNumber()) {
    int64_t n = d.number(), s = start.number(), e = end.number(), stride = step == INT64_MIN ? INT64_MAX : -step;
    s = std::clamp<int64_t>(s + (s < 0 ? n : 0), std::min<int64_t>(0, n - 1), n - 1);
    e = std::clamp<int64_t>(e + (e < 0 ? n : 0), -1, n - 1);
    return {s, s <= e ? 0 : (s - e - 1) / stride + 1, step};
  }
  Size from = boundBackwards(start, d, min(d, 1) - 1, facts), to = boundBackwards(end, d, -1, facts);
  if (step < -maxExtent || from.isUnknown() || to.isUnknown()) {
    return {Size::unknown(), Size::unknown(), step};
  }
  return {from, ceilDiv(max(from - to, 0), -step), step};
}

/// Returns a cut for each axis, from operands that are constants. Nothing when they are not; failure when they
/// contradict.
static FailureOr<std::optional<SmallVector<Cut>>> cutsOf(SliceOp op) {
  using Result = std::optional<SmallVector<Cut>>;
  auto data = ranked(op.getData());
  auto starts = sizesIn(op.getStarts()), ends = sizesIn(op.getEnds());
  auto axes = integersOf(op.getAxes()), steps = integersOf(op.getSteps());
  if (!data || !starts || !ends || (present(op.getAxes()) && !axes) || (present(op.getSteps()) && !steps)) {
    return Result();
  }
  size_t n = starts->size();
  support::Facts facts = factsOf(op);
  SmallVector<Cut> cuts(data.getRank());
  for (auto [cut, d] : llvm::zip_equal(cuts, sizesOf(data))) {
    cut.size = d;
  }
  for (size_t i = 0; i < n; ++i) {
    auto axis = normalAxis(axes ? (*axes)[i] : static_cast<int64_t>(i), data.getRank());
    int64_t step = steps ? (*steps)[i] : 1;
    if (!axis || step == 0) {
      return op.emitOpError(axis ? "step is zero" : "axis is outside of the operand's shape"), failure();
    }
    cuts[*axis] = cutOf((*starts)[i], (*ends)[i], step, cuts[*axis].size, facts);
  }
  return Result(std::move(cuts));
}

/// Whether there are as many ends, axes and steps as starts; open lengths are required to be equal.
static bool haveOneLength(SliceOp op) {
  auto starts = ranked(op.getStarts());
  return llvm::all_of(op->getOperands().drop_front(2), [&](Value v) {
    auto type = ranked(v);
    return !starts || !type ||
           succeeded(require(op, support::product(sizesOf(type)), support::product(sizesOf(starts))));
  });
}

/// Slices whose bounds are in data keep a rank, and sizes follow when a run reads them (graph/readers/Slice.cpp).
LogicalResult SliceOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (!haveOneLength(*this)) {
    return emitOpError("starts, ends, axes and steps have lengths that differ");
  }
  auto cuts = cutsOf(*this);
  if (failed(cuts)) {
    return failure();
  }
  auto data = ranked(getData());
  if (!data) {
    types.push_back(unrankedOf(elementOf(getData())));
  } else if (!*cuts) {
    types.push_back(sizedType(Sizes(data.getRank(), Size::unknown()), data.getElementType()));
  } else {
    types.push_back(sizedType(llvm::map_to_vector(**cuts, [](const Cut &c) { return c.size; }), data.getElementType()));
  }
  return success();
}

/// Where nothing is taken, or one element, start and stride along the axis are 0, so that no address is computed that
/// lies outside of the operand.
std::optional<Movement> SliceOp::movement() {
  if (!sizedEnds(*this)) {
    return std::nullopt;
  }
  auto cuts = cutsOf(*this);
  if (failed(cuts) || !*cuts || llvm::any_of(**cuts, [](const Cut &c) { return c.start.isUnknown(); })) {
    return std::nullopt;
  }
  support::Strided<Size> source(0, rowMajorStrides(sizesOf(getData())));
  for (auto [stride, cut] : llvm::zip_equal(source.strides, **cuts)) {
    source.offset = source.offset + (cut.size.is(0) ? Size(0) : cut.start * stride);
    stride = cut.size.is(0) || cut.size.is(1) ? Size(0) : stride * Size(cut.step);
  }
  return whole(sizesOf(getY()), source);
}

LogicalResult SliceOp::upgrade(Node &node) {
  if (node.opset < 10) {
    node.attributeToOperand("starts", 1);
    node.attributeToOperand("ends", 2);
    node.attributeToOperand("axes", 3);
  }
  return success();
}

// These belong to Concat.

/// Axes beside the joined one have to be equal; the number wins over an expression that is required to be equal to it.
LogicalResult ConcatOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getXs().front());
  Sizes shape;
  std::optional<int64_t> axis;
  for (Value x : getXs()) {
    auto type = ranked(x);
    if (!type) {
      types.push_back(typeOfRank(commonRank(getXs()), element));
      return success();
    }
    if (!axis) {
      axis = normalAxis(getAxis(), type.getRank());
      if (!axis) {
        return emitOpError("axis ") << static_cast<int64_t>(getAxis()) << " is outside of " << type;
      }
      shape = sizesOf(type);
      continue;
    }
    if (type.getRank() != static_cast<int64_t>(shape.size())) {
      return emitOpError("operands have ranks that differ");
    }
    for (auto [i, d] : llvm::enumerate(sizesOf(type))) {
      if (static_cast<int64_t>(i) == *axis) {
        shape[i] = shape[i] + d;
      } else if (failed(require(*this, shape[i], d))) {
        return emitOpError("operands differ along axis ") << i << ": " << shape[i].text() << " and " << d.text();
      } else {
        shape[i] = d.isNumber() || shape[i].isUnknown() ? d : shape[i];
      }
    }
  }
  types.push_back(sizedType(shape, element));
  return success();
}

std::optional<Movement> ConcatOp::movement() {
  if (!isSized(getY()) || !llvm::all_of(getXs(), isSized)) {
    return std::nullopt;
  }
  auto shapes = llvm::map_to_vector(getXs(), [](Value x) { return sizesOf(x); });
  return joined(shapes, joinAxis(), sizesOf(getY()));
}

int64_t ConcatOp::joinAxis() { return *normalAxis(getAxis(), ranked(getY()).getRank()); }

LogicalResult ConcatOp::upgrade(Node &node) {
  if (!node.attributes.get("axis")) { // opsets before 4 have a default
    node.attributes.set("axis", node.builder.getI64IntegerAttr(1));
  }
  return success();
}

// These belong to Expand and Tile.

LogicalResult ExpandOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  auto shape = sizesIn(getShape());
  if (!data || !shape) {
    auto rank = data ? entriesOf(getShape()) : std::nullopt;
    rank = rank ? std::optional(std::max(*rank, data.getRank())) : rank;
    return push(types, typeOfRank(*this, rank, elementOf(getData())));
  }
  auto wide = broadcast(*this, sizesOf(data), *shape);
  if (!wide) {
    return emitOpError("cannot expand ") << data << " to " << textOf(*shape);
  }
  types.push_back(sizedType(*wide, data.getElementType()));
  return success();
}

/// An axis that only the run knows to be 1 or not has a stride with a factor that is 0 or 1 there (strideFactor).
std::optional<Movement> ExpandOp::movement() {
  if (!sizedEnds(*this)) {
    return std::nullopt;
  }
  Sizes from = sizesOf(getData()), to = sizesOf(getY()), dense = rowMajorStrides(from), strides(to.size(), 0);
  for (size_t i = 0, shift = to.size() - from.size(); i < from.size(); ++i) {
    strides[shift + i] = dense[i] * strideFactor(from[i], to[shift + i]);
  }
  return whole(to, {0, strides});
}

LogicalResult TileOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  auto repeats = sizesIn(getRepeats());
  if (!data) {
    return push(types, typeOfRank(*this, entriesOf(getRepeats()), elementOf(getData())));
  }
  Sizes shape(data.getRank(), Size::unknown()), from = sizesOf(data);
  if (failed(requireLength(*this, getRepeats(), data.getRank()))) {
    return emitOpError("repeats of type ") << getRepeats().getType() << " for " << data.getRank() << " axes";
  }
  for (int64_t i = 0; repeats && i < data.getRank(); ++i) {
    if ((*repeats)[i].isNumber() && (*repeats)[i].number() < 0) {
      return emitOpError("repeats an axis ") << (*repeats)[i].number() << " times";
    }
    shape[i] = from[i] * (*repeats)[i];
  }
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}

// Returns the movement, in which each repeated axis is two: the repetitions, along which nothing moves, and the axis
// itself.
std::optional<Movement> TileOp::movement() {
  auto repeats = sizesIn(getRepeats());
  if (!sizedEnds(*this) || !repeats) {
    return std::nullopt;
  }
  Sizes from = sizesOf(getData()), dense = rowMajorStrides(from), shape, strides;
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!(*repeats)[i].is(1)) {
      shape.push_back((*repeats)[i]), strides.push_back(0), axes.push_back(i);
    }
    shape.push_back(from[i]), strides.push_back(dense[i]), axes.push_back(i);
  }
  Movement m = whole(shape, {0, strides});
  m.axes = axes;
  return m;
}

// Takes the definition of opset 1, which tiles one axis: its inputs are tiles and axis.
LogicalResult TileOp::upgrade(Node &node) {
  auto data = ranked(node.operand(0));
  if (node.opset >= 6) {
    return success();
  }
  // Both are numbers of the data's own type, which may be a float.
  auto tiles = wholeNumber(node.operand(1)), given = wholeNumber(node.operand(2));
  auto axis = data && given ? normalAxis(*given, data.getRank()) : std::nullopt;
  if (!axis || !tiles || *tiles < 0 || *tiles >= maxExtent) {
    return node.error("tiles along an axis that is not known at compile time");
  }
  SmallVector<int64_t> repeats(data.getRank(), 1);
  repeats[*axis] = *tiles;
  node.operands.resize(2);
  node.operands[1] = makeIntegers(node.builder, node.loc, repeats);
  return success();
}

void registerMove(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Move.cpp.inc"
      >();
}

} // namespace ingot::onnx
