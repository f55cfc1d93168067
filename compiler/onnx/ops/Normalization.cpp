// Makes normalisations Standardize, whose scale and bias are elementwise ops behind it; batch normalisation becomes a
// product and a sum, which a convolution before it absorbs. Softmax is a kernel family of its own.
//
//   LayerNormalization(x, g, b)      Standardize(x, over the axes from `axis` on) * g + b
//   RMSNormalization(x, g)           Standardize(x, uncentered) * g
//   GroupNormalization, 2 groups     Standardize of x as [N, 2, C / 2 * pixels], along the last axis; then * g + b
//   BatchNormalization               x * factor + (b - mean * factor), where factor = g / sqrt(variance + epsilon)
#include "compiler/onnx/ops/Normalization.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/rewriting/TrainingMode.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Normalization.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static LogicalResult sameType(Value x, SmallVectorImpl<Type> &types) {
  types.push_back(x.getType());
  return success();
}

/// Checks that an axis exists once the rank is known.
static LogicalResult checkAxis(Operation *op, Value x, int64_t axis) {
  auto type = ranked(x);
  if (type && !normalAxis(axis, type.getRank())) {
    return op->emitOpError("axis ") << axis << " is outside a tensor of rank " << type.getRank();
  }
  return success();
}

/// Checks that operands have one value for each channel, which says how many an open axis has, or for each of `groups`
/// where those are allowed.
static LogicalResult checkPerChannel(Operation *op, ValueRange operands, Value x, int64_t groups = 0) {
  auto type = ranked(x);
  Size channels = type && type.getRank() > 1 ? sizeOf(type, 1) : Size::unknown();
  for (Value v : operands) {
    auto own = ranked(v);
    Size count = own && own.getRank() == 1 ? sizeOf(own, 0) : channels;
    bool fits = (groups > 0 && count.is(groups)) || succeeded(require(op, channels, count));
    if (own && (own.getRank() != 1 || !fits)) {
      return op->emitOpError("operand of type ") << own << " does not have a value for each channel of " << type;
    }
  }
  return success();
}

// These belong to Softmax, LogSoftmax and Hardmax.

/// Takes the definition before opset 13, which goes over all axes from `axis` on, as one. It is that of today where
/// this is the last axis only.
static LogicalResult upgradeAlongAxis(Node &node) {
  if (node.opset >= 13 || !node.operand(0)) {
    return success();
  }
  auto given = dyn_cast_or_null<IntegerAttr>(node.attributes.get("axis"));
  int64_t axis = given ? given.getInt() : 1;
  node.attributes.set("axis", node.builder.getI64IntegerAttr(-1));
  Value x = node.operand(0);
  auto type = ranked(x);
  // The default axis lies outside a vector, and the vector's only axis was meant.
  if (type && ((type.getRank() == 1 && axis == 1) || normalAxis(axis, type.getRank()) == type.getRank() - 1)) {
    return success();
  }
  if (type && !normalAxis(axis, type.getRank())) {
    return node.error("axis " + Twine(axis) + " is outside a tensor of rank " + Twine(type.getRank()));
  }
  Formula f(node.builder, node.loc);
  node.operands[0] = f.op("Flatten", {x}, {f.integer("axis", axis)});
  // The result gets the shape of the operand again, behind the op of the newest definition.
  node.after = [x, loc = node.loc](OpBuilder &b, Value y) {
    Formula g(b, loc);
    return isStatic(x) ? g.reshape(y, ranked(x).getShape()) : g.op("Reshape", {y, g.op("Shape", {x})});
  };
  return success();
}

#define INGOT_ALONG_AXIS(Op)                                                                                           \
  LogicalResult Op::upgrade(Node &node) { return upgradeAlongAxis(node); }                                             \
  LogicalResult Op::inferTypes(SmallVectorImpl<Type> &types) {                                                         \
    return failed(checkAxis(*this, getInput(), getAxis())) ? failure() : sameType(getInput(), types);                  \
  }
INGOT_ALONG_AXIS(SoftmaxOp)
INGOT_ALONG_AXIS(LogSoftmaxOp)
INGOT_ALONG_AXIS(HardmaxOp)

/// Writes one where the position is that of the first maximum.
LogicalResult HardmaxOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getInput());
  if (!type || !isSized(getInput())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  int64_t axis = *normalAxis(getAxis(), type.getRank());
  Sizes shape(type.getRank() - axis, 1);
  shape[0] = sizeOf(type, axis);
  Value positions = f.reshapeTo(f.countTo(f.scalar(shape[0])), shape);
  Value best = f.op("ArgMax", {getInput()}, {f.integer("axis", axis), f.integer("keepdims", 1)});
  Value hit = f.op("Equal", {best, positions});
  rewriter.replaceOp(*this, f.op("Where", {hit, f.number(1, getInput()), f.number(0, getInput())}));
  return success();
}

// These belong to Standardize and the ops that become it.

LogicalResult StandardizeOp::inferTypes(SmallVectorImpl<Type> &types) { return sameType(getX(), types); }

/// Writes (x - mean) / sqrt(variance + epsilon) over the axes from `firstAxis` on; uncentered, x / sqrt(mean square +
/// epsilon).
static Value standardized(Formula &f, Value x, int64_t firstAxis, double epsilon, bool centered = true) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(firstAxis, ranked(x).getRank()));
  SmallVector<NamedAttribute> attributes = {f.b.getNamedAttr("axes", f.b.getDenseI64ArrayAttr(axes)),
                                            f.number("epsilon", epsilon)};
  if (!centered) {
    attributes.push_back(f.flag("uncentered"));
  }
  return f.op("Standardize", {x}, attributes);
}

/// Returns [C] as [C, 1, 1 ...], to go with a tensor of this rank.
static Value perChannel(Formula &f, Value v, int64_t rank) {
  Sizes shape(std::max<int64_t>(rank - 1, 1), 1);
  shape[0] = sizeOf(ranked(v), 0);
  return f.reshapeTo(v, shape);
}

/// Checks that operands fit the last axes of `x`, whose open sizes they say.
static LogicalResult checkScales(Operation *op, ValueRange operands, Value x) {
  auto type = ranked(x);
  for (Value v : operands) {
    auto own = v && type ? ranked(v) : RankedTensorType();
    if (!own) {
      continue;
    }
    Sizes sizes = sizesOf(type), wanted = sizesOf(own);
    bool fits = wanted.size() <= sizes.size();
    for (size_t i = 0; fits && i < wanted.size(); ++i) {
      const Size &d = sizes[sizes.size() - wanted.size() + i];
      // A scale of size 1 along an axis says nothing about the size of the operand.
      fits = wanted[i].repeats() || succeeded(require(op, d, wanted[i]));
    }
    if (!fits) {
      return op->emitOpError("operand of type ") << own << " does not fit the last axes of " << type;
    }
  }
  return success();
}

/// Mean and deviation have size 1 along the axes that are normalized, and the type that stash_type names.
LogicalResult LayerNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getX().getType());
  Type statistics = getStashType() == 1 ? Type(Float32Type::get(getContext())) : elementOf(getX());
  auto type = ranked(getX());
  if (!type) {
    types.append(2, unrankedOf(statistics));
    return success();
  }
  if (failed(checkAxis(*this, getX(), getAxis())) || failed(checkScales(*this, {getScale(), getB()}, getX()))) {
    return failure();
  }
  Sizes shape = sizesOf(type);
  std::fill(shape.begin() + *normalAxis(getAxis(), type.getRank()), shape.end(), Size(1));
  types.append(2, sizedType(shape, statistics));
  return success();
}

/// Mean and deviation, which only training reads, are computed apart from the kernel, where they are read.
LogicalResult LayerNormalizationOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getX());
  if (!type) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value x = getX();
  double epsilon = getEpsilon().convertToDouble();
  int64_t first = *normalAxis(getAxis(), type.getRank());
  if (!getMean().use_empty() || !getInvStdDev().use_empty()) {
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(first, type.getRank()));
    Value mean = f.reduce("ReduceMean", x, axes, true), centred = f.sub(x, mean);
    Value variance = f.reduce("ReduceMean", f.mul(centred, centred), axes, true);
    rewriter.replaceAllUsesWith(getMean(), mean);
    rewriter.replaceAllUsesWith(getInvStdDev(), f.div(f.number(1, x), f.sqrt(f.add(variance, f.number(epsilon, x)))));
  }
  Value y = f.mul(standardized(f, x, first, epsilon), getScale());
  rewriter.replaceAllUsesWith(getY(), present(getB()) ? f.add(y, getB()) : y);
  rewriter.eraseOp(*this);
  return success();
}

LogicalResult RMSNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  bool bad = failed(checkAxis(*this, getX(), getAxis())) || failed(checkScales(*this, {getScale()}, getX()));
  return bad ? failure() : sameType(getX(), types);
}
LogicalResult RMSNormalizationOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getX());
  if (!type) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  int64_t first = *normalAxis(getAxis(), type.getRank());
  rewriter.replaceOp(
      *this, f.mul(standardized(f, getX(), first, getEpsilon().convertToDouble(), /*centered=*/false), getScale()));
  return success();
}

LogicalResult InstanceNormalizationOp::upgrade(Node &node) {
  node.attributes.erase("consumed_inputs");
  return success();
}
LogicalResult InstanceNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto bad = checkPerChannel(*this, {getScale(), getB()}, getInput());
  return failed(bad) ? failure() : sameType(getInput(), types);
}
/// Each channel of each image is standardized over its pixels.
LogicalResult InstanceNormalizationOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getInput());
  if (!type || type.getRank() < 3 || !isSized(getScale()) || !isSized(getB())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  int64_t rank = type.getRank();
  Value y = standardized(f, getInput(), 2, getEpsilon().convertToDouble());
  rewriter.replaceOp(*this, f.add(f.mul(y, perChannel(f, getScale(), rank)), perChannel(f, getB(), rank)));
  return success();
}

LogicalResult GroupNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto type = ranked(getX());
  int64_t groups = getNumGroups();
  Size channels = type && type.getRank() > 1 && groups > 0 ? sizeOf(type, 1) : Size::unknown();
  if (type && (type.getRank() < 2 || groups < 1 ||
               failed(require(*this, channels, Size(groups) * floorDiv(channels, groups))))) {
    return emitOpError("the channels of ") << type << " do not divide into " << groups << " groups";
  }
  auto bad = checkPerChannel(*this, {getScale(), getBias()}, getX(), groups);
  return failed(bad) ? failure() : sameType(getX(), types);
}

/// Repeats scale and bias, which were per group before opset 21, for the group's channels.
static Value spread(Formula &f, Value v, int64_t groups, const Size &channels) {
  if (Size count = sizeOf(ranked(v), 0); count == channels || !count.is(groups)) {
    return v;
  }
  Value column = f.reshape(v, {groups, 1});
  Value wide = f.op("Expand", {column, makeSizes(f.b, f.loc, {groups, floorDiv(channels, groups)})});
  return f.reshapeTo(wide, {channels});
}

/// The channels of a group and their pixels become one axis, over which is standardized.
LogicalResult GroupNormalizationOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getX());
  if (!type || !isSized(getX()) || type.getRank() < 2 || !isSized(getScale()) || !isSized(getBias())) {
    return failure();
  }
  int64_t rank = type.getRank(), groups = getNumGroups();
  Formula f(rewriter, getLoc());
  Sizes sizes = sizesOf(type);
  Size channels = sizes[1], inGroup = product(ArrayRef(sizes).drop_front(2)) * floorDiv(channels, groups);
  Value rows = f.reshapeTo(getX(), {sizes[0], groups, inGroup});
  Value y = f.reshapeTo(standardized(f, rows, 2, getEpsilon().convertToDouble()), sizes);
  y = f.mul(y, perChannel(f, spread(f, getScale(), groups, channels), rank));
  rewriter.replaceOp(*this, f.add(y, perChannel(f, spread(f, getBias(), groups, channels), rank)));
  return success();
}

// These belong to batch normalisation.

/// Returns what scale and bias become with the mean and the variance: a factor, and a number that is added behind it.
static std::pair<Value, Value> factorAndOffset(Formula &f, Value scale, Value bias, Value mean, Value variance,
                                               double epsilon) {
  Value factor = f.div(scale, f.sqrt(f.add(variance, f.number(epsilon, variance))));
  return {factor, f.sub(bias, f.mul(mean, factor))};
}

/// Takes a definition before opset 9, which could have statistics for each place of an image, in its shape.
static LogicalResult upgradePlaces(Node &node) {
  if (failed(node.needs(5))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  auto [factor, offset] = factorAndOffset(f, node.operand(1), node.operand(2), node.operand(3), node.operand(4),
                                          node.number("epsilon", 1e-5F));
  node.results = {f.add(f.mul(node.operand(0), factor), offset)};
  return success(static_cast<bool>(node.results.front()));
}

LogicalResult BatchNormalizationOp::upgrade(Node &node) {
  auto spatial = dyn_cast_or_null<IntegerAttr>(node.attributes.erase("spatial"));
  node.attributes.erase("is_test");
  node.attributes.erase("consumed_inputs");
  if (node.opset < 14 && node.outputs > 1) {
    return node.error("has outputs that only training writes, which is unsupported");
  }
  warnIfItTakesStatistics(node);
  if (!node.integer("training_mode", 0)) {
    warnIfItHasNoRoot(node, node.operand(4), node.number("epsilon", 1e-5F));
  }
  return spatial && spatial.getInt() == 0 ? upgradePlaces(node) : success();
}

LogicalResult BatchNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkPerChannel(*this, {getScale(), getB(), getInputMean(), getInputVar()}, getX()))) {
    return failure();
  }
  auto type = ranked(getX());
  for (Value v : {getScale(), getB(), getInputMean(), getInputVar()}) {
    auto own = ranked(v);
    bool one = type && own && type.getRank() == 1; // the only axis is the batch's, and there is one channel
    if (one && failed(require(*this, sizeOf(own, 0), 1))) {
      return emitOpError("operand of type ") << own << " does not have a value for each channel of " << type;
    }
  }
  types.assign({getX().getType(), getInputMean().getType(), getInputVar().getType()});
  return success();
}

/// The factor and the offset of each channel are constants at inference. Training computes the statistics of the batch
/// over all axes but the channels', and moves the running ones towards them by the momentum.
LogicalResult BatchNormalizationOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getX());
  if (!type || type.getRank() < 1 || !isSized(getScale()) || !isSized(getInputMean())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value mean = getInputMean(), variance = getInputVar();
  int64_t rank = type.getRank();
  if (getTrainingMode()) {
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    bool one = rank == 1; // the only axis is the batch's, and there is one channel
    if (!one) {
      axes.erase(axes.begin() + 1);
    }
    Value centred = f.sub(getX(), f.reduce("ReduceMean", getX(), axes, true));
    Value momentum = f.number(getMomentum().convertToDouble(), mean),
          rest = f.number(1 - getMomentum().convertToDouble(), mean);
    mean = f.reduce("ReduceMean", getX(), axes, one);
    variance = f.reduce("ReduceMean", f.mul(centred, centred), axes, one);
    rewriter.replaceAllUsesWith(getRunningMean(), f.add(f.mul(getInputMean(), momentum), f.mul(mean, rest)));
    rewriter.replaceAllUsesWith(getRunningVar(), f.add(f.mul(getInputVar(), momentum), f.mul(variance, rest)));
  } else {
    rewriter.replaceAllUsesWith(getRunningMean(), getInputMean());
    rewriter.replaceAllUsesWith(getRunningVar(), getInputVar());
  }
  auto [factor, offset] = factorAndOffset(f, getScale(), getB(), mean, variance, getEpsilon().convertToDouble());
  Value y = f.add(f.mul(getX(), perChannel(f, factor, rank)), perChannel(f, offset, rank));
  rewriter.replaceAllUsesWith(getY(), y);
  rewriter.eraseOp(*this);
  return success();
}

// These are the others.

LogicalResult MeanVarianceNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  bool bad = llvm::any_of(getAxes(), [&](int64_t axis) { return failed(checkAxis(*this, getX(), axis)); });
  return bad ? failure() : sameType(getX(), types);
}
/// The standard adds 1e-9 to the deviation and not to the variance, so this is no Standardize.
LogicalResult MeanVarianceNormalizationOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getX());
  if (!type) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value centred = f.sub(getX(), f.reduce("ReduceMean", getX(), getAxes(), true));
  Value deviation = f.sqrt(f.reduce("ReduceMean", f.mul(centred, centred), getAxes(), true));
  rewriter.replaceOp(*this, f.div(centred, f.add(deviation, f.number(1e-9, getX()))));
  return success();
}

LogicalResult LpNormalizationOp::inferTypes(SmallVectorImpl<Type> &types) {
  return failed(checkAxis(*this, getInput(), getAxis())) ? failure() : sameType(getInput(), types);
}
LogicalResult LpNormalizationOp::decompose(PatternRewriter &rewriter) {
  if (!ranked(getInput()) || (getP() != 1 && getP() != 2)) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value norm = f.reduce(getP() == 1 ? "ReduceL1" : "ReduceL2", getInput(), static_cast<int64_t>(getAxis()), true);
  Value zero = f.number(0, norm); // this keeps rows of zeros
  norm = f.op("Where", {f.op("Equal", {norm, zero}), f.number(1, norm), norm});
  rewriter.replaceOp(*this, f.div(getInput(), norm));
  return success();
}

void registerNormalization(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Normalization.cpp.inc"
      >();
}

} // namespace ingot::onnx
