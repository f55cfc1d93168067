// Makes tensors from numbers: a shape, bounds, or the number of a diagonal. Constants are computed here; where sizes
// are open, the result is written with ops whose sizes may be expressions.
//
//   ConstantOfShape [n, 4], value 2      Expand of the constant 2 to [n, 4]
//   Range from 0 to n by 2               has the size ceil(n / 2); a kernel counts (compiler/lower/families/Range.cpp)
//   EyeLike of [n, m], k = 1             column == row + 1, cast to the element type
#include "compiler/onnx/ops/Generators.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Generators.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

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
  // The distance of two numbers of 64 bits may have 65. The quotient is rounded away from zero: from 0 to 7 by 3 it is
  // (7 + 3 - 1) / 3 = 3.
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

/// Element i is start + i * delta, as in kernels, and not a running sum, in which the roundings of floats would add up.
/// Integers wrap around, for which C++ needs them to be unsigned.
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

void registerGenerators(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Generators.cpp.inc"
      >();
}

} // namespace ingot::onnx
