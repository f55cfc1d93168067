// Operators whose results have as many elements as data says, and the reading of single sizes. Their last result, which
// the standard does not have, is the number itself: the run reads it there (sizes/DataDependentSizes.h). Its bound
// follows from the operands:
//
//   NonZero             all elements
//   NonMaxSuppression   batches * classes * the smaller of boxes and limit
//   Unique              all elements, or the slices along the axis
//
// Unique of strings is one of numbers: equal strings get one number, and the strings come back by a Gather.
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Ranks.h"
#include "compiler/onnx/text/Texts.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Find.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static Type int64In(Operation *op) { return IntegerType::get(op->getContext(), 64); }
/// Returns the type of the last result.
static Type countType(Operation *op) { return tensorOf({}, int64In(op)); }

// These belong to NonZero.

/// Returns which elements of a constant are not zero.
static std::optional<SmallVector<bool>> marksOf(Value v) {
  if (auto integers = integersOf(v)) {
    return llvm::map_to_vector(*integers, [](int64_t x) { return x != 0; });
  }
  if (auto floats = floatsOf(v)) {
    return llvm::map_to_vector(*floats, [](double x) { return x != 0; });
  }
  return std::nullopt;
}

LogicalResult NonZeroOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  if (!x) {
    types.assign({typeOfRank(2, int64In(*this)), countType(*this)});
    return success();
  }
  auto marks = marksOf(getX());
  Size count =
      marks ? Size(static_cast<int64_t>(llvm::count(*marks, true))) : dataDependentSize(*this, product(sizesOf(x)));
  types.assign({sizedType({std::max<int64_t>(1, x.getRank()), count}, int64In(*this)), countType(*this)});
  return success();
}

/// Computes the places in a constant.
LogicalResult NonZeroOp::decompose(PatternRewriter &rewriter) {
  auto marks = marksOf(getX());
  auto y = ranked(getY());
  if (!marks || !isStatic(getY())) {
    return failure();
  }
  SmallVector<int64_t> shape(ranked(getX()).getShape()), values;
  shape.resize(y.getDimSize(0), 1);
  for (auto [d, stride] : llvm::zip_equal(shape, rowMajorStrides(ArrayRef<int64_t>(shape)))) {
    for (auto [i, marked] : llvm::enumerate(*marks)) {
      if (marked) {
        values.push_back(static_cast<int64_t>(i) / stride % d);
      }
    }
  }
  rewriter.replaceOp(*this, {makeConstant(rewriter, getLoc(), constantFromIntegers(y, values)),
                             makeInteger(rewriter, getLoc(), y.getDimSize(1))});
  return success();
}

// These belong to NonMaxSuppression.

LogicalResult NonMaxSuppressionOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto boxes = ranked(getBoxes()), scores = ranked(getScores());
  if (!boxes || !scores) {
    types.assign({tensorOf({ShapedType::kDynamic, 3}, int64In(*this)), countType(*this)});
    return success();
  }
  Sizes b = boxes.getRank() == 3 ? sizesOf(boxes) : Sizes(), s = scores.getRank() == 3 ? sizesOf(scores) : Sizes();
  if (b.empty() || s.empty() || failed(require(*this, b[0], s[0])) || failed(require(*this, b[1], s[2])) ||
      failed(require(*this, b[2], 4))) {
    return emitOpError("needs boxes [batches, boxes, 4] and scores [batches, classes, boxes], not ")
           << boxes << " and " << scores;
  }
  for (Value v : {getMaxOutput(), getIouThreshold(), getScoreThreshold()}) {
    auto type = present(v) ? ranked(v) : RankedTensorType();
    if (type && llvm::any_of(sizesOf(type), [&](const Size &d) { return failed(require(*this, d, 1)); })) {
      return emitOpError("needs a limit and thresholds of one element");
    }
  }
  Size limit = present(getMaxOutput()) ? numberIn(getMaxOutput()) : Size(0);
  Size each = limit.isUnknown() ? s[2] : max(min(s[2], limit), 0);
  Size count = dataDependentSize(*this, s[0] * s[1] * each);
  types.assign({sizedType({count, 3}, int64In(*this)), countType(*this)});
  return success();
}

// These belong to Unique.

/// Returns the first places of numbers that are 0, 1, ... for things that differ, and how many of each there are.
static std::pair<Value, Value> firstAndCounts(Formula &f, Value numbers) {
  Size length = sizesOf(ranked(numbers)).front();
  auto text = [&](StringRef reduction) { return f.b.getNamedAttr("reduction", f.b.getStringAttr(reduction)); };
  Value none = f.zeros({length}, f.b.getI64Type());
  Value most = f.reduce("ReduceMax", f.op("Concat", {numbers, makeIntegers(f.b, f.loc, {-1})}, {f.integer("axis", 0)}),
                        {0}, /*keepdims=*/true);
  Value found = f.add(most, makeIntegers(f.b, f.loc, {1}));
  auto gather = [&](Value into, Value what, StringRef reduction) {
    Value all = f.op("ScatterElements", {into, numbers, what}, {f.integer("axis", 0), text(reduction)});
    return f.op("Slice", {all, makeIntegers(f.b, f.loc, {0}), found, Value(), Value()});
  };
  return {gather(f.add(none, f.scalar(length)), f.countTo(f.scalar(length)), "min"),
          gather(none, f.add(none, f.scalar(1)), "add")};
}

/// Writes Unique of strings as one of numbers that stand for them, and takes the strings at the first place of each
/// number.
LogicalResult UniqueOp::upgrade(Node &node) {
  if (failed(node.needs(1)) || !isString(elementOf(node.operand(0)))) {
    return node.needs(1);
  }
  Value x = node.operand(0);
  if (!ranked(x)) {
    return node.error("takes strings of unknown rank, which is unsupported");
  }
  Formula f(node.builder, node.loc);
  bool isSorted = node.integer("sorted", 1) != 0;
  if (!node.attributes.get("axis")) {
    Value flat = f.reshape(x, {-1}), numbers = ranks(f, flat, isSorted);
    auto [first, counts] = firstAndCounts(f, numbers);
    node.results = {f.op("Gather", {flat, first}), first, numbers, counts};
    return success();
  }
  NamedAttribute axis = f.integer("axis", node.integer("axis", 0));
  Operation *unique =
      createOp(f.b, f.loc, getOperationName(), {ranks(f, x, isSorted)}, {f.integer("sorted", isSorted), axis}, 5);
  node.results = {f.op("Gather", {x, unique->getResult(1)}, {axis}), unique->getResult(1), unique->getResult(2),
                  unique->getResult(3)};
  return success();
}

LogicalResult UniqueOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  Type i64 = int64In(*this), element = elementOf(getX());
  if (!x) {
    Type list = typeOfRank(1, i64);
    types.assign({typeOfRank(getAxis() ? std::nullopt : std::optional<int64_t>(1), element), list, list, list,
                  countType(*this)});
    return success();
  }
  Sizes sizes = sizesOf(x);
  Size length = product(sizes);
  int64_t axis = 0;
  if (getAxis()) {
    auto normal = normalAxis(*getAxis(), x.getRank());
    if (!normal) {
      return emitOpError("axis ") << *getAxis() << " is outside of " << x;
    }
    axis = *normal;
    length = sizes[axis];
    sizes[axis] = 1;
    Size each = product(sizes);
    if (failed(require(*this, max(each, 1), each))) {
      return emitOpError("compares slices without elements");
    }
  } else {
    sizes.assign(1, length);
  }
  Size count = dataDependentSize(*this, length);
  sizes[axis] = count;
  types.assign({sizedType(sizes, element), sizedType({count}, i64), sizedType({length}, i64), sizedType({count}, i64),
                countType(*this)});
  return success();
}

// These belong to ReadSize and RangeSize.

LogicalResult ReadSizeOp::verify() {
  return !getSizes() || getSizes()->getValues().size() == 1 ? success() : emitOpError("needs one bound, or none");
}
/// Asking for the size gives the op its symbol, which is all that is wanted here.
LogicalResult ReadSizeOp::inferTypes(SmallVectorImpl<Type> &types) {
  std::optional<SizesAttr> bound = getSizes();
  (void)(bound ? dataDependentSize(*this, bound->getValues().front()) : unboundedSize(*this));
  types.push_back(countType(*this));
  return success();
}

LogicalResult RangeSizeOp::inferTypes(SmallVectorImpl<Type> &types) {
  (void)unboundedSize(*this);
  types.push_back(countType(*this));
  return success();
}

void registerFind(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Find.cpp.inc"
      >();
}

} // namespace ingot::onnx
