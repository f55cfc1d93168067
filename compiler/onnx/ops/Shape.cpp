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
#include "compiler/onnx/ops/Generators.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/rewriting/TrainingMode.h"
#include "compiler/onnx/sizes/Ranks.h"
#include "compiler/onnx/sizes/SizesInData.h"
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
static FailureOr<Sizes> reshapedShape(ReshapeOp op, ArrayRef<Size> wanted) {
  Sizes shape;
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
  // Types are inferred again when more sizes are known, so the comparison can wait until then.
  if (count.isUnknown() || known.isUnknown()) {
    return shape;
  }
  // The size for -1 is a quotient of expressions: [a, b, 8] to [0, -1] has 8 * a * b elements, of which the first axis
  // has a, and 8 * b are left. Where the other axes have no elements any size would do, which is an error below.
  if (open >= 0 && !known.is(0)) {
    shape[open] = floorDiv(count, known);
    known = known * shape[open];
  }
  if ((open >= 0 && shape[open].isUnknown()) || failed(require(op, count, known))) {
    return op.emitOpError("cannot give ") << count.text() << " elements the shape " << textOf(wanted);
  }
  return shape;
}

LogicalResult ReshapeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getX());
  if (auto wanted = sizesIn(getShape())) {
    FailureOr<Sizes> shape = reshapedShape(*this, *wanted);
    if (failed(shape)) {
      return failure();
    }
    types.push_back(sizedType(*shape, element));
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

/// Makes a view a Reshape, with -1 in the place of one size that is not known. What comes later (fusion, layouts, views
/// of buffers) then has one operator to look through instead of four.
static LogicalResult decomposeView(Operation *op, PatternRewriter &rewriter) {
  auto y = ranked(op->getResult(0));
  if (!y) {
    return failure();
  }
  Sizes shape = sizesOf(y);
  auto isOpen = [](const Size &s) { return s.isUnknown(); };
  support::Facts facts = factsOf(op);
  bool isDetermined = llvm::all_of(shape, [&](const Size &s) { return isOpen(s) || s.atLeast(1, facts); });
  // With no elements, -1 may be anything.
  if (int64_t open = llvm::count_if(shape, isOpen); open > 1 || (open == 1 && !isDetermined)) {
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

/// Axes before `axis` become the rows, the others the columns. A product of no axes is 1.
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

/// Returns which of `rank` axes are among `axes`, which may be negative; failure, with a message, where one is no axis.
static FailureOr<SmallVector<bool>> markedAxes(Operation *op, ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<bool> marked(rank, false);
  for (int64_t given : axes) {
    auto axis = normalAxis(given, rank);
    if (!axis || marked[*axis]) {
      return op->emitOpError("axis ") << given << (axis ? " is given twice" : " is outside of the shape");
    }
    marked[*axis] = true;
  }
  return marked;
}

/// Returns which axes have size 1, which go where none are given. Nothing where only the run knows which these are.
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

/// Constant axes give the type, axes in data at least the rank, by their number. Without axes those of size 1 go, as
/// long as the sizes tell which these are.
LogicalResult SqueezeOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  auto axes = present(getAxes()) ? integersOf(getAxes()) : std::nullopt;
  SmallVector<bool> gone;
  if (x && axes) {
    auto marked = markedAxes(*this, *axes, x.getRank());
    if (failed(marked)) {
      return failure();
    }
    gone = *marked;
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
  auto fresh = markedAxes(*this, *axes, x.getRank() + axes->size());
  if (failed(fresh)) {
    return failure();
  }
  Sizes from = sizesOf(x), shape;
  unsigned next = 0;
  for (bool isNew : *fresh) {
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
  // At most `count` new axes stand before an axis of the result, so that its size is 1 or that of one of the operand's
  // axes `axis - count` to `axis`: the largest of these bounds what the run reads.
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
/// Outside of training the operand is the result, and the mask is all true. Before opset 10 the mask had the type of
/// the operand and was not filled, for which zeros are as good as anything.
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
  warnIfItDrops(node, node.operand(1), node.operand(2));
  return success();
}

void registerShape(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Shape.cpp.inc"
      >();
}

} // namespace ingot::onnx
