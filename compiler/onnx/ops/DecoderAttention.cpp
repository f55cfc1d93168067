// Writes attention of one token to a cache that has room for all that will come (past_present_share_buffer): its key
// and value are written behind those that are there, and MultiHeadAttention reads all rows up to them. With beams a row
// of the cache may belong to another beam of the same sentence: cache_indirection [sentences, beams, room] says for
// each row to which.
#include "compiler/onnx/ops/DecoderAttention.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/text/NGrams.h"
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/DecoderAttention.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

namespace {
struct DecoderShape {
  Size batch;
  int64_t heads = 0, width = 0, valueWidth = 0; ///< the widths of one head
  bool packed = false;                          ///< whether queries, keys and values are in one tensor
  bool isCross = false;                         ///< whether keys and values are all there, with their heads split
};
} // namespace

static bool isSharing(DecoderMaskedMultiHeadAttentionOp op) {
  return present(op.getPastKey()) && op.getPastPresentShareBuffer();
}

/// Returns what a query and its operands tell; nothing while sizes are not known; failure with a message where they
/// contradict.
static FailureOr<std::optional<DecoderShape>> shapeOf(DecoderMaskedMultiHeadAttentionOp op) {
  SmallVector<Value> sized = {op.getQuery(), op.getKey(), op.getValue(), op.getPastKey(), op.getPastValue()};
  if (llvm::any_of(sized, [](Value v) { return present(v) && !isSized(v); })) {
    return std::optional<DecoderShape>();
  }
  if (op.getOutputQk()) {
    return op.emitOpError("output_qk is unsupported");
  }
  if (present(op.getKey()) != present(op.getValue()) || present(op.getPastKey()) != present(op.getPastValue())) {
    return op.emitOpError("key and value, past_key and past_value are given together or not at all");
  }
  if (isSharing(op) && !present(op.getPastSequenceLength())) {
    return op.emitOpError("past_present_share_buffer needs past_sequence_length");
  }
  if (present(op.getCacheIndirection()) && (!isSharing(op) || !present(op.getBeamWidth()))) {
    return op.emitOpError("cache_indirection needs past_present_share_buffer and beam_width");
  }
  DecoderShape s;
  s.packed = !present(op.getKey()), s.heads = static_cast<int64_t>(op.getNumHeads());
  auto q = ranked(op.getQuery()), k = s.packed ? q : ranked(op.getKey()), v = s.packed ? q : ranked(op.getValue());
  s.isCross = k.getRank() == 4;
  bool good = s.heads >= 1 && q.getRank() == 3 && (k.getRank() == 3 || s.isCross) && v.getRank() == k.getRank() &&
              !q.isDynamicDim(2) && !v.isDynamicDim(v.getRank() - 1) && succeeded(require(op, sizeOf(q, 1), 1)) &&
              !(s.isCross && present(op.getPastKey()));
  if (good) {
    int64_t parts = s.packed ? 3 : 1, last = v.getDimSize(v.getRank() - 1), ofHeads = s.isCross ? 1 : s.heads;
    good = q.getDimSize(2) % (parts * s.heads) == 0 && last % (parts * ofHeads) == 0;
    s.batch = sizeOf(q, 0), s.width = q.getDimSize(2) / (parts * s.heads), s.valueWidth = last / (parts * ofHeads);
  }
  if (good && present(op.getPastKey())) {
    auto fits = [&](RankedTensorType past, int64_t width) {
      return past.getRank() == 4 && succeeded(require(op, sizeOf(past, 0), s.batch)) &&
             succeeded(require(op, sizeOf(past, 1), s.heads)) && succeeded(require(op, sizeOf(past, 3), width));
    };
    good = fits(ranked(op.getPastKey()), s.width) && fits(ranked(op.getPastValue()), s.valueWidth);
  }
  if (!good) {
    return op.emitOpError("") << s.heads << " heads do not fit " << q << ", " << k << ", " << v << " and a past of "
                              << op.getPastKey().getType() << ", for one token of each sentence";
  }
  return std::optional(s);
}

LogicalResult DecoderMaskedMultiHeadAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getQuery());
  auto shape = shapeOf(*this);
  if (failed(shape)) {
    return failure();
  }
  if (!*shape) {
    types.assign({typeOfRank(3, element), typeOfRank(4, element), typeOfRank(4, element)});
    return success();
  }
  const DecoderShape &s = **shape;
  types.push_back(sizedType({s.batch, 1, s.heads * s.valueWidth}, element));
  if (isSharing(*this)) {
    types.append({getPastKey().getType(), getPastValue().getType()});
    return success();
  }
  Size rows = s.isCross ? sizeOf(ranked(getKey()), 2)
                        : (present(getPastKey()) ? sizeOf(ranked(getPastKey()), 2) : Size(0)) + Size(1);
  types.push_back(sizedType({s.batch, s.heads, rows, s.width}, element));
  types.push_back(sizedType({s.batch, s.heads, rows, s.valueWidth}, element));
  return success();
}

namespace {
/// The rewrite of one node.
struct DecoderStep {
  DecoderMaskedMultiHeadAttentionOp op;
  DecoderShape s;
  Formula f;

  Value list(int64_t n) { return makeIntegers(f.b, f.loc, {n}); }
  Value i64(Value v) { return f.cast(v, f.b.getI64Type(), 7); }
  /// Returns the part [from, to) of the last axis.
  Value columns(Value v, int64_t from, int64_t to) {
    return f.op("Slice", {v, list(from), list(to), list(-1), Value()});
  }
  /// Returns queries (0), keys (1) or values (2) with their bias.
  Value part(Value given, int64_t number) {
    int64_t from = number * s.heads * s.width, to = from + s.heads * (number == 2 ? s.valueWidth : s.width);
    Value rows = s.packed ? columns(op.getQuery(), from, to) : given;
    bool biased = present(op.getBias()) && (number == 0 || !s.isCross);
    return biased ? f.add(rows, columns(op.getBias(), from, to)) : rows;
  }

  /// Returns the cache with a row [batch, 1, heads * width] at `place`.
  Value written(Value past, Value now, Value place, int64_t width) {
    Value row = f.transpose(f.reshapeTo(now, {s.batch, 1, s.heads, width}), {0, 2, 1, 3});
    Value start = f.add(f.zeros({s.batch}, f.b.getI64Type()), place);
    return f.op("TensorScatter", {past, row, start}, {f.integer("axis", 2)});
  }

  /// Returns the first `count` rows of a cache, [batch, heads, count, width]. With beams, each row comes from its beam.
  Value read(Value cache, Value count) {
    Value rows = f.op("Slice", {cache, list(0), count, list(2), Value()});
    if (!present(op.getCacheIndirection())) {
      return rows;
    }
    Size room = sizeOf(ranked(cache), 2);
    Value own = f.reshapeTo(f.countTo(f.scalar(s.batch)), {s.batch, 1});
    Value first = f.sub(own, f.op("Mod", {own, f.reshape(i64(op.getBeamWidth()), {})}));
    Value beams = f.add(f.reshapeTo(i64(op.getCacheIndirection()), {s.batch, room}), first);
    Value place = f.reshapeTo(f.countTo(f.scalar(room)), {1, room});
    beams = f.op("Where", {f.op("Less", {place, f.sub(count, list(1))}), beams, own}); // the new row is the beam's own
    beams = f.op("Slice", {beams, list(0), count, list(1), Value()});
    place = f.op("Slice", {place, list(0), count, list(1), Value()});
    auto last = [&](Value v) { return f.op("Unsqueeze", {v, list(-1)}); };
    Value both = f.op("Concat", {last(beams), last(f.add(place, f.sub(beams, beams)))}, {f.integer("axis", 2)});
    return f.transpose(f.op("GatherND", {f.transpose(cache, {0, 2, 1, 3}), both}), {0, 2, 1, 3});
  }

  Operation *attention(Value k, Value v, Value pastKey, Value pastValue) {
    SmallVector<NamedAttribute> attributes = {f.integer("num_heads", s.heads),
                                              f.number("mask_filter_value", op.getMaskFilterValue().convertToDouble())};
    if (op.getScale()) {
      attributes.push_back(f.number("scale", op.getScale()->convertToDouble()));
    }
    return createOp(
        f.b, f.loc, "onnx.com.microsoft.MultiHeadAttention",
        {part(op.getQuery(), 0), k, v, Value(), op.getMaskIndex(), op.getAttentionBias(), pastKey, pastValue},
        attributes, 3);
  }

  SmallVector<Value> run() {
    Value k = part(op.getKey(), 1), v = part(op.getValue(), 2);
    if (!isSharing(op)) {
      bool hasPast = present(op.getPastKey());
      return attention(k, v, hasPast ? op.getPastKey() : Value(), hasPast ? op.getPastValue() : Value())->getResults();
    }
    Value place = f.reshape(i64(op.getPastSequenceLength()), {1}), count = f.add(place, list(1));
    Value keys = written(op.getPastKey(), k, place, s.width);
    Value values = written(op.getPastValue(), v, place, s.valueWidth);
    Operation *y = attention(read(keys, count), read(values, count), {}, {});
    return {y->getResult(0), keys, values};
  }
};
} // namespace

LogicalResult DecoderMaskedMultiHeadAttentionOp::decompose(PatternRewriter &rewriter) {
  auto shape = shapeOf(*this);
  bool known = succeeded(shape) && *shape;
  for (Value v : {getMaskIndex(), getAttentionBias(), getPastSequenceLength(), getCacheIndirection(), getBias()}) {
    known &= !present(v) || isSized(v);
  }
  if (!known) {
    return failure();
  }
  rewriter.replaceOp(*this, DecoderStep{*this, **shape, {rewriter, getLoc()}}.run());
  return success();
}

// These write DecoderMaskedSelfAttention.

/// `past` is [2, batch, heads, rows, width], keys before values.
LogicalResult DecoderMaskedSelfAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  Type element = elementOf(getInput());
  if (getDoRotary()) {
    return emitOpError("do_rotary is unsupported");
  }
  if (!isSized(getInput()) || !isStatic(getWeights()) || !isSized(getPast())) {
    types.assign({typeOfRank(3, element), typeOfRank(5, element)});
    return success();
  }
  auto x = ranked(getInput()), w = ranked(getWeights()), past = ranked(getPast());
  auto heads = static_cast<int64_t>(getNumHeads());
  if (x.getRank() != 3 || w.getRank() != 2 || past.getRank() != 5 || heads < 1 || w.getDimSize(1) % (3 * heads) ||
      failed(require(*this, sizeOf(x, 2), sizeOf(w, 0))) || failed(require(*this, sizeOf(past, 0), 2))) {
    return emitOpError("") << heads << " heads do not fit input " << x << ", weights " << w << " and past " << past;
  }
  types.push_back(sizedType({sizeOf(x, 0), sizeOf(x, 1), w.getDimSize(1) / 3}, element));
  Sizes cache = sizesOf(past);
  cache[3] = getPastPresentShareBuffer() ? cache[3] : cache[3] + Size(1);
  types.push_back(sizedType(cache, element));
  return success();
}

/// The projection to queries, keys and values is made here; the rest is DecoderMaskedMultiHeadAttention.
LogicalResult DecoderMaskedSelfAttentionOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getInput()) || !isStatic(getWeights()) || !isSized(getPast())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value all = f.add(f.op("MatMul", {getInput(), getWeights()}), getBias());
  auto half = [&](int64_t i) {
    return f.op("Gather", {getPast(), makeInteger(rewriter, getLoc(), i)}, {f.integer("axis", 0)});
  };
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : (*this)->getAttrs()) {
    if (attribute.getName() != getDoRotaryAttrName()) {
      attributes.push_back(attribute);
    }
  }
  Operation *y = createOp(rewriter, getLoc(), "onnx.com.microsoft.DecoderMaskedMultiHeadAttention",
                          {all, Value(), Value(), getMaskIndex(), getAttentionBias(), half(0), half(1),
                           getPastSequenceLength(), getBeamWidth(), getCacheIndirection(), Value()},
                          attributes, 3);
  auto row = [&](Value v) { return f.op("Unsqueeze", {v, makeIntegers(rewriter, getLoc(), {0})}); };
  Value both = f.op("Concat", {row(y->getResult(1)), row(y->getResult(2))}, {f.integer("axis", 0)});
  rewriter.replaceOp(*this, {y->getResult(0), both});
  return success();
}

// This writes NGramRepeatBlock.

LogicalResult NGramRepeatBlockOp::upgrade(Node &node) {
  int64_t n = node.integer("ngram_size", 0);
  if (failed(node.needs(2))) {
    return failure();
  }
  auto tokens = ranked(node.operand(0)), scores = ranked(node.operand(1));
  if (n < 1 || n > kMostTokensInARow || (tokens && tokens.getRank() != 2) || (scores && scores.getRank() != 2)) {
    return node.error("needs tokens [batch, length], scores [batch, vocabulary], and an ngram_size from 1 to " +
                      Twine(kMostTokensInARow));
  }
  Formula f(node.builder, node.loc);
  node.results = {withoutRepeats(f, node.operand(1), node.operand(0), n, -std::numeric_limits<double>::infinity())};
  return success();
}

void registerDecoderAttention(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/DecoderAttention.cpp.inc"
      >();
}

} // namespace ingot::onnx
