// Rewrites both operators to the standard's Attention.
//
// SparseAttention has a mask of blocks of tokens for each of several layouts, as a sparse matrix by rows (CSR): the
// columns of row r are block_col_indices[block_row_indices[r]] to before block_col_indices[block_row_indices[r + 1]].
// The rewrite spreads it to a bias for each pair of tokens: 0, or -infinity where the query does not see the key.
//
// DecoderAttention has flags, which must be constants: whether keys come from the queries' sequence or from another
// one,
// and whether a cache is put before the new keys (own sequence) or replaces them (other sequence).
#include "compiler/onnx/ops/CachedAttention.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/CachedAttention.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

// These write SparseAttention.

namespace {
/// The sizes of a SparseAttention.
struct SparseShape {
  /// `steps` counts the query's tokens, and `cache` the tokens for which the caches have room. `layouts` is the number
  /// of masks, which the heads use in turn; `blocks` is how many rows, and columns, a mask has; `entries` is the length
  /// of a layout's list of columns.
  Size batch, steps, cache, layouts, blocks, entries;
  /// `heads` counts the heads of queries, `kvHeads` those of keys and values; `width` is the number of elements of a
  /// head.
  int64_t heads = 0, kvHeads = 0, width = 0;
};
} // namespace

/// Returns whether a value has these sizes. Open ones get a check that the run makes (require).
static bool fits(Operation *op, Value v, ArrayRef<Size> sizes) {
  auto type = ranked(v);
  return type.getRank() == static_cast<int64_t>(sizes.size()) &&
         llvm::all_of(llvm::zip_equal(sizesOf(type), sizes),
                      [&](auto pair) { return succeeded(require(op, std::get<0>(pair), std::get<1>(pair))); });
}

/// Returns the sizes; nothing while an operand's are unknown; failure with a message where they contradict each other.
static FailureOr<std::optional<SparseShape>> shapeOf(SparseAttentionOp op) {
  bool packed = !present(op.getKey());
  if (packed != !present(op.getValue()) ||
      (op.getDoRotary() && (!present(op.getCosCache()) || !present(op.getSinCache())))) {
    return op.emitOpError("key and value, and with do_rotary both tables of angles, are given together");
  }
  SmallVector<Value> sized = {op.getQuery(),           op.getKey(),
                              op.getValue(),           op.getPastKey(),
                              op.getPastValue(),       op.getBlockRowIndices(),
                              op.getCosCache(),        op.getSinCache(),
                              op.getBlockColIndices(), op.getKeyTotalSequenceLengths()};
  if (llvm::any_of(sized, [](Value v) { return present(v) && !isSized(v); })) {
    return std::optional<SparseShape>();
  }
  if (op.getDoRotary() && ranked(op.getCosCache()).isDynamicDim(ranked(op.getCosCache()).getRank() - 1)) {
    return op.emitOpError("the width of the tables of angles must be known when the model is compiled");
  }
  SparseShape s;
  s.heads = op.getNumHeads(), s.kvHeads = op.getKvNumHeads();
  auto q = ranked(op.getQuery()), past = ranked(op.getPastKey()), rows = ranked(op.getBlockRowIndices()),
       columns = ranked(op.getBlockColIndices());
  int64_t all = packed ? s.heads + 2 * s.kvHeads : s.heads;
  bool good = s.kvHeads >= 1 && s.heads >= 1 && s.heads % s.kvHeads == 0 && q.getRank() == 3 && !q.isDynamicDim(2) &&
              q.getDimSize(2) % all == 0 && past.getRank() == 4 && rows.getRank() == 2 && columns.getRank() == 2 &&
              static_cast<int64_t>(op.getSparseBlockSize()) >= 1 && !rows.isDynamicDim(0) && rows.getDimSize(0) >= 1 &&
              s.heads % rows.getDimSize(0) == 0;
  if (good) {
    s.batch = sizeOf(q, 0), s.steps = sizeOf(q, 1), s.width = q.getDimSize(2) / all, s.cache = sizeOf(past, 2);
    s.layouts = sizeOf(rows, 0), s.blocks = sizeOf(rows, 1) - Size(1), s.entries = sizeOf(columns, 1);
    Sizes fresh = {s.batch, s.steps, s.kvHeads * s.width}, kept = {s.batch, s.kvHeads, s.cache, s.width};
    good = (packed || (fits(op, op.getKey(), fresh) && fits(op, op.getValue(), fresh))) &&
           fits(op, op.getPastKey(), kept) && fits(op, op.getPastValue(), kept) &&
           succeeded(require(op, sizeOf(columns, 0), s.layouts)) &&
           fits(op, op.getKeyTotalSequenceLengths(), {s.batch});
  }
  if (!good) {
    return op.emitOpError("") << s.heads << " heads and " << s.kvHeads << " of keys do not fit " << q << ", "
                              << op.getKey().getType() << ", a past of type " << past << " and blocks of types " << rows
                              << " and " << columns;
  }
  return std::optional(s);
}

LogicalResult SparseAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  FailureOr<std::optional<SparseShape>> shape = shapeOf(*this);
  Type element = elementOf(getQuery());
  if (failed(shape)) {
    return failure();
  }
  if (!*shape) {
    types.assign({typeOfRank(3, element), typeOfRank(4, element), typeOfRank(4, element)});
    return success();
  }
  const SparseShape &s = **shape;
  types.push_back(sizedType({s.batch, s.steps, s.heads * s.width}, element));
  types.append(2, sizedType({s.batch, s.kvHeads, s.cache, s.width}, element));
  return success();
}

namespace {
/// The rewrite of one SparseAttention. A *place* is the number of a token in its sequence.
struct Sparse {
  SparseAttentionOp op;
  SparseShape s;
  Formula f;

  /// Returns [batch, steps, heads * width] as [batch, heads, steps, width]. It is rotated by
  /// `places`, where these are not null and the node has do_rotary.
  Value splitHeads(Value x, int64_t heads, Value places) {
    if (places && op.getDoRotary()) {
      int64_t dim = 2 * ranked(op.getCosCache()).getDimSize(1);
      x = f.op("RotaryEmbedding", {x, op.getCosCache(), op.getSinCache(), places},
               {f.integer("interleaved", op.getRotaryInterleaved()), f.integer("num_heads", heads),
                f.integer("rotary_embedding_dim", dim == s.width ? 0 : dim)});
    }
    return f.transpose(f.reshapeTo(x, {s.batch, s.steps, heads, s.width}), {0, 2, 1, 3});
  }

  /// Returns which blocks of keys a block of queries sees, [layouts, blocks of queries, blocks of keys]. With the
  /// entries as an inner axis that is a product of two matrices: whether entry i lies within the bounds of row r, times
  /// whether it names column c.
  Value blockMask() {
    Value rows = integers(f, op.getBlockRowIndices()), columns = integers(f, op.getBlockColIndices());
    Value entry = f.countTo(f.scalar(s.entries)), block = f.countTo(f.scalar(s.blocks));
    auto bounds = [&](int64_t from) {
      return unsqueeze(
          f, slice(f, rows, 1, makeSizes(f.b, f.loc, {from}), makeSizes(f.b, f.loc, {s.blocks + Size(from)})), {2});
    };
    Value inRow = f.op("And", {f.op("GreaterOrEqual", {entry, bounds(0)}), f.op("Less", {entry, bounds(1)})});
    Value inColumn = f.op("Equal", {unsqueeze(f, columns, {2}), block});
    Value counts = f.op("MatMul", {real(f, inRow), real(f, inColumn)});
    return f.op("Greater", {counts, f.number(0, counts)});
  }

  /// Returns whether a query sees a key, [batch, heads, steps, keys]: the layout of head h, which is h % layouts, has
  /// the block of both, and the key is no later than the query.
  Value visible(Value places) {
    auto size = static_cast<int64_t>(op.getSparseBlockSize());
    Value key = f.countTo(f.scalar(s.cache)), step = f.scalar(size);
    Value last = f.scalar(max(s.blocks - Size(1), 0)); // of places behind all blocks, too: Gather stays inside
    auto blockOf = [&](Value place) { return f.op("Min", {f.div(place, step), last}); };
    Value rows =
        f.op("Gather", {blockMask(), blockOf(places)}, {f.integer("axis", 1)}); // [layouts, batch, steps, blocks]
    Value seen = f.op("Gather", {rows, blockOf(key)}, {f.integer("axis", 3)});
    int64_t rounds = s.heads / s.layouts.number();
    seen = f.transpose(seen, {1, 0, 2, 3});
    seen = rounds == 1 ? seen : f.op("Tile", {seen, makeIntegers(f.b, f.loc, {1, rounds, 1, 1})});
    Value isCausal = f.op("LessOrEqual", {key, f.reshapeTo(places, {s.batch, 1, s.steps, 1})});
    return f.op("And", {seen, isCausal});
  }

  SmallVector<Value> run() {
    Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
    if (!present(k)) {
      int64_t first = s.heads * s.width, second = first + s.kvHeads * s.width;
      k = slice(f, q, 2, first, second), v = slice(f, q, 2, second, second + s.kvHeads * s.width);
      q = slice(f, q, 2, 0, first);
    }
    // Where the new tokens are the whole sequence (the prompt), they are put at the beginning of the cache; otherwise
    // behind the tokens that each batch entry has there.
    Value total = f.reshape(integers(f, op.getTotalSequenceLength()), {1}), steps = f.scalar(s.steps);
    Value own = integers(f, op.getKeyTotalSequenceLengths());
    Value start = f.op("Where", {f.op("Equal", {total, steps}), f.scalar(0), f.sub(own, steps)});
    Value places = f.add(f.reshapeTo(start, {s.batch, 1}), f.reshapeTo(f.countTo(steps), {1, s.steps}));
    auto cache = [&](Value past, Value now) {
      return f.op("TensorScatter", {past, now, start}, {f.integer("axis", 2)});
    };
    Value keys = cache(op.getPastKey(), splitHeads(k, s.kvHeads, places));
    Value values = cache(op.getPastValue(), splitHeads(v, s.kvHeads, Value()));
    Value nothing = f.number(-std::numeric_limits<double>::infinity(), q);
    Value bias = f.op("Where", {visible(places), f.number(0, q), nothing});
    SmallVector<NamedAttribute> attributes;
    if (op.getScale() && !op.getScale()->isZero()) {
      attributes.push_back(f.number("scale", op.getScale()->convertToDouble()));
    }
    Operation *y =
        createOp(f.b, f.loc, "onnx.Attention",
                 {splitHeads(q, s.heads, places), keys, values, bias, Value(), Value(), Value()}, attributes, 4);
    Value rows = f.transpose(y->getResult(0), {0, 2, 1, 3});
    return {f.reshapeTo(rows, {s.batch, s.steps, s.heads * s.width}), keys, values};
  }
};
} // namespace

LogicalResult SparseAttentionOp::decompose(PatternRewriter &rewriter) {
  FailureOr<std::optional<SparseShape>> shape = shapeOf(*this);
  if (failed(shape) || !*shape || !isSized(getTotalSequenceLength())) {
    return failure();
  }
  rewriter.replaceOp(*this, Sparse{*this, **shape, {rewriter, getLoc()}}.run());
  return success();
}

// These write DecoderAttention, whose sequences are [steps, batch, width].

namespace {
/// The values of operands 8 to 11, which ONNX Runtime calls static_kv, use_past, has_layer_state and
/// has_key_padding_mask. `fromKey`: keys and values are computed from operand 1, not from the query. `usesPast` and
/// `hasState`: where both are set, operands 6 and 7 are caches that are used. `hasMask`: operand 5 says which keys to
/// leave out.
struct Flags {
  bool fromKey, usesPast, hasState, hasMask;
};
} // namespace

/// Returns the flags; nothing unless all are constants.
static std::optional<Flags> flagsOf(const Node &node) {
  SmallVector<bool> all;
  for (unsigned i = 8; i < 12; ++i) {
    auto value = integersOf(node.operand(i));
    if (!value || value->size() != 1) {
      return std::nullopt;
    }
    all.push_back(value->front() != 0);
  }
  return Flags{all[0], all[1], all[2], all[3]};
}

LogicalResult DecoderAttentionOp::upgrade(Node &node) {
  if (failed(node.needs(5))) {
    return failure();
  }
  std::optional<Flags> flags = flagsOf(node);
  int64_t heads = node.integer("num_heads", 0);
  bool cached = flags && flags->usesPast && flags->hasState;
  if (!flags || heads < 1 || (cached && (!node.operand(6) || !node.operand(7))) ||
      (flags->hasMask && !node.operand(5))) {
    return node.error(
        "needs a positive 'num_heads', flags that are constants, and the caches and the mask that they name");
  }
  Formula f(node.builder, node.loc);
  Value query = node.operand(0), width = sizeAlong(f, query, 2), bias = node.operand(4);
  SmallVector<Value> biases = split(f, bias, 0, 3);
  // This returns [steps, batch, width] as [batch, heads, steps, width of a head].
  auto splitHeads = [&](Value x) {
    Value head = f.div(width, makeIntegers(f.b, f.loc, {heads}));
    x = reshapeBy(f, x, {shapeOf(f, x, 0, 2), makeIntegers(f.b, f.loc, {heads}), head});
    return f.transpose(x, {1, 2, 0, 3});
  };
  Value q = splitHeads(f.add(f.op("MatMul", {query, node.operand(2)}), biases[0]));
  Value keys = node.operand(6), values = node.operand(7);
  if (!cached || !flags->fromKey) {
    Value both = f.op("MatMul", {flags->fromKey ? node.operand(1) : query, node.operand(3)});
    SmallVector<Value> parts = split(f, both, 2, 2);
    Value newKeys = splitHeads(f.add(parts[0], biases[1])), newValues = splitHeads(f.add(parts[1], biases[2]));
    keys = cached ? concat(f, {keys, newKeys}, 2) : newKeys;
    values = cached ? concat(f, {values, newValues}, 2) : newValues;
  }
  Value mask;
  if (flags->hasMask) {
    Value filter = f.number(node.number("mask_filter_value", -10000), query);
    mask = f.op("Where", {unsqueeze(f, node.operand(5), {1, 2}), filter, f.number(0, query)});
  }
  Value y =
      createOp(f.b, f.loc, "onnx.Attention", {q, keys, values, mask, Value(), Value(), Value()}, {}, 4)->getResult(0);
  node.results = {reshapeBy(f, f.transpose(y, {2, 0, 1, 3}), {shapeOf(f, query, 0, 3)}), keys, values};
  return success();
}

void registerCachedAttention(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/CachedAttention.cpp.inc"
      >();
}

} // namespace ingot::onnx
