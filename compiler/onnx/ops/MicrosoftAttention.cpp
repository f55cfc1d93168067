// Makes all of these operators the standard's Attention, whose fusion makes one kernel of it. A mask of ONNX Runtime
// adds a large negative number instead of minus infinity, so that a query without any key looks at all of them; that is
// kept.
#include "compiler/onnx/ops/MicrosoftAttention.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ops/Attention.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "compiler/onnx/sizes/Ranks.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/MicrosoftAttention.cpp.inc"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// The sizes of one attention, which both kinds of node give.
struct Shape {
  Size batch, queries, keys, past = 0;
  Size width = 0, valueWidth = 0; ///< the widths of all heads together
  Size total() const { return past + keys; }
};

/// Returns the part [from, to) of the last axis.
Value columns(Formula &f, Value v, const Size &from, const Size &to) {
  return slice(f, v, -1, makeSizes(f.b, f.loc, {from}), makeSizes(f.b, f.loc, {to}));
}

/// Returns what masks add to the scores, [batch, 1, 1 or queries, total], in one of the forms that isKnownMask() knows.
/// One number for each sentence is how many keys it has; two are where they end and begin.
Value maskBias(Formula &f, Value mask, const Shape &s, double filter, Value like) {
  auto type = ranked(mask);
  Value row = f.countTo(f.scalar(s.total())), allowed;
  auto each = [&](Value v) { return f.reshapeTo(f.cast(v, f.b.getI64Type(), 7), {s.batch, 1, 1, 1}); };
  if (type.getRank() == 1 && sizeOf(type, 0) != s.batch * Size(2)) {
    allowed = f.op("Less", {row, each(mask)});
  } else if (type.getRank() == 1) {
    Value pairs = f.reshapeTo(mask, {2, s.batch});
    auto part = [&](int64_t i) {
      return each(f.op("Gather", {pairs, makeInteger(f.b, f.loc, i)}, {f.integer("axis", 0)}));
    };
    allowed = f.op("And", {f.op("Less", {row, part(0)}), f.op("GreaterOrEqual", {row, part(1)})});
  } else {
    Value wide = type.getRank() == 2 ? f.reshapeTo(mask, {sizeOf(type, 0), 1, 1, s.total()})
                                     : f.reshapeTo(mask, {sizeOf(type, 0), 1, sizeOf(type, 1), s.total()});
    Value zero = makeConstant(f.b, f.loc, constantFromIntegers(tensorOf({}, type.getElementType()), {0}));
    allowed = f.op("Greater", {wide, zero});
  }
  return f.op("Where", {allowed, f.number(0, like), f.number(filter, like)});
}

/// Whether a mask has a known form; its open sizes are required to fit. These are lengths [batch], ends and begins [2 *
/// batch], and rows [batch, total] or [batch, queries, total].
bool isKnownMask(Operation *op, Value mask, const Shape &s) {
  auto type = ranked(mask);
  if (!type || type.getRank() < 1 || type.getRank() > 3) {
    return false;
  }
  Size last = sizeOf(type, type.getRank() - 1);
  if (type.getRank() == 1) {
    return last == s.batch * Size(2) || succeeded(require(op, last, s.batch));
  }
  return succeeded(require(op, last, s.total()));
}

/// The operands and attributes of the standard's Attention.
struct Parts {
  Value q, k, v, bias = {}, pastKey = {}, pastValue = {};
  int64_t heads = 0;
  std::optional<APFloat> scale = {};
  bool causal = false;
};

/// Makes an Attention, whose results are [batch, queries, width], and the keys and values with those of the past.
Operation *attention(Formula &f, const Parts &p) {
  SmallVector<NamedAttribute> attributes = {f.integer("q_num_heads", p.heads), f.integer("kv_num_heads", p.heads),
                                            f.integer("is_causal", p.causal)};
  if (p.scale && !p.scale->isZero()) {
    attributes.push_back(f.number("scale", p.scale->convertToDouble()));
  }
  return createOp(f.b, f.loc, "onnx.Attention", {p.q, p.k, p.v, p.bias, p.pastKey, p.pastValue, Value()}, attributes,
                  4);
}

/// Returns what a node's mask and bias add to the scores; null: nothing.
template <typename Op> Value biasOf(Formula &f, Op op, Value mask, const Shape &s, Value like) {
  Value masked = present(mask) ? maskBias(f, mask, s, op.getMaskFilterValue().convertToDouble(), like) : Value();
  Value given = present(op.getAttentionBias()) ? op.getAttentionBias() : Value();
  return masked && given ? f.add(masked, given) : masked ? masked : given;
}

/// Infers the first output, of all heads together, and the ones that `presents` adds, which are unranked while sizes
/// are not known.
LogicalResult inferOutputs(Operation *op, const FailureOr<std::optional<Shape>> &shape, Value mask, Type element,
                           SmallVectorImpl<Type> &types, llvm::function_ref<void(const Shape &)> presents) {
  if (failed(shape)) {
    return failure();
  }
  if (!*shape) { // keys and values in one result have one axis more
    types.assign(op->getNumResults(), typeOfRank(op->getNumResults() == 2 ? 5 : 4, element));
    types[0] = typeOfRank(3, element);
    return success();
  }
  const Shape &s = **shape;
  if (present(mask) && isSized(mask) && !isKnownMask(op, mask, s)) {
    return op->emitOpError("a mask of type ") << mask.getType() << " is unsupported";
  }
  types.push_back(sizedType({s.batch, s.queries, s.valueWidth}, element));
  presents(s);
  return success();
}

} // namespace

// These write Attention.

/// Returns the sizes; nothing while they are not known; failure with a message where they contradict.
static FailureOr<std::optional<Shape>> shapeOf(PackedInputAttentionOp op) {
  if (!isSized(op.getInput()) || !isStatic(op.getWeights()) || (present(op.getPast()) && !isSized(op.getPast()))) {
    return std::optional<Shape>();
  }
  auto x = ranked(op.getInput()), w = ranked(op.getWeights());
  int64_t heads = op.getNumHeads();
  if (op.getDoRotary() || op.getPastPresentShareBuffer() || present(op.getPastSequenceLength())) {
    return op.emitOpError("do_rotary, past_present_share_buffer and past_sequence_length are unsupported");
  }
  if (x.getRank() != 3 || w.getRank() != 2 || failed(require(op, sizeOf(x, 2), sizeOf(w, 0)))) {
    return op.emitOpError("input ") << x << " and weights " << w << " do not fit each other";
  }
  Shape s{sizeOf(x, 0), sizeOf(x, 1), sizeOf(x, 1)};
  auto given = op.getQkvHiddenSizes();
  bool three = given && given->size() == 3;
  int64_t width = three ? (*given)[0] : w.getDimSize(1) / 3, values = three ? (*given)[2] : w.getDimSize(1) / 3;
  s.width = width, s.valueWidth = values;
  if (heads < 1 || width < 1 || values < 1 || width % heads || values % heads || (given && !three) ||
      (three && (*given)[1] != width) || 2 * width + values != w.getDimSize(1)) {
    return op.emitOpError("") << heads << " heads do not divide the columns of weights " << w;
  }
  if (present(op.getPast())) {
    auto past = ranked(op.getPast());
    if (past.getRank() != 5 || s.width != s.valueWidth || failed(require(op, sizeOf(past, 0), 2))) {
      return op.emitOpError("past of type ") << past << " does not hold keys and values of so many heads";
    }
    s.past = sizeOf(past, 3);
  }
  return std::optional(s);
}

/// The second result holds keys and values of past and present, [2, batch, heads, total, width].
LogicalResult PackedInputAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getInput());
  auto heads = static_cast<int64_t>(getNumHeads());
  return inferOutputs(*this, shapeOf(*this), getMaskIndex(), element, types, [&](const Shape &s) {
    types.push_back(sizedType({2, s.batch, heads, s.total(), floorDiv(s.width, heads)}, element));
  });
}

/// Replaces Attention whose past and present hold keys and values in one tensor.
template <typename Op> static void replaceByPacked(PatternRewriter &rewriter, Op op, Formula &f, Parts &p) {
  auto half = [&](int64_t i) {
    return present(op.getPast()) ? f.op("Gather", {op.getPast(), makeInteger(f.b, f.loc, i)}, {f.integer("axis", 0)})
                                 : Value();
  };
  p.pastKey = half(0), p.pastValue = half(1);
  p.heads = op.getNumHeads(), p.scale = op.getScale(), p.causal = op.getUnidirectional() != 0;
  Operation *y = attention(f, p);
  rewriter.replaceAllUsesWith(op.getOutput(), y->getResult(0));
  if (!op.getPresent().use_empty()) {
    auto row = [&](Value v) { return f.op("Unsqueeze", {v, makeIntegers(f.b, f.loc, {0})}); };
    Value both = f.op("Concat", {row(y->getResult(1)), row(y->getResult(2))}, {f.integer("axis", 0)});
    rewriter.replaceAllUsesWith(op.getPresent(), both);
  }
  rewriter.eraseOp(op);
}

/// One product makes queries, keys and values, which are its columns.
LogicalResult PackedInputAttentionOp::decompose(PatternRewriter &rewriter) {
  auto shape = shapeOf(*this);
  Value mask = getMaskIndex();
  if (failed(shape) || !*shape || (present(mask) && !isSized(mask))) {
    return failure();
  }
  const Shape &s = **shape;
  Formula f(rewriter, getLoc());
  Value all = f.op("MatMul", {getInput(), getWeights()});
  all = present(getBias()) ? f.add(all, getBias()) : all;
  Parts p{columns(f, all, 0, s.width), columns(f, all, s.width, s.width + s.width),
          columns(f, all, s.width + s.width, s.width + s.width + s.valueWidth)};
  p.bias = biasOf(f, *this, mask, s, p.q);
  replaceByPacked(rewriter, *this, f, p);
  return success();
}

// These write MultiHeadAttention.

/// Makes what is together in one operand, [batch, steps, heads, 2 or 3, width], operands of its own.
LogicalResult MultiHeadAttentionOp::upgrade(Node &node) {
  auto packed = [&](unsigned i, int64_t parts) {
    auto type = ranked(node.operand(i));
    return type && type.getRank() == 5 && type.getDimSize(3) == parts;
  };
  unsigned first = packed(0, 3) ? 0 : 1, count = first == 0 ? 3 : 2;
  if (!packed(first, count) || node.operand(2) || (first == 0 && node.operand(1))) {
    return success();
  }
  Formula f(node.builder, node.loc);
  Value all = node.operand(first), width = f.mul(sizeAlong(f, all, 2), sizeAlong(f, all, 4));
  node.operands.resize(std::max<size_t>(node.operands.size(), 3));
  for (auto [i, part] : llvm::enumerate(split(f, all, 3, count))) {
    node.operands[first + i] = reshapeBy(f, part, {shapeOf(f, all, 0, 2), width});
  }
  return success();
}

/// Whether keys and values come with their heads split already, [batch, heads, keys, width].
static bool haveSplitHeads(MultiHeadAttentionOp op) { return ranked(op.getKey()).getRank() == 4; }

/// Keys and values are [batch, keys, width], or of another sequence with their heads split already.
static FailureOr<std::optional<Shape>> shapeOf(MultiHeadAttentionOp op) {
  if (!present(op.getKey()) || !present(op.getValue())) {
    return op.emitOpError("keys and values are missing, and not packed with the queries");
  }
  auto isKnown = [](Value v) { return !present(v) || isSized(v); };
  if (!isKnown(op.getQuery()) || !isKnown(op.getKey()) || !isKnown(op.getValue()) || !isKnown(op.getPastKey()) ||
      !isKnown(op.getPastValue())) {
    return std::optional<Shape>();
  }
  auto q = ranked(op.getQuery()), k = ranked(op.getKey()), v = ranked(op.getValue());
  int64_t heads = op.getNumHeads();
  if (q.getRank() != 3 || (k.getRank() != 3 && k.getRank() != 4) || v.getRank() != k.getRank() || heads < 1) {
    return op.emitOpError("query ") << q << ", key " << k << " and value " << v << " are unsupported";
  }
  bool isSplit = haveSplitHeads(op);
  Shape s{sizeOf(q, 0), sizeOf(q, 1), sizeOf(k, isSplit ? 2 : 1)};
  s.width = sizeOf(q, 2), s.valueWidth = sizeOf(v, v.getRank() - 1) * Size(isSplit ? heads : 1);
  if (!equalPart(op, s.width, heads) || !equalPart(op, s.valueWidth, heads)) {
    return op.emitOpError("") << heads << " heads do not divide " << q << " and " << v;
  }
  if (present(op.getPastKey()) != present(op.getPastValue())) {
    return op.emitOpError("past_key and past_value are given together or not at all");
  }
  if (present(op.getPastKey())) {
    auto past = ranked(op.getPastKey());
    if (past.getRank() != 4) {
      return op.emitOpError("past_key of type ") << past << ", expected four axes";
    }
    s.past = sizeOf(past, 2);
  }
  return std::optional(s);
}

/// The second and third results are keys and values with those of the past.
LogicalResult MultiHeadAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getQuery());
  auto heads = static_cast<int64_t>(getNumHeads());
  return inferOutputs(*this, shapeOf(*this), getKeyPaddingMask(), element, types, [&](const Shape &s) {
    types.push_back(sizedType({s.batch, heads, s.total(), floorDiv(s.width, heads)}, element));
    types.push_back(sizedType({s.batch, heads, s.total(), floorDiv(s.valueWidth, heads)}, element));
  });
}

/// The bias is a list for queries, keys and values together.
LogicalResult MultiHeadAttentionOp::decompose(PatternRewriter &rewriter) {
  auto shape = shapeOf(*this);
  Value mask = getKeyPaddingMask();
  if (failed(shape) || !*shape || (present(mask) && !isSized(mask))) {
    return failure();
  }
  const Shape &s = **shape;
  Formula f(rewriter, getLoc());
  Parts p{getQuery(), getKey(), getValue()};
  if (present(getBias())) {
    p.q = f.add(p.q, columns(f, getBias(), 0, s.width));
  }
  if (present(getBias()) &&
      !haveSplitHeads(*this)) { // keys and values that come with split heads have the bias already
    p.k = f.add(p.k, columns(f, getBias(), s.width, s.width + s.width));
    p.v = f.add(p.v, columns(f, getBias(), s.width + s.width, s.width + s.width + s.valueWidth));
  }
  if (haveSplitHeads(*this)) { // they become rows again, as the queries are
    p.k = f.reshapeTo(f.transpose(p.k, {0, 2, 1, 3}), {s.batch, s.keys, s.width});
    p.v = f.reshapeTo(f.transpose(p.v, {0, 2, 1, 3}), {s.batch, s.keys, s.valueWidth});
  }
  p.bias = biasOf(f, *this, mask, s, p.q);
  p.pastKey = present(getPastKey()) ? getPastKey() : Value();
  p.pastValue = present(getPastValue()) ? getPastValue() : Value();
  p.heads = getNumHeads(), p.scale = getScale(), p.causal = getUnidirectional() != 0;
  Operation *y = attention(f, p);
  rewriter.replaceOp(*this, y->getResults().take_front(3));
  return success();
}

// These write RotaryEmbedding.

LogicalResult MicrosoftRotaryEmbeddingOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (getIsPackedBatching() || !getScale().isExactlyValue(1.0)) {
    return emitOpError("is_packed_batching and a scale are unsupported");
  }
  types.push_back(getInput().getType());
  return success();
}

/// One number as a position is the place of the first step, from which the others count up; the standard wants one for
/// each.
LogicalResult MicrosoftRotaryEmbeddingOp::decompose(PatternRewriter &rewriter) {
  auto x = ranked(getInput()), places = ranked(getPositionIds()), cosines = ranked(getCosCache());
  if (!isSized(getInput()) || !isSized(getPositionIds()) || !isStatic(getCosCache()) ||
      (x.getRank() != 3 && x.getRank() != 4)) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Size steps = sizeOf(x, x.getRank() - 2);
  Value positions = getPositionIds();
  if (places.getRank() == 1) {
    positions = f.add(f.reshapeTo(f.countTo(f.scalar(steps)), {1, steps}), positions);
    positions = f.op("Expand", {positions, makeSizes(rewriter, getLoc(), {sizeOf(x, 0), steps})});
  }
  Size heads = static_cast<int64_t>(getNumHeads());
  if (heads == Size(0) && x.getRank() == 3) { // A table has a column for each pair of a head's columns.
    int64_t width = std::max<int64_t>(2 * cosines.getDimSize(1), 1);
    std::optional<Size> count = equalPart(*this, sizeOf(x, 2), width);
    if (!count) {
      return emitOpError("heads of ") << width << " columns do not divide " << x;
    }
    heads = *count;
  }
  SmallVector<NamedAttribute> attributes = {f.integer("interleaved", getInterleaved()),
                                            f.integer("rotary_embedding_dim", getRotaryEmbeddingDim())};
  auto rotated = [&](Value tensor) {
    return f.op("RotaryEmbedding", {tensor, getCosCache(), getSinCache(), positions}, attributes);
  };
  if (x.getRank() == 3 &&
      !heads.isNumber()) { // The standard's operator wants to be given their number: an axis says it.
    Size width = Size(2 * cosines.getDimSize(1));
    Value heads4d = f.transpose(f.reshapeTo(getInput(), {sizeOf(x, 0), steps, heads, width}), {0, 2, 1, 3});
    Value result = f.transpose(rotated(heads4d), {0, 2, 1, 3});
    rewriter.replaceOp(*this, f.reshapeTo(result, sizesOf(x)));
    return success();
  }
  if (x.getRank() == 3) {
    attributes.push_back(f.integer("num_heads", heads.number()));
  }
  rewriter.replaceOp(*this, rotated(getInput()));
  return success();
}

// These write QAttention, which is MultiHeadAttention behind a product of integers.

/// Returns the sizes, by the columns of queries, keys and values together; nothing while they are not known.
static FailureOr<std::optional<Shape>> shapeOf(QAttentionOp op) {
  if (op.getDoRotary() || op.getPastPresentShareBuffer()) {
    return op.emitOpError("do_rotary and past_present_share_buffer are unsupported");
  }
  if (!isSized(op.getInput()) || !isStatic(op.getWeight()) || (present(op.getPast()) && !isSized(op.getPast()))) {
    return std::optional<Shape>();
  }
  auto x = ranked(op.getInput()), w = ranked(op.getWeight());
  auto heads = static_cast<int64_t>(op.getNumHeads());
  bool fits = x.getRank() == 3 && w.getRank() == 2 && succeeded(require(op, sizeOf(x, 2), sizeOf(w, 0)));
  if (!fits || heads < 1 || w.getDimSize(1) % (3 * heads)) {
    return op.emitOpError("input ") << x << ", weights " << w << " and " << heads << " heads do not fit each other";
  }
  Shape s{sizeOf(x, 0), sizeOf(x, 1), sizeOf(x, 1)};
  s.width = s.valueWidth = w.getDimSize(1) / 3;
  if (present(op.getPast())) {
    auto past = ranked(op.getPast());
    if (past.getRank() != 5 || failed(require(op, sizeOf(past, 0), 2))) {
      return op.emitOpError("past of type ") << past << " does not hold keys and values of so many heads";
    }
    s.past = sizeOf(past, 3);
  }
  return std::optional(s);
}

LogicalResult QAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(checkOwn(*this, getInput(), getInputScale(), getInputZeroPoint(), false)) ||
      failed(checkOwn(*this, getWeight(), getWeightScale(), getWeightZeroPoint(), false))) {
    return failure();
  }
  Type element = elementOf(getBias());
  auto heads = static_cast<int64_t>(getNumHeads());
  return inferOutputs(*this, shapeOf(*this), getMaskIndex(), element, types, [&](const Shape &s) {
    types.push_back(sizedType({2, s.batch, heads, s.total(), floorDiv(s.width, heads)}, element));
  });
}

LogicalResult QAttentionOp::decompose(PatternRewriter &rewriter) {
  auto shape = shapeOf(*this);
  if (failed(shape) || !*shape || (present(getMaskIndex()) && !isSized(getMaskIndex()))) {
    return failure();
  }
  const Shape &s = **shape;
  Formula f(rewriter, getLoc());
  Value all = scaledProduct(f, getInput(), getInputScale(), getInputZeroPoint(), getWeight(), getWeightScale(),
                            getWeightZeroPoint(), getBias());
  Size two = s.width + s.width;
  Parts p{columns(f, all, 0, s.width), columns(f, all, s.width, two), columns(f, all, two, two + s.width)};
  if (present(getMaskIndex())) {
    p.bias = maskBias(f, getMaskIndex(), s, getMaskFilterValue().convertToDouble(), p.q);
  }
  replaceByPacked(rewriter, *this, f, p);
  return success();
}

void registerMicrosoftAttention(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/MicrosoftAttention.cpp.inc"
      >();
}

} // namespace ingot::onnx
