// Makes GroupQueryAttention the standard's Attention. New keys are written behind a sentence's own keys of the past
// (seqlens_k is their number less one, with the new ones), in a cache of max(past, total_sequence_length) rows; the
// rows behind them are masked. A sink is one more key, of zeros, whose score is the sink's.
//
// With seqlens_k = 3 and one new token, `start` is 3 + 1 - 1 = 3: the new key becomes row 3 of the cache, the query
// reads rows 0 to 3, and all rows behind them are masked.
#include "compiler/onnx/ops/GroupQueryAttention.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ops/Attention.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "compiler/onnx/sizes/Ranks.h"
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/GroupQueryAttention.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

namespace {
struct GroupShape {
  Size batch, queries, past = 0, cache = Size::unknown(), width = 0;
  int64_t heads, kvHeads;
};
} // namespace

/// Returns the sizes; nothing while they are not known; failure with a message where they contradict.
static FailureOr<std::optional<GroupShape>> shapeOf(GroupQueryAttentionOp op) {
  bool quantized = present(op.getKScale()) || present(op.getVScale());
  if (quantized || op.getSlidingWindowCache() || op.getQkOutput()) {
    return op.emitOpError("a quantized or a sliding cache and qk_output are unsupported");
  }
  bool packed = !present(op.getKey());
  if (packed != !present(op.getValue()) || present(op.getPastKey()) != present(op.getPastValue()) ||
      present(op.getQNormWeight()) != present(op.getKNormWeight()) ||
      (op.getDoRotary() && (!present(op.getCosCache()) || !present(op.getSinCache())))) {
    return op.emitOpError(
        "key and value, past_key and past_value, the weights of a normalisation, and with do_rotary both "
        "caches are given together");
  }
  SmallVector<Value> sized = {op.getQuery(), op.getKey(), op.getValue(), op.getPastKey(), op.getPastValue()};
  if (llvm::any_of(sized, [](Value v) { return present(v) && !isSized(v); })) {
    return std::optional<GroupShape>();
  }
  GroupShape s;
  s.heads = op.getNumHeads(), s.kvHeads = op.getKvNumHeads();
  auto q = ranked(op.getQuery());
  int64_t all = packed ? s.heads + 2 * s.kvHeads : s.heads;
  bool good = s.kvHeads >= 1 && s.heads >= 1 && s.heads % s.kvHeads == 0 && q.getRank() == 3;
  std::optional<Size> width = good ? equalPart(op, sizeOf(q, 2), all) : std::nullopt;
  good = width.has_value();
  if (good) {
    s.batch = sizeOf(q, 0), s.queries = sizeOf(q, 1), s.width = *width;
    Sizes rows = {s.batch, s.queries, Size(s.kvHeads) * s.width}, past = {s.batch, s.kvHeads, Size::unknown(), s.width};
    auto fits = [&](Value v, Sizes wanted) {
      auto type = ranked(v);
      return type.getRank() == static_cast<int64_t>(wanted.size()) &&
             llvm::all_of(llvm::zip_equal(sizesOf(type), wanted), [&](auto pair) {
               auto &[have, want] = pair;
               return want.isUnknown() || succeeded(require(op, have, want));
             });
    };
    good = packed || (fits(op.getKey(), rows) && fits(op.getValue(), rows));
    if (good && present(op.getPastKey())) {
      s.past = ranked(op.getPastKey()).getRank() == 4 ? sizeOf(ranked(op.getPastKey()), 2) : 0;
      past[2] = s.past;
      good = fits(op.getPastKey(), past) && fits(op.getPastValue(), past);
    }
  }
  if (!good) {
    return op.emitOpError("") << s.heads << " heads and " << s.kvHeads << " of keys do not fit " << q << ", "
                              << op.getKey().getType() << ", " << op.getPastKey().getType();
  }
  if (Size total = numberIn(op.getTotalSequenceLength()); !total.isUnknown()) {
    s.cache = min(s.past + s.queries, max(s.past, total));
  }
  return std::optional(s);
}

namespace {
/// The rewrite of one GroupQueryAttention.
struct Grouped {
  GroupQueryAttentionOp op;
  GroupShape s;
  Formula f;

  Value list(int64_t n) { return makeIntegers(f.b, f.loc, {n}); }
  Value columns(Value v, const Size &from, const Size &to) {
    return slice(f, v, -1, makeSizes(f.b, f.loc, {from}), makeSizes(f.b, f.loc, {to}));
  }
  Value i64(Value v) { return f.cast(v, f.b.getI64Type(), 7); }
  /// Returns [batch, steps, heads * width] as [batch, heads, steps, width].
  Value splitHeads(Value x, int64_t heads) {
    return f.transpose(f.reshapeTo(x, {s.batch, s.queries, heads, s.width}), {0, 2, 1, 3});
  }
  /// Returns heads divided by their root mean squares if there is a `weight`, and then rotated.
  Value rotated(Value x, int64_t heads, Value weight, Value places) {
    if (present(weight)) {
      Value rows = f.reshapeTo(x, {s.batch, s.queries, heads, s.width});
      rows = f.op("RMSNormalization", {rows, weight},
                  {f.number("epsilon", op.getQkNormEpsilon().convertToDouble()), f.integer("axis", -1)});
      x = f.reshapeTo(rows, {s.batch, s.queries, Size(heads) * s.width});
    }
    if (!op.getDoRotary()) {
      return x;
    }
    int64_t dim = 2 * ranked(op.getCosCache()).getDimSize(1);
    return f.op("RotaryEmbedding", {x, op.getCosCache(), op.getSinCache(), places},
                {f.integer("interleaved", op.getRotaryInterleaved()), f.integer("num_heads", heads),
                 f.integer("rotary_embedding_dim", s.width.is(dim) ? 0 : dim)});
  }

  /// Returns the past with a row of zeros behind it for each new row, cut to max(past, total) rows where that is less.
  Value withRoom(Value past, Value now) {
    Value room = f.zeros({s.batch, s.kvHeads, s.queries, s.width}, elementOf(now));
    Value all = present(past) ? f.op("Concat", {past, room}, {f.integer("axis", 2)}) : room;
    Value end = s.cache.isUnknown()
                    ? f.op("Max", {f.reshape(i64(op.getTotalSequenceLength()), {1}), makeSizes(f.b, f.loc, {s.past})})
                    : makeSizes(f.b, f.loc, {s.cache});
    return s.cache == s.past + s.queries ? all : f.op("Slice", {all, list(0), end, list(2), Value()});
  }

  /// Returns the past with the new rows at `start` (one number for each sentence). A past that has room for them itself
  /// is scattered into as it is, so that it may be the same memory.
  Value cache(Value past, Value now, Value start) {
    Value all = present(past) && s.cache == s.past ? past : withRoom(past, now);
    return f.op("TensorScatter", {all, now, start}, {f.integer("axis", 2)});
  }

  /// Returns what is added to the scores [batch, 1 or heads, queries, rows of the cache]. For a window of 2, key j and
  /// query i, both by their places in the sentence, j is allowed if i - 2 < j <= i:
  ///
  ///   keys       0 1 2 3
  ///   query 2    . x x .
  ///   query 3    . . x x
  Value bias(Value keys, Value places, Value start) {
    Value rows = f.op("Shape", {keys}, {f.integer("start", 2), f.integer("end", 3)});
    Value key = f.countTo(f.reshape(rows, {})), place = f.reshapeTo(places, {s.batch, 1, s.queries, 1});
    Value allowed;
    if (op.getCausal()) {
      allowed = f.op("LessOrEqual", {key, place});
    } else {
      Value own = f.reshapeTo(f.add(start, f.scalar(s.queries)), {s.batch, 1, 1, 1});
      allowed = f.op("Less", {key, own});
    }
    if (int64_t window = op.getLocalWindowSize(); window > 0) {
      allowed = f.op("And", {allowed, f.op("Less", {f.sub(place, key), f.scalar(window)})});
    }
    Value given = f.number(0, op.getQuery());
    if (present(op.getAttentionBias())) {
      Value mine = op.getAttentionBias();
      Value missing = f.sub(rows, f.op("Shape", {mine}, {f.integer("start", 3), f.integer("end", 4)}));
      Value pads = f.op("Concat", {makeIntegers(f.b, f.loc, {0, 0, 0, 0, 0, 0, 0}), missing}, {f.integer("axis", 0)});
      given = f.op("Pad", {mine, pads, Value(), Value()});
    }
    return f.op("Where", {allowed, given, f.number(-std::numeric_limits<double>::infinity(), op.getQuery())});
  }

  /// Returns a bias with a column for the key that a sink is. The key of a sink is zeros, so the product gives it
  /// nothing, and its score is the bias alone.
  Value withSink(Value bias) {
    Type element = elementOf(op.getQuery());
    Value sink = present(op.getHeadSink()) ? f.reshape(op.getHeadSink(), {1, s.heads, 1, 1})
                                           : f.zeros({1, s.heads, 1, 1}, element);
    Value column = f.op("Expand", {sink, makeSizes(f.b, f.loc, {s.batch, s.heads, s.queries, 1})});
    return f.op("Concat", {f.add(bias, f.zeros({1, s.heads, s.queries, 1}, element)), column}, {f.integer("axis", 3)});
  }
  /// Returns keys or values with a row of zeros behind them, which belongs to the sink.
  Value withZeros(Value keys) {
    Value zeros = f.zeros({s.batch, s.kvHeads, 1, s.width}, elementOf(keys));
    return f.op("Concat", {keys, zeros}, {f.integer("axis", 2)});
  }

  SmallVector<Value> run() {
    Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
    if (!present(k)) {
      Size first = Size(s.heads) * s.width, own = Size(s.kvHeads) * s.width, second = first + own;
      k = columns(q, first, second), v = columns(q, second, second + own);
      q = columns(q, 0, first);
    }
    // A run whose new rows are the whole sequence begins anew; shorter sentences have padding behind them.
    Value total = f.reshape(i64(op.getTotalSequenceLength()), {1});
    Value own = f.reshapeTo(i64(op.getSeqlensK()), {s.batch});
    Value isFirst = f.op("Equal", {total, f.scalar(s.queries)});
    Value start = f.op("Where", {isFirst, f.scalar(0), f.add(own, f.scalar(Size(1) - s.queries))});
    Value steps = f.reshapeTo(f.countTo(f.scalar(s.queries)), {1, s.queries});
    Value places = f.add(f.reshapeTo(start, {s.batch, 1}), steps);
    Value positions = present(op.getPositionIds()) ? op.getPositionIds() : places;
    q = splitHeads(rotated(q, s.heads, op.getQNormWeight(), positions), s.heads);
    k = rotated(k, s.kvHeads, op.getKNormWeight(), positions);
    Value keys = cache(op.getPastKey(), splitHeads(k, s.kvHeads), start);
    Value values = cache(op.getPastValue(), splitHeads(v, s.kvHeads), start);

    SmallVector<NamedAttribute> attributes = {f.number("softcap", op.getSoftcap().convertToDouble())};
    if (op.getScale() && !op.getScale()->isZero()) {
      attributes.push_back(f.number("scale", op.getScale()->convertToDouble()));
    }
    bool sinks = static_cast<int64_t>(op.getSmoothSoftmax()) > 0 || present(op.getHeadSink());
    Value mask = bias(keys, places, start);
    Operation *y = createOp(f.b, f.loc, "onnx.Attention",
                            {q, sinks ? withZeros(keys) : keys, sinks ? withZeros(values) : values,
                             sinks ? withSink(mask) : mask, Value(), Value(), Value()},
                            attributes, 4);
    Value rows = f.transpose(y->getResult(0), {0, 2, 1, 3});
    return {f.reshapeTo(rows, {s.batch, s.queries, Size(s.heads) * s.width}), keys, values};
  }
};
} // namespace

LogicalResult GroupQueryAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  FailureOr<std::optional<GroupShape>> shape = shapeOf(*this);
  Type element = elementOf(getQuery());
  if (failed(shape)) {
    return failure();
  }
  if (!*shape) {
    types.assign({typeOfRank(3, element), typeOfRank(4, element), typeOfRank(4, element)});
    return success();
  }
  const GroupShape &s = **shape;
  types.push_back(sizedType({s.batch, s.queries, Size(s.heads) * s.width}, element));
  types.append(2, sizedType({s.batch, s.kvHeads, s.cache, s.width}, element));
  return success();
}

LogicalResult GroupQueryAttentionOp::decompose(PatternRewriter &rewriter) {
  FailureOr<std::optional<GroupShape>> shape = shapeOf(*this);
  bool known = succeeded(shape) && *shape && isSized(getSeqlensK()) && isSized(getTotalSequenceLength());
  for (Value v : {getCosCache(), getSinCache(), getPositionIds(), getAttentionBias(), getHeadSink(), getQNormWeight(),
                  getKNormWeight()}) {
    known &= !present(v) || isSized(v);
  }
  if (!known || (getDoRotary() && ranked(getCosCache()).isDynamicDim(1))) {
    return failure();
  }
  rewriter.replaceOp(*this, Grouped{*this, **shape, {rewriter, getLoc()}}.run());
  return success();
}

void registerGroupQueryAttention(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/GroupQueryAttention.cpp.inc"
      >();
}

} // namespace ingot::onnx
