// Gathers and scatters, and operators that are one in disguise. Which element a point reads or writes is described
// once, as a Lookup (elements/Lookup.h), from which constants are folded and kernels are made. Its space is that of the
// result for gathers, that of the updates for scatters. For data of [5, 7]:
//
//   Gather along axis 0 by [2, 3] indices   a space of [2, 3, 7]; the index moves by 7 elements, the last axis by 1
//   GatherElements by [2, 7]                a space of [2, 7]; as the data, but that axis 0 comes from the index
//   GatherND by tuples [4, 2]               a space of [4]; two indices, which move by 7 and by 1
//
// An index that is a constant is checked here, and others by the run, which ends with INGOT_ERROR_INDEX. Compress,
// OneHot, Trilu and ReverseSequence are written as gathers, comparisons and Where.
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/ops/Find.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Gather.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static constexpr int64_t unknown = ShapedType::kDynamic;

static FailureOr<int64_t> checkedAxis(Operation *op, int64_t axis, int64_t rank) {
  auto normal = normalAxis(axis, rank);
  if (!normal) {
    return op->emitOpError("axis ") << axis << " is outside of " << op->getOperand(0).getType(), failure();
  }
  return *normal;
}
/// Checks indices that are constants. They stand in tuples of sizes.size(), with an index into one dimension each.
static LogicalResult checkConstants(Operation *op, ArrayRef<int64_t> sizes) {
  auto indices = integersOf(op->getOperand(1));
  for (size_t i = 0; indices && i < indices->size(); ++i) {
    int64_t size = sizes[i % sizes.size()], index = (*indices)[i];
    if (size != unknown && (index < -size || index >= size)) {
      return op->emitOpError("index ") << index << " is outside of a dimension of size " << size;
    }
  }
  return success();
}
static LogicalResult unrankedResult(Operation *op, SmallVectorImpl<Type> &types) {
  types.push_back(unrankedOf(elementOf(op->getOperand(0))));
  return success();
}
/// How far apart neighbours along each axis are in memory, in elements.
static Sizes walkedStrides(Value v) { return rowMajorStrides(ArrayRef<Size>(sizesOf(ranked(v)))); }

/// Computes the result of a gather whose operands are constants.
static LogicalResult evaluateGather(Operation *op, ArrayRef<ElementsAttr> operands,
                                    SmallVectorImpl<ElementsAttr> &results) {
  auto indices = operands[1] ? integersOf(operands[1]) : std::nullopt;
  auto type = ranked(op->getResult(0));
  int64_t size = elementBytes(type.getElementType());
  if (!operands[0] || !indices || type.getNumElements() * size > foldLimitBytes) {
    return failure();
  }
  auto offsets = offsetsOf(cast<Indexer>(op).lookup(), type.getShape(), *indices);
  if (!offsets) {
    return failure();
  }
  std::vector<char> storage, out(offsets->size() * size);
  ArrayRef<char> data = bytesOf(operands[0], storage);
  for (size_t i = 0; i < offsets->size(); ++i) {
    std::copy_n(data.begin() + (*offsets)[i] * size, size, out.begin() + i * size);
  }
  results.push_back(constantFromBytes(type, std::move(out)));
  return success();
}

/// Scatters with a reduction are left to the run, whose order of additions then holds for all of them.
static LogicalResult evaluateScatter(Operation *op, StringRef reduction, ArrayRef<ElementsAttr> operands,
                                     SmallVectorImpl<ElementsAttr> &results) {
  auto indices = operands[1] ? integersOf(operands[1]) : std::nullopt;
  auto type = ranked(op->getResult(0));
  int64_t size = elementBytes(type.getElementType());
  if (!operands[0] || !indices || !operands[2] || reduction != "none" ||
      type.getNumElements() * size > foldLimitBytes) {
    return failure();
  }
  auto offsets = offsetsOf(cast<Indexer>(op).lookup(), ranked(op->getOperand(2)).getShape(), *indices);
  if (!offsets) {
    return failure();
  }
  std::vector<char> storage, more;
  ArrayRef<char> data = bytesOf(operands[0], storage), updates = bytesOf(operands[2], more);
  std::vector<char> out(data.begin(), data.end());
  for (size_t i = 0; i < offsets->size(); ++i) {
    std::copy_n(updates.begin() + i * size, size, out.begin() + (*offsets)[i] * size);
  }
  results.push_back(constantFromBytes(type, std::move(out)));
  return success();
}

#define GATHER(Name)                                                                                                   \
  LogicalResult Name::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {              \
    return evaluateGather(*this, operands, results);                                                                   \
  }
GATHER(GatherOp)
GATHER(GatherElementsOp)
GATHER(GatherNDOp)
#undef GATHER

#define SCATTER(Name)                                                                                                  \
  LogicalResult Name::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {              \
    return evaluateScatter(*this, getReduction(), operands, results);                                                  \
  }
SCATTER(ScatterElementsOp)
SCATTER(ScatterNDOp)
#undef SCATTER

// These belong to Gather.

LogicalResult GatherOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData()), indices = ranked(getIndices());
  if (!data || !indices) {
    return unrankedResult(*this, types);
  }
  auto axis = checkedAxis(*this, getAxis(), data.getRank());
  if (failed(axis) || failed(checkConstants(*this, data.getDimSize(*axis)))) {
    return failure();
  }
  Sizes from = sizesOf(data), shape(from.begin(), from.begin() + *axis);
  llvm::append_range(shape, sizesOf(indices));
  shape.append(from.begin() + *axis + 1, from.end());
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}

/// The space is the data's axes before `axis`, those of the indices, and the data's axes behind it.
Lookup GatherOp::lookup() {
  int64_t axis = *normalAxis(getAxis(), ranked(getData()).getRank());
  Sizes data = walkedStrides(getData()), indices = walkedStrides(getIndices());
  Lookup l;
  l.dataStrides.assign(data.begin(), data.begin() + axis);
  l.dataStrides.append(indices.size(), 0);
  l.dataStrides.append(data.begin() + axis + 1, data.end());
  l.indexStrides.assign(axis, 0);
  llvm::append_range(l.indexStrides, indices);
  l.indexStrides.append(data.size() - axis - 1, 0);
  l.parts.push_back({0, sizeOf(ranked(getData()), axis), data[axis]});
  return l;
}

// Makes constant indices that count evenly a slice.
LogicalResult GatherOp::decompose(PatternRewriter &rewriter) {
  auto indices = integersOf(getIndices());
  auto data = ranked(getData());
  if (!indices || indices->empty() || !data || !isSized(getY())) {
    return failure();
  }
  int64_t axis = *normalAxis(getAxis(), data.getRank()), d = data.getDimSize(axis), n = indices->size();
  if (d == unknown || llvm::any_of(*indices, [&](int64_t i) { return i < -d || i >= d; })) {
    return failure();
  }
  for (int64_t &i : *indices) {
    i += i < 0 ? d : 0;
  }
  int64_t first = indices->front(), step = n > 1 ? (*indices)[1] - first : 1;
  for (int64_t i = 0; i < n; ++i) {
    if (step == 0 || (*indices)[i] != first + i * step) {
      return failure();
    }
  }
  int64_t end = first + n * step;
  auto list = [&](int64_t v) { return makeIntegers(rewriter, getLoc(), {v}); };
  Value cut = make<SliceOp>(rewriter, getLoc(),
                            {getData(), list(first), list(end < 0 ? INT64_MIN : end), list(axis), list(step)});
  rewriter.replaceOp(*this, Formula(rewriter, getLoc()).reshapeTo(cut, sizesOf(ranked(getY()))));
  return success();
}

/// Requires two shapes to be equal.
static LogicalResult requireShape(Operation *op, ArrayRef<Size> a, ArrayRef<Size> b) {
  bool equal = a.size() == b.size();
  for (size_t i = 0; equal && i < a.size(); ++i) {
    equal = succeeded(require(op, a[i], b[i]));
  }
  return success(equal);
}

/// Checks the axis and constant indices of GatherElements and ScatterElements, and the indices' shape, which apart from
/// the axis fits in the data's.
static LogicalResult checkElements(Operation *op, int64_t givenAxis) {
  auto data = ranked(op->getOperand(0)), indices = ranked(op->getOperand(1));
  auto axis = checkedAxis(op, givenAxis, data.getRank());
  if (failed(axis) || failed(checkConstants(op, data.getDimSize(*axis)))) {
    return failure();
  }
  for (int64_t i = 0; i < data.getRank(); ++i) {
    Size d = sizeOf(data, i), n = sizeOf(indices, i);
    if (i != *axis && failed(require(op, min(d, n), n))) {
      return op->emitOpError("indices go beyond the data along axis ") << i;
    }
  }
  return success();
}

LogicalResult GatherElementsOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData()), indices = ranked(getIndices());
  if (!data || !indices) {
    types.push_back(typeOfRank(commonRank({getData(), getIndices()}), elementOf(getData())));
    return success();
  }
  if (data.getRank() != indices.getRank()) {
    return emitOpError("data and indices have ranks that differ");
  }
  if (failed(checkElements(*this, getAxis()))) {
    return failure();
  }
  types.push_back(sizedType(sizesOf(indices), data.getElementType()));
  return success();
}

/// Returns the lookup of GatherElements and ScatterElements, whose space is that of the indices.
static Lookup elementsLookup(Value data, Value indices, int64_t givenAxis) {
  int64_t axis = *normalAxis(givenAxis, ranked(data).getRank());
  Lookup l{walkedStrides(data), walkedStrides(indices), {}};
  l.parts.push_back({0, sizeOf(ranked(data), axis), l.dataStrides[axis]});
  l.dataStrides[axis] = 0;
  return l;
}
Lookup GatherElementsOp::lookup() { return elementsLookup(getData(), getIndices(), getAxis()); }

/// Returns the lookup of GatherND and ScatterND: `batch` common axes, then those of the tuples, then the axes that a
/// tuple of `depth` indices addresses.
static Lookup tuplesLookup(Value data, Value indices, int64_t batch, int64_t depth) {
  Sizes from = walkedStrides(data), tuples = walkedStrides(indices);
  Lookup l;
  l.dataStrides.assign(from.begin(), from.begin() + batch);
  l.dataStrides.append(tuples.size() - 1 - batch, 0);
  l.dataStrides.append(from.begin() + batch + depth, from.end());
  l.indexStrides.assign(tuples.begin(), tuples.end() - 1);
  l.indexStrides.append(from.size() - batch - depth, 0);
  for (int64_t i = 0; i < depth; ++i) {
    l.parts.push_back({i, sizeOf(ranked(data), batch + i), from[batch + i]});
  }
  return l;
}

/// Returns how many axes a tuple of a GatherND addresses. Nothing: only the run knows that, and the result's rank.
static std::optional<int64_t> depthOf(GatherNDOp op) {
  auto data = ranked(op.getData()), indices = ranked(op.getIndices());
  int64_t batch = op.getBatchDims();
  if (!indices.isDynamicDim(indices.getRank() - 1)) {
    return indices.getShape().back();
  }
  if (batch + 1 == data.getRank()) { // only one axis is left
    return 1;
  }
  std::optional<int64_t> rank = ranked(op.getY()) ? ranked(op.getY()).getRank() : declaredRank(op.getY());
  return rank ? std::optional(indices.getRank() - 1 + data.getRank() - batch - *rank) : std::nullopt;
}

Lookup GatherNDOp::lookup() { return tuplesLookup(getData(), getIndices(), getBatchDims(), *depthOf(*this)); }

/// The result has the axes of the indices but for the last, and the data's axes behind those that a tuple addresses.
LogicalResult GatherNDOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData()), indices = ranked(getIndices());
  auto length = data && indices && indices.getRank() ? depthOf(*this) : std::nullopt;
  if (!length) {
    return unrankedResult(*this, types);
  }
  int64_t batch = getBatchDims(), depth = *length;
  if (batch < 0 || batch >= indices.getRank() || depth < 1 || batch + depth > data.getRank() ||
      failed(require(*this, sizeOf(indices, indices.getRank() - 1), depth))) {
    return emitOpError("tuples of ") << depth << " after " << batch << " batch dimensions do not fit " << data;
  }
  if (failed(checkConstants(*this, data.getShape().slice(batch, depth)))) {
    return failure();
  }
  Sizes from = sizesOf(data), shape = sizesOf(indices);
  if (failed(requireShape(*this, ArrayRef<Size>(from).take_front(batch), ArrayRef<Size>(shape).take_front(batch)))) {
    return emitOpError("batch dimensions of ") << data << " and " << indices << " differ";
  }
  shape.pop_back();
  shape.append(from.begin() + batch + depth, from.end());
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}

// These belong to scatters.

Lookup ScatterElementsOp::lookup() { return elementsLookup(getData(), getIndices(), getAxis()); }

/// Returns how many axes a tuple of a ScatterND addresses: where its length is open, the rank of the updates says it.
static int64_t depthOf(ScatterNDOp op) {
  auto data = ranked(op.getData()), indices = ranked(op.getIndices()), updates = ranked(op.getUpdates());
  int64_t rank = indices.getRank();
  bool known = rank && !indices.isDynamicDim(rank - 1);
  return known ? indices.getShape().back() : rank ? rank - 1 + data.getRank() - updates.getRank() : 0;
}
Lookup ScatterNDOp::lookup() { return tuplesLookup(getData(), getIndices(), 0, depthOf(*this)); }

LogicalResult ScatterElementsOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData()), indices = ranked(getIndices()), updates = ranked(getUpdates());
  if (data && indices && updates) {
    if (data.getRank() != indices.getRank() || failed(requireShape(*this, sizesOf(indices), sizesOf(updates)))) {
      return emitOpError("updates and indices differ in shape, or from the data in rank");
    }
    if (failed(checkElements(*this, getAxis()))) {
      return failure();
    }
  }
  auto rank = commonRank({getIndices(), getUpdates()});
  types.push_back(data ? getData().getType() : typeOfRank(rank, elementOf(getData())));
  return success();
}
LogicalResult ScatterNDOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData()), indices = ranked(getIndices()), updates = ranked(getUpdates());
  if (data && indices && updates) {
    int64_t rank = indices.getRank(), depth = depthOf(*this);
    Size length = rank ? sizeOf(indices, rank - 1) : Size(0);
    if (depth < 1 || depth > data.getRank() || failed(require(*this, length, depth))) {
      return emitOpError("tuples of ") << depth << " do not fit " << data;
    }
    if (failed(checkConstants(*this, data.getShape().take_front(depth)))) {
      return failure();
    }
    Sizes shape = sizesOf(indices), from = sizesOf(data);
    shape.pop_back();
    shape.append(from.begin() + depth, from.end());
    if (failed(requireShape(*this, shape, sizesOf(updates)))) {
      return emitOpError("updates have the shape ") << updates << ", expected " << textOf(shape);
    }
  }
  types.push_back(getData().getType());
  return success();
}

LogicalResult ScatterOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto rank = commonRank({getIndices(), getUpdates()});
  types.push_back(ranked(getData()) ? getData().getType() : typeOfRank(rank, elementOf(getData())));
  return success();
}
/// Opset 9 called it Scatter; ScatterElements is the same with a reduction.
LogicalResult ScatterOp::decompose(PatternRewriter &rewriter) {
  auto axis = rewriter.getNamedAttr("axis", getAxisAttr() ? getAxisAttr() : rewriter.getI64IntegerAttr(0));
  rewriter.replaceOp(*this,
                     make<ScatterElementsOp>(rewriter, getLoc(), {getData(), getIndices(), getUpdates()}, {axis}));
  return success();
}

// These write OneHot, which compares the index with 0, 1, 2, ... along a new axis.

/// Returns the depth of a OneHot; unknown: data tells it.
static Size depthOf(OneHotOp op) {
  std::optional<int64_t> depth = wholeNumber(op.getDepth());
  return depth ? Size(*depth) : numberIn(op.getDepth());
}

LogicalResult OneHotOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto indices = ranked(getIndices());
  Size depth = depthOf(*this);
  Type element = elementOf(getValues());
  if (!indices) {
    types.push_back(unrankedOf(element));
    return success();
  }
  auto axis = normalAxis(getAxis(), indices.getRank() + 1);
  if (!axis || (depth.isNumber() && depth.number() < 0)) {
    return emitOpError(axis ? "depth is negative" : "axis is outside of the result's shape");
  }
  if (!mayBeNumber(getDepth())) {
    return emitOpError("depth of type ") << getDepth().getType() << " is not one number";
  }
  if (auto values = ranked(getValues()); values && values.hasStaticShape() && values.getNumElements() != 2) {
    return emitOpError("values of type ") << values << " are not two";
  }
  Sizes shape = sizesOf(indices);
  shape.insert(shape.begin() + *axis, depth);
  types.push_back(sizedType(shape, element));
  return success();
}
/// Where(index == [0, 1, ...], values[1], values[0]); an index below zero counts from the end, and one outside equals
/// none.
LogicalResult OneHotOp::decompose(PatternRewriter &rewriter) {
  Size depth = depthOf(*this);
  auto indices = ranked(getIndices());
  if (depth.isUnknown() || !indices) {
    return failure();
  }
  Location loc = getLoc();
  int64_t axis = *normalAxis(getAxis(), indices.getRank() + 1);
  RankedTensorType one = tensorOf({}, rewriter.getI64Type());
  Value n = makeSizes(rewriter, loc, {depth}, one);
  auto i64 = rewriter.getNamedAttr("to", rewriter.getI64IntegerAttr(7));
  Value index = getIndices();
  if (!isInt(elementOf(index), 64)) {
    index = make<CastOp>(rewriter, loc, {index}, {i64});
  }
  // Unsigned indices never count from the end, even where the cast to int64 makes them negative.
  if (!elementOf(getIndices()).isUnsignedInteger()) {
    Value wrapped = make<AddOp>(rewriter, loc, {index, n});
    Value negative = make<LessOp>(rewriter, loc, {index, makeInteger(rewriter, loc, 0)});
    index = make<WhereOp>(rewriter, loc, {negative, wrapped, index});
  }
  index = make<UnsqueezeOp>(rewriter, loc, {index, makeIntegers(rewriter, loc, {axis})});
  Sizes shape(indices.getRank() + 1 - axis, 1);
  shape[0] = depth;
  Value count = make<RangeOp>(rewriter, loc, {makeInteger(rewriter, loc, 0), n, makeInteger(rewriter, loc, 1)});
  count = make<ReshapeOp>(rewriter, loc, {count, makeSizes(rewriter, loc, shape)});
  auto pick = [&](int64_t i) {
    auto one = makeIntegers(rewriter, loc, {i});
    return make<SliceOp>(rewriter, loc, {getValues(), one, makeIntegers(rewriter, loc, {i + 1}), Value(), Value()});
  };
  rewriter.replaceOp(*this,
                     make<WhereOp>(rewriter, loc, {make<EqualOp>(rewriter, loc, {index, count}), pick(1), pick(0)}));
  return success();
}

// These write Trilu, which chooses by how far right of the diagonal an element is.

LogicalResult TriluOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  if (data && data.getRank() < 2) {
    return emitOpError("needs at least two axes, has ") << data;
  }
  types.push_back(getData().getType());
  return success();
}
/// Returns whether an element stays: it is right or left of the diagonal that `k` names. Numbers of rows and columns
/// are compared where a run tells how many there are; otherwise a table says it.
static Value triangleOf(TriluOp op, Formula &f) {
  StringRef compare = op.getUpper() ? "GreaterOrEqual" : "LessOrEqual";
  Sizes shape = sizesOf(ranked(op.getData()));
  const Size &rows = shape[shape.size() - 2], &columns = shape.back();
  Value k = present(op.getK()) ? op.getK() : f.scalar(0);
  if (!rows.isNumber() || !columns.isNumber()) {
    // Beyond any matrix all diagonals are alike, and numbers of rows can be added to them.
    constexpr int64_t beyond = int64_t(1) << 50;
    k = f.op("Max", {f.op("Min", {k, f.scalar(beyond)}), f.scalar(-beyond)});
    Value row = f.add(f.countTo(f.scalar(rows)), k);
    return f.op(compare, {f.countTo(f.scalar(columns)), f.reshapeTo(row, {rows, 1})});
  }
  SmallVector<int64_t> right;
  for (int64_t row = 0; row < rows.number(); ++row) {
    for (int64_t column = 0; column < columns.number(); ++column) {
      right.push_back(column - row);
    }
  }
  auto table = tensorOf({rows.number(), columns.number()}, f.b.getI64Type());
  return f.op(compare, {makeConstant(f.b, f.loc, constantFromIntegers(table, right)), k});
}

LogicalResult TriluOp::decompose(PatternRewriter &rewriter) {
  auto data = ranked(getData());
  if (!isSized(getData())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  auto scalar = tensorOf({}, data.getElementType());
  Value mask = triangleOf(*this, f), zero = makeConstant(rewriter, getLoc(), constantFromIntegers(scalar, {0}));
  rewriter.replaceOp(*this, f.op("Where", {mask, getData(), zero}));
  return success();
}

// These write Compress, which is a gather where the condition is constant.

LogicalResult CompressOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  auto condition = integersOf(getCondition());
  if (!data) {
    types.push_back(typeOfRank(getAxis() ? std::nullopt : std::optional<int64_t>(1), elementOf(getData())));
    return success();
  }
  // The number under a condition that only the run knows is left to decompose().
  Size count = condition ? Size(llvm::count_if(*condition, [](int64_t c) { return c != 0; })) : Size::unknown();
  Sizes shape{count};
  Size along = support::product(sizesOf(data));
  if (getAxis()) {
    auto axis = checkedAxis(*this, *getAxis(), data.getRank());
    if (failed(axis)) {
      return failure();
    }
    shape = sizesOf(data);
    along = std::exchange(shape[*axis], count);
  }
  // All elements that are kept must be there, also where only the result's size is read.
  int64_t least = 0;
  for (size_t i = 0; condition && i < condition->size(); ++i) {
    least = (*condition)[i] ? static_cast<int64_t>(i) + 1 : least;
  }
  if (least > 0 && !along.isUnknown() && failed(require(*this, max(along, least), along))) {
    return emitOpError("keeps element ") << least - 1 << " of " << along.text();
  }
  types.push_back(sizedType(shape, data.getElementType()));
  return success();
}
/// Returns the places of a condition that are true.
static Value keptPlaces(PatternRewriter &rewriter, Location loc, Value condition) {
  if (auto constant = integersOf(condition)) {
    SmallVector<int64_t> kept;
    for (auto [i, c] : llvm::enumerate(*constant)) {
      if (c) {
        kept.push_back(i);
      }
    }
    return makeIntegers(rewriter, loc, kept);
  }
  Value line = makeIntegers(rewriter, loc, {-1});
  Value flat = make<ReshapeOp>(rewriter, loc, {condition, line});
  return make<ReshapeOp>(rewriter, loc, {make<NonZeroOp>(rewriter, loc, {flat}, {}, 2), line});
}
LogicalResult CompressOp::decompose(PatternRewriter &rewriter) {
  Value kept = keptPlaces(rewriter, getLoc(), getCondition());
  Value data = getData();
  if (!getAxis()) {
    data = make<ReshapeOp>(rewriter, getLoc(), {data, makeIntegers(rewriter, getLoc(), {-1})});
  }
  auto axis = rewriter.getNamedAttr("axis", rewriter.getI64IntegerAttr(getAxis() ? *getAxis() : 0));
  rewriter.replaceOp(*this, make<GatherOp>(rewriter, getLoc(), {data, kept}, {axis}));
  return success();
}

// These write ReverseSequence: element t of a sequence of length n comes from n - 1 - t where t < n.

LogicalResult ReverseSequenceOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto data = ranked(getData());
  if (data && (!normalAxis(getTimeAxis(), data.getRank()) || !normalAxis(getBatchAxis(), data.getRank()))) {
    return emitOpError("time_axis or batch_axis is outside of ") << data;
  }
  auto lengths = ranked(getSequenceLens());
  bool fits = !data || !lengths ||
              (lengths.getRank() == 1 && succeeded(require(*this, sizeOf(lengths, 0),
                                                           sizeOf(data, *normalAxis(getBatchAxis(), data.getRank())))));
  if (!fits) {
    return emitOpError("sequence_lens of type ") << lengths << " do not fit " << data;
  }
  types.push_back(getData().getType());
  return success();
}
LogicalResult ReverseSequenceOp::decompose(PatternRewriter &rewriter) {
  auto data = ranked(getData());
  if (!isSized(getData()) || !isSized(getSequenceLens()) || data.getRank() < 2) {
    return failure();
  }
  int64_t time = *normalAxis(getTimeAxis(), data.getRank()), batch = *normalAxis(getBatchAxis(), data.getRank());
  Sizes sizes = sizesOf(data), along(data.getRank(), 1), across(data.getRank(), 1);
  along[time] = sizes[time], across[batch] = sizes[batch];
  Formula f(rewriter, getLoc());
  Value t = f.reshapeTo(f.countTo(f.scalar(sizes[time])), along);
  Value n = f.reshapeTo(f.cast(getSequenceLens(), rewriter.getI64Type(), 7), across);
  Value from = f.op("Where", {f.op("Less", {t, n}), f.sub(f.sub(n, f.scalar(1)), t), t});
  // A negative length becomes an index out of range; a length beyond the axis is one by itself.
  from = f.op("Where", {f.op("Less", {n, f.scalar(0)}), f.scalar(sizes[time]), from});
  from = f.op("Expand", {from, makeSizes(rewriter, getLoc(), sizes)});
  rewriter.replaceOp(*this, f.op("GatherElements", {getData(), from}, {f.integer("axis", time)}));
  return success();
}

void registerGather(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Gather.cpp.inc"
      >();
}

} // namespace ingot::onnx
