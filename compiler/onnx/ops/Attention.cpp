// Writes Attention as products, a bias made of the masks, and a softmax. Heads that share keys are rows of one product:
// the queries of a group stand in an axis of their own, along which keys and values are repeated by broadcasting.
//
//   scores  = q k' * scale                  [batch, heads, queries, keys]; softcap makes it cap * tanh(scores / cap)
//   weights = softmax(scores + biases)      a bias is 0 for a key that the query may read, else minus infinity
//   y       = weights v                     [batch, heads, queries, width of v]
#include "compiler/onnx/ops/Attention.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include <cmath>
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Attention.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {
namespace {

constexpr double minusInfinity = -std::numeric_limits<double>::infinity();

/// The sizes of one node, in which heads have an axis of their own.
struct Heads {
  bool flat = false; ///< whether operands have rank 3: [batch, steps, heads * width]
  Size batch, queries, keys, past = 0;
  Size heads = 0, kvHeads = 0, width = 0, valueWidth = 0; ///< `kvHeads`: heads of keys and values
  Size group = 1;                                         ///< how many heads share keys
  Size total() const { return past + keys; }
};

/// Returns the sizes; nothing while those of the operands are not known; failure with a message where they contradict.
FailureOr<std::optional<Heads>> headsOf(AttentionOp op) {
  auto q = ranked(op.getQ()), k = ranked(op.getK()), v = ranked(op.getV());
  if (!isSized(op.getQ()) || !isSized(op.getK()) || !isSized(op.getV())) {
    return std::optional<Heads>();
  }
  int64_t rank = q.getRank();
  if ((rank != 3 && rank != 4) || k.getRank() != rank || v.getRank() != rank) {
    return op.emitOpError("Q, K and V must all have three dimensions or all four, not ") << q << ", " << k << ", " << v;
  }
  Heads h;
  h.flat = rank == 3;
  Sizes sq = sizesOf(q), sk = sizesOf(k), sv = sizesOf(v);
  h.batch = sq[0], h.queries = sq[h.flat ? 1 : 2], h.keys = sk[h.flat ? 1 : 2];
  h.heads = h.flat ? Size(static_cast<int64_t>(op.getQNumHeads().value_or(0))) : sq[1];
  h.kvHeads = h.flat ? Size(static_cast<int64_t>(op.getKvNumHeads().value_or(0))) : sk[1];
  auto columns = [&](const Sizes &sizes, const Size &heads) {
    return h.flat ? equalPart(op, sizes.back(), heads) : std::optional(sizes.back());
  };
  std::optional<Size> group = equalPart(op, h.heads, h.kvHeads), width = columns(sq, h.heads),
                      keyWidth = columns(sk, h.kvHeads), valueWidth = columns(sv, h.kvHeads);
  if (!group || group->is(0) || !width || !keyWidth || !valueWidth) {
    return op.emitOpError("") << h.heads.text() << " query heads and " << h.kvHeads.text()
                              << " heads of keys do not divide " << q << ", " << k << ", " << v;
  }
  if (failed(require(op, *width, *keyWidth))) {
    return op.emitOpError("heads of Q have ") << width->text() << " columns, those of K " << keyWidth->text();
  }
  for (const Sizes &other : {sk, sv}) {
    if (failed(require(op, h.batch, other[0]))) {
      return op.emitOpError("Q, K and V have different batches: ") << q << ", " << k << ", " << v;
    }
  }
  if (failed(require(op, h.keys, sv[h.flat ? 1 : 2])) || (!h.flat && failed(require(op, h.kvHeads, sv[1])))) {
    return op.emitOpError("K and V have different heads or steps: ") << k << ", " << v;
  }
  h.group = *group, h.width = *width, h.valueWidth = *valueWidth;
  if (present(op.getPastKey()) != present(op.getPastValue())) {
    return op.emitOpError("past_key and past_value are given together or not at all");
  }
  if (present(op.getPastKey())) {
    if (!isSized(op.getPastKey()) || ranked(op.getPastKey()).getRank() != 4) {
      return std::optional<Heads>();
    }
    h.past = sizeOf(ranked(op.getPastKey()), 2);
  }
  return std::optional(h);
}

/// The rewrite of one Attention.
struct Expansion {
  AttentionOp op;
  Heads h;
  Formula f;

  /// Returns [batch, steps, heads * width] as [batch, heads, steps, width]. Tensors of four axes have their heads apart
  /// already.
  Value splitHeads(Value x, const Size &steps, const Size &heads, const Size &width) {
    return h.flat ? f.transpose(f.reshapeTo(x, {h.batch, steps, heads, width}), {0, 2, 1, 3}) : x;
  }
  Value appended(Value past, Value now) {
    return present(past) ? f.op("Concat", {past, now}, {f.integer("axis", 2)}) : now;
  }
  Value row(const Size &n, bool column) {
    Value numbers = f.countTo(f.scalar(n));
    return column ? f.reshapeTo(numbers, {n, 1}) : numbers;
  }
  Value asQueries(Value x) { return f.cast(x, elementOf(op.getQ()), numberOfElement(elementOf(op.getQ()))); }
  /// Returns 0 where a key is allowed, else minus infinity.
  Value bias(Value allowed) {
    return f.op("Where", {allowed, f.number(0, op.getQ()), f.number(minusInfinity, op.getQ())});
  }

  /// Returns the mask as a bias over all keys; keys beyond its columns are not allowed.
  Value maskBias() {
    Value mask = op.getAttnMask();
    auto type = ranked(mask);
    Size missing = h.total() - sizeOf(type, -1 + type.getRank());
    bool isBool = onnx::isBool(type.getElementType());
    if (!missing.is(0)) {
      Sizes pads(2 * type.getRank(), 0);
      pads.back() = missing;
      Value filler = isBool ? makeConstant(f.b, f.loc, DenseElementsAttr::get(tensorOf({}, f.b.getI1Type()), false))
                            : f.number(minusInfinity, mask);
      mask = f.op("Pad", {mask, makeSizes(f.b, f.loc, pads), filler, Value()});
    }
    return isBool ? bias(mask) : asQueries(mask);
  }

  /// Returns how far the last query lies behind the last key: [] or, with lengths for each sequence, [batch, 1, 1, 1].
  /// Key j may be read by query i if j <= i + offset.
  Value queryOffset() {
    if (!present(op.getPastKey()) && present(op.getNonpadKvSeqlen())) {
      return f.sub(f.reshapeTo(op.getNonpadKvSeqlen(), {h.batch, 1, 1, 1}), f.scalar(h.queries));
    }
    return f.scalar(h.past);
  }

  /// Returns what is added to the scores; null: nothing is.
  Value allBiases() {
    Value sum;
    auto add = [&](Value v) { sum = sum ? f.add(sum, v) : v; };
    if (present(op.getAttnMask())) {
      add(maskBias());
    }
    int64_t left = op.getLeftWindowSize(), right = op.getRightWindowSize();
    if (op.getIsCausal() || left >= 0 || right >= 0) {
      // How far a key lies ahead of a query.
      Value ahead = f.sub(row(h.total(), false), f.add(row(h.queries, true), queryOffset()));
      auto atMost = [&](Value v, int64_t n) { add(bias(f.op("LessOrEqual", {v, f.scalar(n)}))); };
      if (op.getIsCausal()) {
        atMost(ahead, 0);
      }
      if (right >= 0) {
        atMost(ahead, right);
      }
      if (left >= 0) {
        atMost(f.sub(f.scalar(0), ahead), left);
      }
    }
    if (present(op.getNonpadKvSeqlen())) {
      Value length = f.reshapeTo(op.getNonpadKvSeqlen(), {h.batch, 1, 1, 1});
      add(bias(f.op("Less", {row(h.total(), false), length})));
    }
    return sum;
  }

  /// Returns queries times keys, [batch, heads, queries, total], or weights times values. `columns` is the result's
  /// last axis. Where several query heads share one of keys, their rows get an axis of groups, along which the keys are
  /// broadcast:
  ///
  ///   [batch, kvHeads, group, queries, width] times [batch, kvHeads, 1, width, total]
  Value grouped(Value rows, Value keysOrValues, const Size &inner, const Size &columns, bool transposed) {
    SmallVector<NamedAttribute> attributes;
    if (transposed) {
      attributes.push_back(f.flag("transB"));
    }
    if (h.group.is(1)) {
      return f.op("MatMul", {rows, keysOrValues}, attributes);
    }
    Sizes own = sizesOf(ranked(keysOrValues));
    Value a = f.reshapeTo(rows, {h.batch, h.kvHeads, h.group, h.queries, inner});
    Value b = f.reshapeTo(keysOrValues, {h.batch, h.kvHeads, 1, own[2], own[3]});
    return f.reshapeTo(f.op("MatMul", {a, b}, attributes), {h.batch, h.heads, h.queries, columns});
  }

  /// Returns the factor of the scores.
  Value scale() {
    if (op.getScale() || h.width.isNumber()) {
      double given = op.getScale() ? op.getScale()->convertToDouble() : 1 / std::sqrt(double(h.width.number()));
      return f.number(given, op.getQ());
    }
    Value width = f.cast(f.scalar(h.width), f.b.getF32Type(), 1);
    return asQueries(f.div(f.number(1, width), f.sqrt(width)));
  }

  /// The four stages are what qk_matmul_output_mode may ask for: scaled scores, behind the soft cap, with biases, and
  /// the weights. Where nobody reads them, fusion makes one kernel of all this.
  SmallVector<Value> run() {
    Value q = splitHeads(op.getQ(), h.queries, h.heads, h.width);
    Value k = appended(op.getPastKey(), splitHeads(op.getK(), h.keys, h.kvHeads, h.width));
    Value v = appended(op.getPastValue(), splitHeads(op.getV(), h.keys, h.kvHeads, h.valueWidth));
    Value stages[4];
    Value scores = stages[0] = f.mul(grouped(q, k, h.width, h.total(), true), scale());
    if (double cap = op.getSoftcap().convertToDouble(); cap > 0) {
      scores = f.mul(f.op("Tanh", {f.div(scores, f.number(cap, q))}), f.number(cap, q));
    }
    stages[1] = scores;
    Value biases = allBiases();
    scores = stages[2] = biases ? f.add(scores, biases) : scores;
    Value weights = f.op("Softmax", {scores}, {f.integer("axis", -1)});
    if (biases) { // a query without any key takes nothing
      Value best = f.reduce("ReduceMax", scores, {3}, true);
      Value nothing = f.op("Equal", {best, f.number(minusInfinity, q)});
      weights = f.op("Where", {nothing, f.number(0, q), weights});
    }
    stages[3] = weights;
    Value y = grouped(weights, asQueries(v), h.total(), h.valueWidth, false);
    if (h.flat) {
      y = f.reshapeTo(f.transpose(y, {0, 2, 1, 3}), {h.batch, h.queries, h.heads * h.valueWidth});
    }
    return {y, k, v, stages[op.getQkMatmulOutputMode()]};
  }
};

} // namespace

BlockArgument AttendOp::lastKey() {
  return dyn_cast_or_null<BlockArgument>(cast<ScoreOp>(block().getTerminator()).getLastKey());
}

/// Attend is the fused kernel: its region computes a score from the product of a query and a key.
LogicalResult AttendOp::verify() {
  RankedTensorType product = block().getNumArguments() ? ranked(block().getArgument(0)) : RankedTensorType();
  if (!product || product.getRank() < 2 || static_cast<int64_t>(getPerm().size()) != product.getRank() ||
      !llvm::all_of(getPerm(), [&](int64_t axis) { return axis >= 0 && axis < product.getRank(); })) {
    return emitOpError("needs a product of two axes or more, and an order of them");
  }
  for (StridedAttr walk : {getWalkQ(), getWalkK(), getWalkV()}) {
    if (size_t strides = walk.getStrides().getValues().size(); static_cast<int64_t>(strides) != product.getRank()) {
      return emitOpError("has a walk of ") << strides << " strides, expected " << product.getRank();
    }
  }
  return success();
}

/// The result has the product's axes with the values' width in the place of the keys, in the order `perm`.
LogicalResult AttendOp::inferTypes(SmallVectorImpl<Type> &types) {
  Sizes axes = sizesOf(ranked(product())), result;
  axes.back() = static_cast<int64_t>(getValueWidth());
  for (int64_t axis : getPerm()) {
    result.push_back(axes[axis]);
  }
  types.push_back(sizedType(result, elementOf(getV())));
  return success();
}

LogicalResult AttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getQ());
  FailureOr<std::optional<Heads>> heads = headsOf(*this);
  if (failed(heads)) {
    return failure();
  }
  if (getQkMatmulOutputMode() < 0 || getQkMatmulOutputMode() > 3) {
    return emitOpError("attribute 'qk_matmul_output_mode' is ") << getQkMatmulOutputMode();
  }
  if (!*heads) {
    types.assign(4, typeOfRank(4, element));
    types[0] = typeOfRank(commonRank({getQ(), getK(), getV()}), element);
    types[2] = typeOfRank(4, elementOf(getV()));
    return success();
  }
  const Heads &h = **heads;
  types.push_back(h.flat ? sizedType({h.batch, h.queries, h.heads * h.valueWidth}, element)
                         : sizedType({h.batch, h.heads, h.queries, h.valueWidth}, element));
  types.push_back(sizedType({h.batch, h.kvHeads, h.total(), h.width}, element));
  types.push_back(sizedType({h.batch, h.kvHeads, h.total(), h.valueWidth}, elementOf(getV())));
  types.push_back(sizedType({h.batch, h.heads, h.queries, h.total()}, element));
  return success();
}

LogicalResult AttentionOp::decompose(PatternRewriter &rewriter) {
  FailureOr<std::optional<Heads>> heads = headsOf(*this);
  bool masked = present(getAttnMask());
  if (failed(heads) || !*heads || (masked && (!isSized(getAttnMask()) || ranked(getAttnMask()).getRank() == 0))) {
    return failure();
  }
  rewriter.replaceOp(*this, Expansion{*this, **heads, {rewriter, getLoc()}}.run());
  return success();
}

LogicalResult RotaryEmbeddingOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getX().getType());
  return success();
}

/// Rotates pairs of columns by the angles of their positions. A pair is column i of both halves, or two neighbours. A
/// pair (a, b) becomes (a cos - b sin, a sin + b cos); columns from rotary_embedding_dim on stay.
LogicalResult RotaryEmbeddingOp::decompose(PatternRewriter &rewriter) {
  auto type = ranked(getX());
  if (!isSized(getX()) || !isSized(getCosCache()) || !isSized(getSinCache()) ||
      (present(getPositionIds()) && !isSized(getPositionIds()))) {
    return failure();
  }
  Sizes shape = sizesOf(type);
  bool flat = type.getRank() == 3;
  int64_t heads = static_cast<int64_t>(getNumHeads());
  std::optional<Size> each;
  if (flat || type.getRank() == 4) {
    each = flat ? equalPart(*this, shape.back(), heads) : std::optional(shape.back());
  }
  if (!each) {
    return emitOpError("") << heads << " heads do not divide " << type;
  }
  Size width = *each, rotated = getRotaryEmbeddingDim() ? Size(static_cast<int64_t>(getRotaryEmbeddingDim())) : width;
  std::optional<Size> pairs = equalPart(*this, rotated, 2);
  if (!pairs || failed(require(*this, min(rotated, width), rotated))) {
    return emitOpError("rotates ") << rotated.text() << " of " << width.text() << " columns";
  }
  Size half = *pairs;
  Formula f(rewriter, getLoc());
  Value x = flat ? f.reshapeTo(getX(), {shape[0], shape[1], heads, width}) : getX();
  auto part = [&](Value v, const Size &from, const Size &to, int64_t step) {
    auto one = [&](const Size &n) { return makeSizes(f.b, f.loc, {n}); };
    return f.op("Slice", {v, one(from), one(to), one(3), one(step)});
  };
  // The angles are [batch, steps, half], with an axis for the heads.
  auto angles = [&](Value cache) {
    Value v = present(getPositionIds()) ? f.op("Gather", {cache, getPositionIds()}, {f.integer("axis", 0)}) : cache;
    return f.op("Unsqueeze", {v, makeIntegers(f.b, f.loc, {flat ? 2 : 1})});
  };
  Value cosine = angles(getCosCache()), sine = angles(getSinCache());
  bool neighbours = getInterleaved() != 0;
  Value a = neighbours ? part(x, 0, rotated, 2) : part(x, 0, half, 1);
  Value b = neighbours ? part(x, 1, rotated, 2) : part(x, half, rotated, 1);
  Value real = f.sub(f.mul(cosine, a), f.mul(sine, b)), imaginary = f.add(f.mul(sine, a), f.mul(cosine, b));
  Value y;
  if (neighbours) {
    Value axis = makeIntegers(f.b, f.loc, {4});
    Sizes both = sizesOf(ranked(x));
    both.back() = rotated;
    y = f.op("Concat", {f.op("Unsqueeze", {real, axis}), f.op("Unsqueeze", {imaginary, axis})}, {f.integer("axis", 4)});
    y = f.reshapeTo(y, both);
  } else {
    y = f.op("Concat", {real, imaginary}, {f.integer("axis", 3)});
  }
  if (rotated != width) {
    y = f.op("Concat", {y, part(x, rotated, width, 1)}, {f.integer("axis", 3)});
  }
  rewriter.replaceOp(*this, f.reshapeTo(y, shape));
  return success();
}

LogicalResult TensorScatterOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.push_back(getPastCache().getType());
  return success();
}

/// Writes ScatterElements whose places are those of the update, moved along the axis by what write_indices says for the
/// batch.
LogicalResult TensorScatterOp::decompose(PatternRewriter &rewriter) {
  auto cache = ranked(getPastCache()), update = ranked(getUpdate());
  if (!isSized(getPastCache()) || !isSized(getUpdate())) {
    return failure();
  }
  auto axis = normalAxis(getAxis(), cache.getRank());
  if (update.getRank() != cache.getRank() || !axis || *axis == 0 ||
      (getMode() != "linear" && getMode() != "circular")) {
    return emitOpError("cannot write ") << update << " into " << cache << " along axis " << getAxis();
  }
  Formula f(rewriter, getLoc());
  Sizes sizes = sizesOf(update), along(cache.getRank(), 1), first(cache.getRank(), 1);
  along[*axis] = sizes[*axis], first[0] = sizes[0];
  Value places = f.reshapeTo(f.countTo(f.scalar(sizes[*axis])), along);
  if (present(getWriteIndices())) {
    places = f.add(places, f.reshapeTo(getWriteIndices(), first));
  }
  if (getMode() == "circular") {
    places = f.op("Mod", {places, f.scalar(sizeOf(cache, *axis))});
  }
  places = f.op("Expand", {places, makeSizes(f.b, f.loc, sizes)});
  rewriter.replaceOp(*this, f.op("ScatterElements", {getPastCache(), places, getUpdate()}, {f.integer("axis", *axis)}));
  return success();
}

void registerAttention(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Attention.cpp.inc"
      >();
}

} // namespace ingot::onnx
