#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Evaluate.h"
#include "compiler/onnx/Family.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Shape.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static constexpr int64_t unknown = ShapedType::kDynamic;

// Shape and Size.

/// The range of axes that a Shape of a tensor of `rank` axes gives.
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
LogicalResult ShapeOp::evaluate(ArrayRef<ElementsAttr>, SmallVectorImpl<ElementsAttr> &results) {
  if (!isStatic(getX())) {
    return failure();
  }
  auto x = ranked(getX());
  auto [start, end] = axesOf(*this, x.getRank());
  results.push_back(constantFromIntegers(ranked(getY()), x.getShape().slice(start, end - start)));
  return success();
}

LogicalResult SizeOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf({}, IntegerType::get(getContext(), 64)));
  return success();
}
LogicalResult SizeOp::evaluate(ArrayRef<ElementsAttr>, SmallVectorImpl<ElementsAttr> &results) {
  if (!isStatic(getX())) {
    return failure();
  }
  results.push_back(constantFromIntegers(ranked(getY()), {elements(ranked(getX()).getShape())}));
  return success();
}

// Reshape.

/// The result's shape from the wanted one: 0 copies the operand's dimension, -1 is what is left.
static LogicalResult reshapedShape(ReshapeOp op, ArrayRef<int64_t> wanted, SmallVectorImpl<int64_t> &shape) {
  auto x = ranked(op.getX());
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t d = wanted[i];
    if (d < -1) {
      return op.emitOpError("shape has a negative dimension ") << d;
    }
    if (d == 0 && !op.getAllowzero()) {
      if (x && static_cast<int64_t>(i) >= x.getRank()) {
        return op.emitOpError("shape copies dimension ") << i << " of an operand of " << x.getRank() << " dimensions";
      }
      d = x ? x.getDimSize(i) : unknown;
    } else if (d == -1) {
      if (open >= 0) {
        return op.emitOpError("shape has more than one dimension of -1");
      }
      open = i;
      shape.push_back(unknown);
      continue;
    }
    shape.push_back(d);
    known = known == unknown || ShapedType::isDynamic(d) ? unknown : known * d;
  }
  if (!x || !x.hasStaticShape() || known == unknown) {
    return success();
  }
  int64_t count = elements(x.getShape());
  if (open >= 0 && known != 0 && count % known == 0) {
    shape[open] = count / known;
  } else if (open >= 0 || known != count) {
    return op.emitOpError("cannot give ")
           << count << " elements the shape [" << llvm::make_range(wanted.begin(), wanted.end()) << "]";
  }
  return success();
}

LogicalResult ReshapeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getX());
  SmallVector<int64_t> shape;
  if (auto wanted = integersOf(getShape())) {
    if (failed(reshapedShape(*this, *wanted, shape))) {
      return failure();
    }
    types.push_back(tensorOf(shape, element));
    return success();
  }
  auto lengths = ranked(getShape());
  if (lengths && lengths.hasStaticShape() && lengths.getRank() == 1) {
    types.push_back(tensorOf(SmallVector<int64_t>(lengths.getDimSize(0), unknown), element));
  } else {
    types.push_back(unrankedOf(element));
  }
  return success();
}
LogicalResult ReshapeOp::upgrade(Node &node) {
  if (node.opset < 5) {
    node.attributeToOperand("shape", 1);
  }
  return success();
}

/// The operand in the result's shape.
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

// Views: Flatten, Squeeze, Unsqueeze.

static LogicalResult decomposeView(Operation *op, PatternRewriter &rewriter) {
  auto y = ranked(op->getResult(0));
  if (!y || llvm::count(y.getShape(), unknown) > 1) {
    return failure();
  }
  SmallVector<int64_t> shape =
      llvm::map_to_vector(y.getShape(), [](int64_t d) { return ShapedType::isDynamic(d) ? -1 : d; });
  Value wanted = makeIntegers(rewriter, op->getLoc(), shape);
  auto exact = rewriter.getNamedAttr("allowzero", rewriter.getI64IntegerAttr(1));
  rewriter.replaceOp(op, make<ReshapeOp>(rewriter, op->getLoc(), {op->getOperand(0), wanted}, {exact}));
  return success();
}

#define VIEW(Name)                                                                                                     \
  LogicalResult Name::decompose(PatternRewriter &rewriter) { return decomposeView(*this, rewriter); }                  \
  LogicalResult Name::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {              \
    return evaluateView(*this, operands, results);                                                                     \
  }
VIEW(FlattenOp)
VIEW(SqueezeOp)
VIEW(UnsqueezeOp)
#undef VIEW

static int64_t product(ArrayRef<int64_t> shape) {
  return llvm::is_contained(shape, unknown) ? unknown : elements(shape);
}

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
  types.push_back(
      tensorOf({product(x.getShape().take_front(axis)), product(x.getShape().drop_front(axis))}, x.getElementType()));
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

LogicalResult SqueezeOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  auto axes = present(getAxes()) ? integersOf(getAxes()) : std::nullopt;
  if (!x || (present(getAxes()) && !axes) || (!present(getAxes()) && !x.hasStaticShape())) {
    types.push_back(unrankedOf(elementOf(getX())));
    return success();
  }
  SmallVector<bool> gone;
  if (axes) {
    if (failed(markAxes(*this, *axes, x.getRank(), gone))) {
      return failure();
    }
  } else {
    gone = llvm::map_to_vector(x.getShape(), [](int64_t d) { return d == 1; });
  }
  SmallVector<int64_t> shape;
  for (auto [d, drop] : llvm::zip_equal(x.getShape(), gone)) {
    if (drop && d != 1 && d != unknown) {
      return emitOpError("squeezes a dimension of ") << d;
    }
    if (!drop) {
      shape.push_back(d);
    }
  }
  types.push_back(tensorOf(shape, x.getElementType()));
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
    types.push_back(unrankedOf(elementOf(getX())));
    return success();
  }
  SmallVector<bool> fresh;
  if (failed(markAxes(*this, *axes, x.getRank() + axes->size(), fresh))) {
    return failure();
  }
  SmallVector<int64_t> shape;
  unsigned next = 0;
  for (bool isNew : fresh) {
    shape.push_back(isNew ? 1 : x.getDimSize(next++));
  }
  types.push_back(tensorOf(shape, x.getElementType()));
  return success();
}
LogicalResult UnsqueezeOp::upgrade(Node &node) {
  node.attributeToOperand("axes", 1);
  return success();
}

// Identity and Dropout.

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
  types.push_back(cast<TensorType>(getX().getType()).clone(IntegerType::get(getContext(), 1)));
  return success();
}
LogicalResult DropoutOp::decompose(PatternRewriter &rewriter) {
  if (present(getTrainingMode()) && splatOf(getTrainingMode()) != 0.0) {
    return failure();
  }
  Value mask = getX();
  if (!getMask().use_empty()) {
    if (!isStatic(getX())) {
      return failure();
    }
    auto type = ranked(getMask());
    mask = makeConstant(rewriter, getLoc(), DenseElementsAttr::get(type, true));
  }
  rewriter.replaceOp(*this, {getX(), mask});
  return success();
}
LogicalResult DropoutOp::upgrade(Node &node) {
  for (StringRef name : {"ratio", "seed", "is_test"}) { // of training
    node.attributes.erase(name);
  }
  return success();
}

// Made from numbers.

LogicalResult ConstantOfShapeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = getValue() ? getValue()->getElementType() : Float32Type::get(getContext());
  auto shape = integersOf(getShape());
  auto lengths = ranked(getShape());
  if (shape && llvm::any_of(*shape, [](int64_t d) { return d < 0; })) {
    return emitOpError("shape has a negative dimension");
  }
  if (shape) {
    types.push_back(tensorOf(*shape, element));
  } else if (lengths && lengths.hasStaticShape() && lengths.getRank() == 1) {
    types.push_back(tensorOf(SmallVector<int64_t>(lengths.getDimSize(0), unknown), element));
  } else {
    types.push_back(unrankedOf(element));
  }
  return success();
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

/// Start and step of a Range whose operands are constants, and how many elements it has.
template <typename T> static int64_t rangeLength(T start, T limit, T delta) {
  double n = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
  return n > 0 ? static_cast<int64_t>(n) : 0;
}

LogicalResult RangeOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getStart());
  auto start = splatOf(getStart()), limit = splatOf(getLimit()), delta = splatOf(getDelta());
  if (delta == 0.0) {
    return emitOpError("delta is zero");
  }
  bool known = start && limit && delta;
  types.push_back(tensorOf({known ? rangeLength(*start, *limit, *delta) : unknown}, element));
  return success();
}
LogicalResult RangeOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  auto type = ranked(getY());
  if (!operands[0] || !operands[1] || !operands[2] || !type.hasStaticShape() ||
      type.getNumElements() > foldLimitBytes / 8) {
    return failure();
  }
  if (auto start = integersOf(operands[0]), delta = integersOf(operands[2]); start && delta) {
    SmallVector<int64_t> values;
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      values.push_back(start->front() + i * delta->front());
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
  if (!element) {
    return emitOpError("element type ") << *getDtype() << " is unsupported";
  }
  types.push_back(cast<TensorType>(getX().getType()).clone(element));
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

void registerShape(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Shape.cpp.inc"
      >();
}

} // namespace ingot::onnx
