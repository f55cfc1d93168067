// Computes with the shapes of tensors and changes them without moving elements. The result's sizes are expressions of
// symbols wherever the operand's are, and what an operator needs of them is required by the run (require()):
//
//   Reshape [a, b, 8] to [0, -1]        [a, 8 * b], because 8 * a * b is divided by a
//   Squeeze [1, n, 1], no axes          [n] where n cannot be 1, an If with two branches where it can
//   Unsqueeze, axes in data             a Reshape to sizes that the run reads (sizes/SizesInData.h)
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#include "compiler/onnx/sizes/SizesInData.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Shape.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static constexpr int64_t unknown = ShapedType::kDynamic;

// These belong to Shape and Size.

/// Returns the range of axes that a Shape of a tensor of `rank` axes gives.
static std::pair<int64_t, int64_t> axesOf(ShapeOp op, int64_t rank) {
  auto clamp = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  int64_t start = clamp(op.getStart()), end = op.getEnd() ? clamp(*op.getEnd()) : rank;
  return {start, std::max(start, end)};
}

LogicalResult ShapeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type i64 = IntegerType::get(getContext(), 64);
  int64_t length = unknown;
  if (auto x = ranked(getX())) {
    auto [start, end] = axesOf(*this, x.getRank());
    length = end - start;
  }
  types.push_back(tensorOf({length}, i64));
  return success();
}
Sizes sizesGiven(ShapeOp op) {
  Sizes sizes = sizesOf(ranked(op.getX()));
  auto [start, end] = axesOf(op, static_cast<int64_t>(sizes.size()));
  return Sizes(ArrayRef<Size>(sizes).slice(start, end - start));
}
LogicalResult ShapeOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  rewriter.replaceOp(*this, makeSizes(rewriter, getLoc(), sizesGiven(*this)));
  return success();
}

LogicalResult SizeOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf({}, IntegerType::get(getContext(), 64)));
  return success();
}
LogicalResult SizeOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Value count = makeSizes(rewriter, getLoc(), {product(sizesOf(ranked(getX())))}, ranked(getY()));
  rewriter.replaceOp(*this, count);
  return success();
}

// These belong to Reshape.

/// Computes the result's shape from the wanted one: 0 copies the operand's dimension, and -1 is what is left.
static LogicalResult reshapedShape(ReshapeOp op, ArrayRef<Size> wanted, Sizes &shape) {
  auto x = ranked(op.getX());
  Sizes from = x ? sizesOf(x) : Sizes();
  Size known = 1;
  int64_t open = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    Size d = wanted[i];
    if (d.isNumber() && d.number() < -1) {
      return op.emitOpError("shape has a negative dimension ") << d.number();
    }
    if (d.is(0) && !op.getAllowzero()) {
      if (x && i >= from.size()) {
        return op.emitOpError("shape copies dimension ") << i << " of an operand of " << x.getRank() << " dimensions";
      }
      d = x ? from[i] : Size::unknown();
    } else if (d.is(-1)) {
      if (open >= 0) {
        return op.emitOpError("shape has more than one dimension of -1");
      }
      open = i;
      shape.push_back(Size::unknown());
      continue;
    }
    shape.push_back(d);
    known = known * d;
  }
  Size count = x ? product(from) : Size::unknown();
  if (count.isUnknown() || known.isUnknown()) {
    return success();
  }
  if (open >= 0 && !known.is(0)) {
    shape[open] = floorDiv(count, known);
    known = known * shape[open];
  }
  if ((open >= 0 && shape[open].isUnknown()) || failed(require(op, count, known))) {
    return op.emitOpError("cannot give ") << count.text() << " elements the shape " << textOf(wanted);
  }
  return success();
}

LogicalResult ReshapeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getX());
  Sizes shape;
  if (auto wanted = sizesIn(getShape())) {
    if (failed(reshapedShape(*this, *wanted, shape))) {
      return failure();
    }
    types.push_back(sizedType(shape, element));
    return success();
  }
  return push(types, typeOfRank(*this, entriesOf(getShape()), element));
}
LogicalResult ReshapeOp::upgrade(Node &node) {
  if (node.opset < 5) {
    node.attributeToOperand("shape", 1);
  }
  return success();
}

/// Computes the operand in the result's shape.
static LogicalResult evaluateView(Operation *op, ArrayRef<ElementsAttr> operands,
                                  SmallVectorImpl<ElementsAttr> &results) {
  if (!operands[0] || !isStatic(op->getResult(0))) {
    return failure();
  }
  results.push_back(reshaped(operands[0], ranked(op->getResult(0))));
  return success();
}
LogicalResult ReshapeOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  return evaluateView(*this, operands, results);
}

std::optional<Size> ReshapeOp::viewOffset() { return Size(0); }

// These belong to views: Flatten, Squeeze and Unsqueeze.

static LogicalResult decomposeView(Operation *op, PatternRewriter &rewriter) {
  auto y = ranked(op->getResult(0));
  if (!y) {
    return failure();
  }
  Sizes shape = sizesOf(y);
  auto isOpen = [](const Size &s) { return s.isUnknown(); };
  support::Facts facts = factsOf(op);
  bool tells = llvm::all_of(shape, [&](const Size &s) { return isOpen(s) || s.atLeast(1, facts); });
  // With no elements, -1 may be anything.
  if (int64_t open = llvm::count_if(shape, isOpen); open > 1 || (open == 1 && !tells)) {
    return failure();
  }
  for (Size &s : shape) {
    s = s.isUnknown() ? Size(-1) : s;
  }
  rewriter.replaceOp(op, Formula(rewriter, op->getLoc()).reshapeTo(op->getOperand(0), shape));
  return success();
}

#define VIEW(Name)                                                                                                     \
  LogicalResult Name::decompose(PatternRewriter &rewriter) { return decomposeView(*this, rewriter); }                  \
  LogicalResult Name::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {              \
    return evaluateView(*this, operands, results);                                                                     \
  }
VIEW(FlattenOp)
#undef VIEW

LogicalResult FlattenOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  if (!x) {
    types.push_back(tensorOf({unknown, unknown}, elementOf(getX())));
    return success();
  }
  int64_t given = getAxis(), axis = given < 0 ? given + x.getRank() : given;
  if (axis < 0 || axis > x.getRank()) {
    return emitOpError("axis ") << given << " is outside of " << x;
  }
  Sizes sizes = sizesOf(x);
  ArrayRef<Size> all(sizes);
  types.push_back(sizedType({product(all.take_front(axis)), product(all.drop_front(axis))}, x.getElementType()));
  return success();
}

/// Marks `axes` (possibly negative) of `rank` axes.
static LogicalResult markAxes(Operation *op, ArrayRef<int64_t> axes, int64_t rank, SmallVectorImpl<bool> &marked) {
  marked.assign(rank, false);
  for (int64_t given : axes) {
    auto axis = normalAxis(given, rank);
    if (!axis || marked[*axis]) {
      return op->emitOpError("axis ") << given << (axis ? " is given twice" : " is outside of the shape");
    }
    marked[*axis] = true;
  }
  return success();
}

/// Marks the axes of size 1, which go where none are given. Nothing where only the run knows which these are.
static std::optional<SmallVector<bool>> onesOf(ArrayRef<Size> sizes, const support::Facts &facts) {
  bool known = llvm::all_of(sizes, [&](const Size &d) { return d.isNumber() || !d.mayBeOne(facts); });
  auto isOne = [](const Size &d) { return d.is(1); };
  return known ? std::optional(llvm::map_to_vector(sizes, isOne)) : std::nullopt;
}

/// Squeezes the axes `gone`, and those of `open` that are 1 in a run.
static Value squeezeOpen(OpBuilder &b, Location loc, Value x, SmallVector<int64_t> gone, ArrayRef<int64_t> open) {
  if (open.empty()) {
    return gone.empty() ? x : make<SqueezeOp>(b, loc, {x, makeIntegers(b, loc, gone)});
  }
  Value size = makeSizes(b, loc, {sizeOf(ranked(x), open.front())}, tensorOf({1}, b.getI64Type()));
  Value isOne = make<EqualOp>(b, loc, {size, makeIntegers(b, loc, {1})});
  auto branch = IfOp::create(b, loc, TypeRange(unrankedOf(elementOf(x))), isOne);
  for (bool then : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(then ? &branch.getThenBranch() : &branch.getElseBranch());
    SmallVector<int64_t> all = gone;
    if (then) {
      all.push_back(open.front());
    }
    YieldOp::create(b, loc, squeezeOpen(b, loc, x, all, open.drop_front()));
  }
  return branch->getResult(0);
}

/// Returns how many axes an operand names that is no constant; nothing where their number is not known, either.
static std::optional<int64_t> axesInData(Value axes) {
  bool known = isStatic(axes) && !integersOf(axes);
  return known ? std::optional(ranked(axes).getNumElements()) : std::nullopt;
}

LogicalResult SqueezeOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  auto axes = present(getAxes()) ? integersOf(getAxes()) : std::nullopt;
  SmallVector<bool> gone;
  if (x && axes && failed(markAxes(*this, *axes, x.getRank(), gone))) {
    return failure();
  }
  if (x && !present(getAxes())) {
    gone = onesOf(sizesOf(x), factsOf(*this)).value_or(SmallVector<bool>());
  }
  if (!x || gone.size() != static_cast<size_t>(x.getRank())) {
    auto count = x && present(getAxes()) ? axesInData(getAxes()) : std::nullopt;
    Type element = elementOf(getX());
    bool ranked = count && *count < x.getRank();
    return push(types, typeOfRank(*this, ranked ? std::optional(x.getRank() - *count) : std::nullopt, element));
  }
  Sizes shape;
  for (auto [d, drop] : llvm::zip_equal(sizesOf(x), gone)) {
    if (!drop) {
      shape.push_back(d);
    } else if (failed(require(*this, d, 1))) {
      return emitOpError("squeezes a dimension of ") << d.text();
    }
  }
  types.push_back(sizedType(shape, x.getElementType()));
  return success();
}
LogicalResult SqueezeOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  return evaluateView(*this, operands, results);
}
/// Squeezes axes that data names: they have size 1, or the run fails.
static LogicalResult squeezeByData(SqueezeOp op, PatternRewriter &rewriter) {
  int64_t count = *axesInData(op.getAxes());
  if (!isSized(op.getX()) || sizeReadingIn(op) == SizeReading::No || count == 0 ||
      count > ranked(op.getX()).getRank()) {
    return failure();
  }
  Sizes sizes = sizesOf(ranked(op.getX()));
  int64_t left = static_cast<int64_t>(sizes.size()) - count;
  SizesInData data(op, rewriter);
  Formula &f = data.f;
  SizesInData::Axes axes = data.axesIn(op.getAxes(), count, static_cast<int64_t>(sizes.size()));
  Value longer = f.op("Not", {f.op("Equal", {data.list(sizes), f.scalar(1)})});
  Value wrong = data.any(f.op("And", {longer, f.op("Greater", {axes.named, f.scalar(0)})}));
  Value bad = f.op("Or", {wrong, f.op("Or", {axes.outside, data.namedTwice(axes)})});
  rewriter.replaceOp(op, left == 0 ? f.reshapeTo(data.failIf(bad, op.getX()), {})
                                   : f.reshapeTo(op.getX(), data.unnamed(axes, sizes, left, bad)));
  return success();
}

/// Where an open size may be 1, the rank depends on the run. That is decided late, when no requirement elsewhere can
/// tell it any more, and for few axes, since each doubles the number of branches.
LogicalResult SqueezeOp::decompose(PatternRewriter &rewriter) {
  auto x = ranked(getX());
  if (present(getAxes()) && axesInData(getAxes())) {
    return squeezeByData(*this, rewriter);
  }
  if (!x || present(getAxes()) || ranked(getY())) {
    return decomposeView(*this, rewriter);
  }
  SmallVector<int64_t> gone, open;
  for (auto [axis, d] : llvm::enumerate(sizesOf(x))) {
    if (d.mayBeOne(factsOf(*this))) {
      (d.isNumber() ? gone : open).push_back(static_cast<int64_t>(axis));
    }
  }
  bool isResult =
      llvm::any_of(getY().getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
  if (getY().hasOneUse() && declaredRank(getY()) >= x.getRank() - static_cast<int64_t>(gone.size())) {
    open.clear(); // the model itself says that these axes stay
  }
  size_t mostOpen = isResult ? 1 : 2;                   // all ways behind the Squeeze are compiled
  bool mayBeSolved = !open.empty() && !isSolved(*this); // requirements elsewhere may tell that a size is 1, or not
  if (!isSized(getX()) || mayBeSolved || open.size() > mostOpen) {
    return failure();
  }
  rewriter.replaceOp(*this, squeezeOpen(rewriter, getLoc(), getX(), gone, open));
  return success();
}
LogicalResult SqueezeOp::upgrade(Node &node) {
  node.attributeToOperand("axes", 1);
  return success();
}

LogicalResult UnsqueezeOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  auto axes = integersOf(getAxes());
  if (!x || !axes) {
    auto count = x ? axesInData(getAxes()) : std::nullopt;
    Type element = elementOf(getX());
    return push(types, typeOfRank(*this, count ? std::optional(x.getRank() + *count) : std::nullopt, element));
  }
  SmallVector<bool> fresh;
  if (failed(markAxes(*this, *axes, x.getRank() + axes->size(), fresh))) {
    return failure();
  }
  Sizes from = sizesOf(x), shape;
  unsigned next = 0;
  for (bool isNew : fresh) {
    shape.push_back(isNew ? Size(1) : from[next++]);
  }
  types.push_back(sizedType(shape, x.getElementType()));
  return success();
}
LogicalResult UnsqueezeOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  return evaluateView(*this, operands, results);
}

/// Unsqueezes axes that data names: each size of the result is 1, or that of one of the operand's axes.
static LogicalResult unsqueezeByData(UnsqueezeOp op, PatternRewriter &rewriter) {
  auto y = ranked(op.getY());
  if (!y || !isSized(op.getX()) || sizeReadingIn(op) == SizeReading::No) {
    return failure();
  }
  Sizes sizes = sizesOf(ranked(op.getX())), bounds;
  int64_t count = *axesInData(op.getAxes()), rank = static_cast<int64_t>(sizes.size());
  SizesInData data(op, rewriter);
  Formula &f = data.f;
  SizesInData::Axes axes = data.axesIn(op.getAxes(), count, y.getRank());
  Value bad = f.op("Or", {axes.outside, data.namedTwice(axes)});
  if (llvm::all_of(sizes, [](const Size &size) { return size.is(1); })) {
    rewriter.replaceOp(op, f.reshapeTo(data.failIf(bad, op.getX()), Sizes(y.getRank(), 1)));
    return success();
  }
  Value place = f.op("Min", {data.rankAmongUnnamed(axes.named), f.scalar(rank - 1)});
  Value from = f.op("Gather", {data.list(sizes), place}, {f.integer("axis", 0)});
  Value to = data.where(f.op("Greater", {axes.named, f.scalar(0)}), f.scalar(1), from);
  for (int64_t axis = 0; axis < y.getRank(); ++axis) {
    Size most = 1;
    for (int64_t i = std::max<int64_t>(0, axis - count); i <= std::min(axis, rank - 1); ++i) {
      most = max(most, sizes[i]);
    }
    bounds.push_back(most);
  }
  rewriter.replaceOp(op, f.reshapeTo(op.getX(), data.readAll(data.orNegative(bad, to), bounds)));
  return success();
}
LogicalResult UnsqueezeOp::decompose(PatternRewriter &rewriter) {
  return axesInData(getAxes()) ? unsqueezeByData(*this, rewriter) : decomposeView(*this, rewriter);
}
LogicalResult UnsqueezeOp::upgrade(Node &node) {
  node.attributeToOperand("axes", 1);
  return success();
}

// These belong to Identity and Dropout.

LogicalResult IdentityOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getX().getType());
  return success();
}
LogicalResult IdentityOp::decompose(PatternRewriter &rewriter) {
  rewriter.replaceOp(*this, getX());
  return success();
}

LogicalResult DropoutOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getX().getType());
  types.push_back(getUnfilledMask() ? getX().getType()
                                    : cast<TensorType>(getX().getType()).clone(IntegerType::get(getContext(), 1)));
  return success();
}
LogicalResult DropoutOp::decompose(PatternRewriter &rewriter) {
  // In training it drops at random, unless it drops nothing.
  bool keepsAll = present(getRatio()) && splatNumber(getRatio()) == 0.0;
  if (!keepsAll && present(getTrainingMode()) && splatNumber(getTrainingMode()) != 0.0) {
    return isSized(getX()) && !getUnfilledMask() ? train(rewriter) : failure();
  }
  Value mask = getX();
  if (!getMask().use_empty()) {
    if (!isSized(getX())) {
      return failure();
    }
    ElementsAttr value = DenseElementsAttr::get(tensorOf({1}, rewriter.getI1Type()), true);
    if (getUnfilledMask()) {
      value = constantFromFloats(tensorOf({1}, elementOf(getX())), {0.0});
    }
    mask = make<ConstantOfShapeOp>(rewriter, getLoc(), {makeSizes(rewriter, getLoc(), sizesOf(ranked(getX())))},
                                   {rewriter.getNamedAttr("value", value)});
  }
  rewriter.replaceOp(*this, {getX(), mask});
  return success();
}
/// Writes what training does, which a run may be told only then: elements whose random number is less than the ratio
/// are dropped, and the others grow to make up for it.
LogicalResult DropoutOp::train(PatternRewriter &rewriter) {
  Formula f(rewriter, getLoc());
  Value x = getX(), ratio = present(getRatio()) ? getRatio() : f.number(0.5, x);
  int64_t number = numberOfElement(elementOf(x));
  ratio = f.cast(f.reshape(ratio, {}), elementOf(x), number);
  Value drawn = f.op("RandomUniformLike", {x}, {f.number("seed", getSeed().value_or(0))});
  Value keeps = f.op("GreaterOrEqual", {drawn, ratio});
  keeps = f.op("Or", {keeps, f.op("Not", {f.reshape(getTrainingMode(), {})})});
  Value scale = f.div(f.number(1, x), f.sub(f.number(1, x), ratio));
  Value trained = f.op("Where", {keeps, f.mul(x, scale), f.number(0, x)});
  rewriter.replaceOp(*this, {f.op("Where", {f.reshape(getTrainingMode(), {}), trained, x}), keeps});
  return success();
}
LogicalResult DropoutOp::upgrade(Node &node) {
  for (StringRef name : {"ratio", "is_test"}) { // these attributes are for training
    node.attributes.erase(name);
  }
  if (node.opset < 10) {
    node.attributes.set("unfilled_mask", node.builder.getUnitAttr());
  }
  return success();
}

// These make tensors from numbers.

LogicalResult ConstantOfShapeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = getValue() ? getValue()->getElementType() : Float32Type::get(getContext());
  auto shape = sizesIn(getShape());
  if (shape && llvm::any_of(*shape, [](const Size &d) { return d.isNumber() && d.number() < 0; })) {
    return emitOpError("shape has a negative dimension");
  }
  return push(types, shape ? Type(sizedType(*shape, element)) : typeOfRank(*this, entriesOf(getShape()), element));
}
LogicalResult ConstantOfShapeOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  if (!isStatic(getY())) {
    return failure();
  }
  auto y = ranked(getY());
  results.push_back(
      splatConstant(y, getValue() ? *getValue() : constantFromFloats(tensorOf({1}, y.getElementType()), {0.0})));
  return success();
}

/// Repeats one element.
LogicalResult ConstantOfShapeOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getY()) || isStatic(getY())) {
    return failure();
  }
  Type element = elementOf(getY());
  ElementsAttr value = getValue() ? *getValue() : constantFromFloats(tensorOf({1}, element), {0.0});
  Value one = makeConstant(rewriter, getLoc(), splatConstant(tensorOf({}, element), value));
  rewriter.replaceOp(*this, make<ExpandOp>(rewriter, getLoc(), {one, getShape()}));
  return success();
}

/// Returns how many elements a Range of constants has; a number far outside of possible sizes where there are more.
static int64_t rangeLength(Type element, const Number &start, const Number &limit, const Number &delta) {
  if (isa<FloatType>(element)) {
    return std::max<int64_t>(0, wholePart(std::ceil((*limit.real() - *start.real()) / *delta.real())));
  }
  auto wide = [](const Number &n) -> __int128 { return n.integer() ? __int128(*n.integer()) : __int128(*n.natural()); };
  __int128 distance = wide(limit) - wide(start), step = wide(delta);
  __int128 length = (distance + step - (step > 0 ? 1 : -1)) / step;
  return static_cast<int64_t>(std::clamp<__int128>(length, 0, 1LL << 48));
}

LogicalResult RangeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getStart());
  auto start = splatNumber(getStart()), limit = splatNumber(getLimit()), delta = splatNumber(getDelta());
  if (delta == 0) {
    return emitOpError("delta is zero");
  }
  for (Value v : getOperands()) {
    if (!mayBeNumber(v)) {
      return emitOpError("has an operand of type ") << v.getType() << ", which is not one number";
    }
  }
  Size from = numberIn(getStart()), to = numberIn(getLimit()), length = Size::unknown();
  if (start && limit && delta) {
    length = rangeLength(element, *start, *limit, *delta);
  } else if (!from.isUnknown() && !to.isUnknown() && delta && delta->integer() >= 1) {
    length = ceilDiv(max(to - from, 0), *delta->integer());
  }
  types.push_back(sizedType({length}, element));
  return success();
}
/// Drops `stash_type`, which changes nothing here.
LogicalResult RangeOp::upgrade(Node &node) {
  node.attributes.erase("stash_type"); // floats of 16 bits are computed in float32, whatever it says
  return success();
}

/// The limit is a parameter, since the result's size tells it.
bool RangeOp::isParameter(unsigned operand) { return operand == 1; }

LogicalResult RangeOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  auto type = ranked(getY());
  if (!operands[0] || !operands[1] || !operands[2] || !type.hasStaticShape() ||
      type.getNumElements() > foldLimitBytes / 8) {
    return failure();
  }
  if (auto start = integersOf(operands[0]), delta = integersOf(operands[2]); start && delta) {
    SmallVector<int64_t> values;
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      auto moved = static_cast<uint64_t>(i) * static_cast<uint64_t>(delta->front());
      values.push_back(static_cast<int64_t>(static_cast<uint64_t>(start->front()) + moved));
    }
    results.push_back(constantFromIntegers(type, values));
    return success();
  }
  auto start = floatsOf(operands[0]), delta = floatsOf(operands[2]);
  if (!start || !delta) {
    return failure();
  }
  SmallVector<double> values;
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    values.push_back(start->front() + static_cast<double>(i) * delta->front());
  }
  results.push_back(constantFromFloats(type, values));
  return success();
}

LogicalResult EyeLikeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = getDtype() ? elementOfNumber(*getDtype(), getContext()) : elementOf(getX());
  if (!element || isString(element)) {
    int64_t number = getDtype().value_or(element ? numberOfElement(element) : 0);
    return emitOpError("element type ") << number << " is unsupported";
  }
  auto x = ranked(getX());
  types.push_back(x ? Type(sizedType(sizesOf(x), element)) : typeOfRank(2, element));
  return success();
}
LogicalResult EyeLikeOp::evaluate(ArrayRef<ElementsAttr>, SmallVectorImpl<ElementsAttr> &results) {
  auto y = ranked(getY());
  if (!isStatic(getY()) || y.getRank() != 2) {
    return failure();
  }
  int64_t columns = y.getDimSize(1);
  SmallVector<int64_t> ones(y.getNumElements(), 0);
  for (int64_t row = 0; row < y.getDimSize(0); ++row) {
    int64_t column = row + static_cast<int64_t>(getK());
    if (column >= 0 && column < columns) {
      ones[row * columns + column] = 1;
    }
  }
  if (isa<FloatType>(y.getElementType())) {
    results.push_back(constantFromFloats(y, SmallVector<double>(ones.begin(), ones.end())));
  } else {
    results.push_back(constantFromIntegers(y, ones));
  }
  return success();
}

/// Writes a matrix of open sizes: it is one where the number of a column is `k` more than that of its row.
LogicalResult EyeLikeOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getY()) || isStatic(getY()) || ranked(getY()).getRank() != 2) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Sizes shape = sizesOf(ranked(getY()));
  Value row = f.add(f.countTo(f.scalar(shape[0])), f.scalar(static_cast<int64_t>(getK())));
  Value here = f.op("Equal", {f.countTo(f.scalar(shape[1])), f.reshapeTo(row, {shape[0], 1})});
  Type element = elementOf(getY());
  rewriter.replaceOp(*this, f.cast(here, element, numberOfElement(element)));
  return success();
}

void registerShape(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Shape.cpp.inc"
      >();
}

} // namespace ingot::onnx
