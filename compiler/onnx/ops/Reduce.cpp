// Makes all reductions Reduce (Sum, Mean, Prod, Max, Min) once their axes are known, with elementwise ops before and
// behind it that end up in the same kernel.
//
//   ReduceL2(x), axes [1]       Sqrt(Reduce Sum(x * x), axes [1])
//   ReduceMax, axes in data     ReduceTo: the run reads the size of each axis of the result, 1 or what it was
//   CumSum, axis in data        the sums along each axis, stacked, of which a Gather takes those that are wanted
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/SizesInData.h"
#include <cmath>
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Reduce.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

/// The most input elements of a reduction of a constant that is computed here.
static constexpr int64_t evaluateLimit = 1 << 22;

/// Returns the shape that is left when `axes` (normal) go.
static Sizes without(ArrayRef<Size> shape, ArrayRef<int64_t> axes, bool keepdims) {
  Sizes left;
  for (auto [i, d] : llvm::enumerate(shape)) {
    bool gone = llvm::is_contained(axes, static_cast<int64_t>(i));
    if (!gone || keepdims) {
      left.push_back(gone ? Size(1) : d);
    }
  }
  return left;
}

/// Returns the axes of a Reduce* op, normal and sorted. Nothing when they are not known; `bad` is one that lies
/// outside.
template <typename Op> static std::optional<SmallVector<int64_t>> axesOf(Op op, std::optional<int64_t> &bad) {
  int64_t rank = ranked(op.getData()).getRank();
  SmallVector<int64_t> axes;
  if (present(op.getAxes())) {
    auto given = integersOf(op.getAxes());
    if (!given) {
      auto type = ranked(op.getAxes());
      // A list that has no elements is known without being a constant.
      if (!type || !llvm::is_contained(type.getShape(), 0)) {
        return std::nullopt;
      }
      given.emplace();
    }
    for (int64_t axis : *given) {
      auto normal = normalAxis(axis, rank);
      if (!normal) {
        bad = axis;
        return std::nullopt;
      }
      axes.push_back(*normal);
    }
    llvm::sort(axes);
    axes.erase(llvm::unique(axes), axes.end());
  }
  // An empty list means all axes, as a missing one does, unless the node says that it means none.
  if (axes.empty() && !op.getNoopWithEmptyAxes()) {
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }
  return axes;
}

/// Returns how many axes the result has where data names those that go.
template <typename Op> static std::optional<int64_t> rankOf(Op op) {
  int64_t rank = ranked(op.getData()).getRank();
  if (op.getKeepdims()) {
    return rank;
  }
  auto axes = ranked(op.getAxes());
  bool known = axes && axes.hasStaticShape() && axes.getNumElements() >= 1 && axes.getNumElements() <= rank;
  return known ? std::optional(rank - axes.getNumElements()) : std::nullopt;
}

/// Axes in data leave a rank at most, from their number and keepdims.
template <typename Op> static LogicalResult inferReduction(Op op, SmallVectorImpl<Type> &types) {
  Type element = elementOf(op.getData());
  auto type = ranked(op.getData());
  if (!type) {
    // All elements are reduced to one, whatever the rank is.
    bool isWhole = !present(op.getAxes()) && !op.getKeepdims() && !op.getNoopWithEmptyAxes();
    types.push_back(typeOfRank(isWhole ? std::optional<int64_t>(0) : std::nullopt, element));
    return success();
  }
  std::optional<int64_t> bad;
  auto axes = axesOf(op, bad);
  if (bad) {
    return op.emitOpError("axis ") << *bad << " is outside a tensor of rank " << type.getRank();
  }
  if (axes) {
    types.push_back(sizedType(without(sizesOf(type), *axes, op.getKeepdims() != 0), element));
  } else if (std::optional<int64_t> rank = rankOf(op); rank && *rank > 0) { // a scalar would look as if it were known
    types.push_back(tensorOf(SmallVector<int64_t>(*rank, ShapedType::kDynamic), element));
  } else {
    types.push_back(unrankedOf(element));
  }
  return success();
}

// These evaluate.

/// Calls `reduce` with what combines two elements; that of a mean is their sum. Largest and smallest of something with
/// NaN are NaN, as in kernels.
template <typename T, typename F> static void withCombination(StringRef kind, F reduce) {
  auto extreme = [](auto choose) {
    return [=](T a, T b) {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) || std::isnan(b)) {
          return std::numeric_limits<T>::quiet_NaN();
        }
      }
      return choose(a, b);
    };
  };
  if (kind == "Max") {
    reduce(extreme([](T a, T b) { return std::max(a, b); }));
  } else if (kind == "Min") {
    reduce(extreme([](T a, T b) { return std::min(a, b); }));
  } else if (kind == "Prod") {
    reduce([](T a, T b) { return a * b; });
  } else {
    reduce([](T a, T b) { return a + b; });
  }
}

/// Reduces row-major values, in their order; every kept element sees at least one input element. `step` has the strides
/// of the result, 0 along axes that are reduced.
template <typename T>
static SmallVector<T> reduced(StringRef kind, ArrayRef<T> x, ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> step(shape.size(), 0);
  int64_t outputs = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i))) {
      step[i] = outputs;
      outputs *= shape[i];
    }
  }
  SmallVector<T> y(outputs);
  SmallVector<bool> seen(outputs, false);
  size_t row = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  withCombination<T>(kind, [&](auto combine) {
    for (size_t first = 0; first < x.size(); first += row) {
      int64_t to = 0, rest = static_cast<int64_t>(first);
      for (size_t i = shape.size(); i-- > 0;) {
        to += rest % shape[i] * step[i], rest /= shape[i];
      }
      ArrayRef<T> values = x.slice(first, row);
      if (shape.empty() || step.back() == 0) { // the whole row goes into one element
        T sum = seen[to] ? combine(y[to], values.front()) : values.front();
        for (T v : values.drop_front()) {
          sum = combine(sum, v);
        }
        y[to] = sum, seen[to] = true;
        continue;
      }
      for (T v : values) {
        y[to] = seen[to] ? combine(y[to], v) : v;
        seen[to] = true;
        to += step.back();
      }
    }
  });
  if (kind == "Mean" && outputs > 0) {
    int64_t each = static_cast<int64_t>(x.size()) / outputs;
    for (T &v : y) {
      v /= static_cast<T>(each);
    }
  }
  return y;
}

/// Floats are added up as double; a reduction over nothing is left to the kernels, which know its neutral element.
static LogicalResult evaluateReduction(StringRef kind, ElementsAttr data, ArrayRef<int64_t> axes, RankedTensorType to,
                                       SmallVectorImpl<ElementsAttr> &results) {
  if (!data || data.getNumElements() == 0 || data.getNumElements() > evaluateLimit) {
    return failure();
  }
  ArrayRef<int64_t> shape = data.getShapedType().getShape();
  if (auto x = floatsOf(data)) {
    results.push_back(constantFromFloats(to, reduced<double>(kind, *x, shape, axes)));
    return success();
  }
  auto x = integersOf(data);
  // Half of the numbers of a uint64 come as negative ones, which would be compared the wrong way.
  if (!x || isUint(data.getElementType(), 64)) {
    return failure();
  }
  results.push_back(constantFromIntegers(to, reduced<int64_t>(kind, *x, shape, axes)));
  return success();
}

template <typename Op>
static LogicalResult evaluateNode(Op op, ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  std::optional<int64_t> bad;
  auto axes = ranked(op.getData()) ? axesOf(op, bad) : std::nullopt;
  if (!axes) {
    return failure();
  }
  return evaluateReduction(Op::getOperationName().drop_front(strlen("onnx.Reduce")), operands[0], *axes,
                           cast<RankedTensorType>(op.getType()), results);
}

LogicalResult ReduceOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  return evaluateReduction(getKind(), operands[0], getAxes(), cast<RankedTensorType>(getType()), results);
}

// These belong to the core op.

LogicalResult ReduceOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(getData().getType());
  types.push_back(sizedType(without(sizesOf(type), getAxes(), getKeepdims()), type.getElementType()));
  return success();
}

/// The result keeps all axes: the run reads whether each of them has size 1 or stays.
LogicalResult ReduceToOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(sizedType(getSizes().getValues(), elementOf(getData())));
  return success();
}

// These write formulas.

namespace {
/// The surroundings of a reduction, for writing its formula.
struct Reduction {
  Formula f;
  Value data;
  SmallVector<int64_t> axes; ///< the axes, when they are known
  Sizes kept, left;          ///< else these are the result's sizes with the reduced axes and without
  bool sizesInData, keepdims;

  Value reduce(StringRef kind, Value x, bool keep) {
    if (sizesInData) {
      Value y = f.op("ReduceTo", {x}, {f.b.getNamedAttr("kind", f.b.getStringAttr(kind)), f.sizes("sizes", kept)});
      return keep ? y : f.reshapeTo(y, left);
    }
    if (axes.empty()) {
      return x;
    }
    SmallVector<NamedAttribute> attributes = {f.b.getNamedAttr("kind", f.b.getStringAttr(kind)),
                                              f.b.getNamedAttr("axes", f.b.getDenseI64ArrayAttr(axes))};
    if (keep) {
      attributes.push_back(f.flag("keepdims"));
    }
    return f.op("Reduce", {x}, attributes);
  }
  Value reduce(StringRef kind, Value x) { return reduce(kind, x, keepdims); }
  /// Returns a result that keeps its axes, to be combined with what was reduced.
  Value beside(Value y) {
    Sizes sizes = sizesOf(ranked(data));
    for (size_t i = 0; sizesInData && i < sizes.size(); ++i) {
      if (!(kept[i] == sizes[i])) {
        // The axis has its size or 1, and only the run knows which. The index min(i, kept - 1) reads element i in the
        // first case and the only one in the second.
        Value last = f.sub(f.scalar(kept[i]), f.scalar(1));
        y = f.op("Gather", {y, f.op("Min", {f.countTo(f.scalar(sizes[i])), last})},
                 {f.integer("axis", static_cast<int64_t>(i))});
      }
    }
    return y;
  }
  /// Returns integers as f32, in which their logarithms and roots are taken, as the standard's function bodies do.
  Value real(Value x) { return isa<FloatType>(elementOf(x)) ? x : f.cast(x, f.b.getF32Type(), 1); }
};
} // namespace

static Value formula(ReduceSumOp, Reduction &r) { return r.reduce("Sum", r.data); }
static Value formula(ReduceMeanOp, Reduction &r) { return r.reduce("Mean", r.data); }
static Value formula(ReduceProdOp, Reduction &r) { return r.reduce("Prod", r.data); }
static Value formula(ReduceMaxOp, Reduction &r) { return r.reduce("Max", r.data); }
static Value formula(ReduceMinOp, Reduction &r) { return r.reduce("Min", r.data); }
static Value formula(ReduceL1Op, Reduction &r) { return r.reduce("Sum", r.f.abs(r.data)); }
static Value formula(ReduceSumSquareOp, Reduction &r) { return r.reduce("Sum", r.f.mul(r.data, r.data)); }
static Value formula(ReduceL2Op, Reduction &r) { return r.f.sqrt(r.real(r.reduce("Sum", r.f.mul(r.data, r.data)))); }
static Value formula(ReduceLogSumOp, Reduction &r) { return r.f.log(r.real(r.reduce("Sum", r.data))); }

/// Writes log(sum(exp(x - max))) + max, with max brought to a finite number so that infinities stay what they are.
static Value formula(ReduceLogSumExpOp, Reduction &r) {
  Value x = r.real(r.data);
  Value most = r.f.number(std::numeric_limits<float>::max(), x),
        least = r.f.number(std::numeric_limits<float>::lowest(), x);
  Value max = r.f.op("Max", {r.f.op("Min", {r.reduce("Max", x, true), most}), least});
  Value y = r.f.add(r.f.log(r.reduce("Sum", r.f.exp(r.f.sub(x, r.beside(max))), true)), max);
  return r.keepdims ? y : r.f.reshapeTo(y, r.left);
}

/// Reads the sizes of a result whose axes data names. An axis of size 1 stays what it is either way, unless there are
/// no others: a bad list must be seen.
template <typename Op> static LogicalResult readAxes(Op op, Reduction &r, PatternRewriter &rewriter) {
  auto axes = ranked(op.getAxes());
  Sizes sizes = sizesOf(ranked(op.getData()));
  auto rank = rankOf(op);
  if (!axes || !isSized(op.getAxes()) || sizes.empty() || !rank || sizeReadingIn(op) == SizeReading::No) {
    return failure();
  }
  SizesInData data(op, rewriter);
  Size count = product(sizesOf(axes));
  SizesInData::Axes all = data.axesIn(op.getAxes(), count, static_cast<int64_t>(sizes.size()));
  Value named = all.named;
  if (!count.atLeast(1, factsOf(op)) && !op.getNoopWithEmptyAxes()) {
    named = data.where(r.f.op("Equal", {r.f.scalar(count), r.f.scalar(0)}), r.f.scalar(1), named);
  }
  Value go = r.f.op("Greater", {named, r.f.scalar(0)});
  // An axis that is named twice would be counted twice in the rank of the result, unless all axes stay.
  Value bad = op.getKeepdims() ? all.outside : r.f.op("Or", {all.outside, data.namedTwice(all)});
  Value kept = data.orNegative(bad, data.where(go, r.f.scalar(1), data.list(sizes)));
  bool ones = llvm::all_of(sizes, [](const Size &size) { return size.is(1); });
  for (auto [i, size] : llvm::enumerate(sizes)) {
    bool known = size.is(1) && !(ones && i == 0);
    r.kept.push_back(known ? size : data.read(data.element({kept, static_cast<int64_t>(i)}), max(size, 1)));
  }
  if (*rank == 1) {
    r.left = {product(r.kept)};
  } else if (!op.getKeepdims() && *rank > 1) {
    r.left = data.unnamed(all, sizes, *rank, bad);
  }
  r.sizesInData = true;
  return success();
}

/// Formulas of integers may be of floats, and are cast back at the end.
template <typename Op> static LogicalResult decomposeReduction(Op op, PatternRewriter &rewriter) {
  auto type = ranked(op.getData());
  std::optional<int64_t> bad;
  auto axes = type ? axesOf(op, bad) : std::nullopt;
  if (bad || !type || !isSized(op.getData())) {
    return failure();
  }
  Reduction r{Formula(rewriter, op.getLoc()), op.getData(), {}, {}, {}, false, op.getKeepdims() != 0};
  if (axes) {
    r.axes = *axes, r.left = without(sizesOf(type), *axes, false);
  } else if (failed(readAxes(op, r, rewriter))) {
    return failure();
  }
  Value y = formula(op, r);
  Type element = elementOf(op.getData());
  if (elementOf(y) != element) {
    y = r.f.cast(y, element, numberOfElement(element));
  }
  rewriter.replaceOp(op, y);
  return success();
}

#define INGOT_REDUCTION(Op)                                                                                            \
  LogicalResult Op::inferTypes(SmallVectorImpl<Type> &types) { return inferReduction(*this, types); }                  \
  LogicalResult Op::decompose(PatternRewriter &rewriter) { return decomposeReduction(*this, rewriter); }
// These are one Reduce each, and are also computed here if their operand is a constant.
#define INGOT_PLAIN_REDUCTION(Op)                                                                                      \
  INGOT_REDUCTION(Op)                                                                                                  \
  LogicalResult Op::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {                \
    return evaluateNode(*this, operands, results);                                                                     \
  }
INGOT_PLAIN_REDUCTION(ReduceSumOp)
INGOT_PLAIN_REDUCTION(ReduceMeanOp)
INGOT_PLAIN_REDUCTION(ReduceProdOp)
INGOT_PLAIN_REDUCTION(ReduceMaxOp)
INGOT_PLAIN_REDUCTION(ReduceMinOp)
INGOT_REDUCTION(ReduceL1Op)
INGOT_REDUCTION(ReduceL2Op)
INGOT_REDUCTION(ReduceLogSumOp)
INGOT_REDUCTION(ReduceLogSumExpOp)
INGOT_REDUCTION(ReduceSumSquareOp)

// These find positions of extremes.

template <typename Op> static LogicalResult inferExtreme(Op op, SmallVectorImpl<Type> &types) {
  Type element = IntegerType::get(op.getContext(), 64);
  auto type = ranked(op.getData());
  if (!type) {
    types.push_back(unrankedOf(element));
    return success();
  }
  auto axis = normalAxis(op.getAxis(), type.getRank());
  if (!axis) {
    return op.emitOpError("axis ") << op.getAxis() << " is outside a tensor of rank " << type.getRank();
  }
  types.push_back(sizedType(without(sizesOf(type), {*axis}, op.getKeepdims() != 0), element));
  return success();
}

template <typename Op, typename Better>
static LogicalResult evaluateExtreme(Op op, ElementsAttr data, Better better, SmallVectorImpl<ElementsAttr> &results) {
  auto x = integersOf(data);
  auto type = ranked(op.getData());
  if (!x || x->empty() || x->size() > evaluateLimit || isUint(type.getElementType(), 64)) {
    return failure(); // shape arithmetic is done on integers, which have a sign
  }
  int64_t axis = *normalAxis(op.getAxis(), type.getRank()), extent = type.getDimSize(axis),
          inner = elements(type.getShape().drop_front(axis + 1));
  SmallVector<int64_t> y;
  for (int64_t outer = 0; outer < static_cast<int64_t>(x->size()) / (extent * inner); ++outer) {
    for (int64_t i = 0; i < inner; ++i) {
      int64_t best = 0;
      // Elements are row-major: `inner` of them lie between neighbours along the axis.
      auto at = [&](int64_t k) { return (*x)[(outer * extent + k) * inner + i]; };
      for (int64_t k = 1; k < extent; ++k) {
        if (better(at(k), at(best)) || (op.getSelectLastIndex() && at(k) == at(best))) {
          best = k;
        }
      }
      y.push_back(best);
    }
  }
  results.push_back(constantFromIntegers(cast<RankedTensorType>(op.getType()), y));
  return success();
}

LogicalResult ArgMaxOp::inferTypes(SmallVectorImpl<Type> &types) { return inferExtreme(*this, types); }
LogicalResult ArgMinOp::inferTypes(SmallVectorImpl<Type> &types) { return inferExtreme(*this, types); }
LogicalResult ArgMaxOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  return evaluateExtreme(*this, operands[0], std::greater<int64_t>(), results);
}
LogicalResult ArgMinOp::evaluate(ArrayRef<ElementsAttr> operands, SmallVectorImpl<ElementsAttr> &results) {
  return evaluateExtreme(*this, operands[0], std::less<int64_t>(), results);
}

// These are running sums and products.

template <typename Op> static LogicalResult inferCumulative(Op op, SmallVectorImpl<Type> &types) {
  auto type = ranked(op.getX());
  auto axis = integersOf(op.getAxis());
  if (type && axis && axis->size() == 1 && !normalAxis(axis->front(), type.getRank())) {
    return op.emitOpError("axis ") << axis->front() << " is outside a tensor of rank " << type.getRank();
  }
  types.push_back(op.getX().getType());
  return success();
}

/// Makes an axis that is known only when the model runs an index into the results along all axes.
template <typename Op> static LogicalResult decomposeCumulative(Op op, StringRef kind, PatternRewriter &rewriter) {
  auto type = ranked(op.getX()), axisType = ranked(op.getAxis());
  if (!type || !axisType || llvm::any_of(axisType.getShape(), [](int64_t d) { return d != 1; })) {
    return failure();
  }
  Formula f(rewriter, op.getLoc());
  auto along = [&](int64_t axis) {
    SmallVector<NamedAttribute> attributes = {f.b.getNamedAttr("kind", f.b.getStringAttr(kind)),
                                              f.integer("axis", axis)};
    if (op.getExclusive()) {
      attributes.push_back(f.flag("exclusive"));
    }
    if (op.getReverse()) {
      attributes.push_back(f.flag("reverse"));
    }
    return f.op("Cumulative", {op.getX()}, attributes);
  };
  if (auto known = integersOf(op.getAxis())) {
    rewriter.replaceOp(op, along(*normalAxis(known->front(), type.getRank())));
    return success();
  }
  if (!isSized(op.getX()) || type.getRank() == 0) {
    return failure();
  }
  SmallVector<Value> sums;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    sums.push_back(f.op("Unsqueeze", {along(axis), makeIntegers(rewriter, op.getLoc(), {0})}));
  }
  Value all = f.op("Concat", sums, {f.integer("axis", 0)});
  rewriter.replaceOp(op, f.op("Gather", {all, f.reshape(op.getAxis(), {})}, {f.integer("axis", 0)}));
  return success();
}

LogicalResult CumSumOp::inferTypes(SmallVectorImpl<Type> &types) { return inferCumulative(*this, types); }
LogicalResult CumProdOp::inferTypes(SmallVectorImpl<Type> &types) { return inferCumulative(*this, types); }
LogicalResult CumSumOp::decompose(PatternRewriter &rewriter) { return decomposeCumulative(*this, "Sum", rewriter); }
LogicalResult CumProdOp::decompose(PatternRewriter &rewriter) { return decomposeCumulative(*this, "Prod", rewriter); }

LogicalResult CumulativeOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getX().getType());
  return success();
}

void registerReduce(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Reduce.cpp.inc"
      >();
}

} // namespace ingot::onnx
