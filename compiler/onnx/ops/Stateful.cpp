// Writes CausalConvWithState as a convolution of the state and the input, one behind the other, and LinearAttention as
// a Loop over the steps that carries the state. What does not need the state (scales, exponentials) is computed for all
// steps before.
#include "compiler/onnx/ops/Stateful.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Stateful.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {

// These belong to CausalConvWithState.

LogicalResult CausalConvWithStateOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(oneOf(*this, "activation", getActivation(), {"none", "silu", "swish"}))) {
    return failure();
  }
  auto x = ranked(getX()), weight = ranked(getWeight());
  types.assign(2, x && weight ? getX().getType() : typeOfRank(3, elementOf(getX())));
  if (!x || !weight) {
    return success();
  }
  Sizes sizes = sizesOf(x), kernel = sizesOf(weight);
  bool good = sizes.size() == 3 && kernel.size() == 3 && succeeded(require(*this, sizes[1], kernel[0])) &&
              succeeded(require(*this, kernel[1], 1));
  if (good) {
    sizes[2] = kernel[2] - Size(1);
    types[1] = sizedType(sizes, x.getElementType());
    auto past = present(getPastState()) ? ranked(getPastState()) : RankedTensorType();
    for (int64_t i = 0; good && past && i < 3; ++i) {
      good = past.getRank() == 3 && succeeded(require(*this, sizeOf(past, i), sizes[i]));
    }
  }
  return good ? success() : emitOpError("weights of type ") << weight << " or the past state do not fit " << x;
}

LogicalResult CausalConvWithStateOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX()) || !isStatic(getWeight())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Sizes sizes = sizesOf(ranked(getX()));
  int64_t channels = ranked(getWeight()).getDimSize(0), before = ranked(getWeight()).getDimSize(2) - 1;
  Value all = present(getPastState())
                  ? f.op("Concat", {getPastState(), getX()}, {f.integer("axis", 2)})
                  : f.op("Pad", {getX(), makeIntegers(f.b, f.loc, {0, 0, before, 0, 0, 0}), Value(), Value()});
  Value y = f.op("Conv", {all, getWeight(), getBias()}, {f.integer("group", channels)});
  auto one = [&](const Size &n) { return makeSizes(f.b, f.loc, {n}); };
  Value state = f.op("Slice", {all, one(sizes[2]), one(sizes[2] + Size(before)), one(2), Value()});
  rewriter.replaceOp(*this, {getActivation() == "none" ? y : f.op("Swish", {y}), state});
  return success();
}

// These belong to LinearAttention.

namespace {
struct Shape {
  Size batch, steps, width, valueWidth;
  int64_t heads = 0, kvHeads = 0; ///< `kvHeads`: heads of keys, values and states
  int64_t results() const { return std::max(heads, kvHeads); }
};

bool isGated(LinearAttentionOp op) { return op.getUpdateRule().starts_with("gated"); }
bool isDelta(LinearAttentionOp op) { return op.getUpdateRule().ends_with("delta"); }

/// Whether the columns of a sequence are as many heads of one width.
bool hasColumns(LinearAttentionOp op, Value v, const Size &columns) {
  return succeeded(require(op, sizeOf(ranked(v), 2), columns));
}

/// Returns how many numbers a decay has for each head: one, or one for each key.
Size decaysOf(LinearAttentionOp op, const Shape &s) { return floorDiv(sizeOf(ranked(op.getDecay()), 2), s.kvHeads); }

/// Returns the sizes; nothing while those of the operands are not known; failure, without a message, where they
/// contradict.
FailureOr<std::optional<Shape>> shapeOf(LinearAttentionOp op) {
  Shape s;
  s.heads = op.getQNumHeads(), s.kvHeads = op.getKvNumHeads();
  if (s.heads < 1 || s.kvHeads < 1 || (s.heads % s.kvHeads && s.kvHeads % s.heads) ||
      isGated(op) != present(op.getDecay()) || isDelta(op) != present(op.getBeta())) {
    return failure();
  }
  SmallVector<Value> sequences = {op.getQuery(), op.getKey(), op.getValue(), op.getDecay(), op.getBeta()};
  llvm::erase_if(sequences, [](Value v) { return !present(v); });
  if (!llvm::all_of(sequences, isSized)) {
    return std::optional<Shape>();
  }
  if (!llvm::all_of(sequences, [](Value v) { return ranked(v).getRank() == 3; })) {
    return failure();
  }
  Sizes query = sizesOf(ranked(op.getQuery()));
  s.batch = query[0], s.steps = query[1];
  for (Value v : sequences) {
    Sizes sizes = sizesOf(ranked(v));
    if (failed(require(op, sizes[0], s.batch)) || failed(require(op, sizes[1], s.steps))) {
      return failure();
    }
  }
  s.width = floorDiv(query[2], s.heads), s.valueWidth = floorDiv(sizeOf(ranked(op.getValue()), 2), s.kvHeads);
  bool good = hasColumns(op, op.getQuery(), s.width * Size(s.heads)) &&
              hasColumns(op, op.getKey(), s.width * Size(s.kvHeads)) &&
              hasColumns(op, op.getValue(), s.valueWidth * Size(s.kvHeads));
  if (isGated(op)) {
    Size each = decaysOf(op, s);
    good = good && hasColumns(op, op.getDecay(), each * Size(s.kvHeads)) &&
           (!each.isNumber() || !s.width.isNumber() || each.is(1) || each.number() == s.width.number());
  }
  if (isDelta(op)) {
    Size columns = sizeOf(ranked(op.getBeta()), 2);
    good = good && (!columns.isNumber() || columns.is(1) || columns.is(s.kvHeads));
  }
  auto past = present(op.getPastState()) ? ranked(op.getPastState()) : RankedTensorType();
  if (past) {
    Sizes state = {s.batch, s.kvHeads, s.width, s.valueWidth};
    good = good && past.getRank() == 4;
    for (int64_t i = 0; good && i < 4; ++i) {
      good = succeeded(require(op, sizeOf(past, i), state[i]));
    }
  }
  if (!good) {
    return failure();
  }
  return std::optional(s);
}

/// The rewrite of one LinearAttention. All is computed in f32 or wider, as the standard's body does. With S the state,
/// k, v and q of a step, g the decay and b beta, a step is
///
///   linear        S = S + k v                       gated   S = exp(g) S + k v
///   delta         S = S + k b (v - S k)             gated_delta: both
///   y = q S
struct Recurrence {
  LinearAttentionOp op;
  Shape s;
  Formula f;
  Type wide;

  Value real(Value v) { return f.cast(v, wide, numberOfElement(wide)); }
  /// Returns [batch, steps, heads * columns] as [steps, batch, heads, rows, columns], of which rows or columns are 1.
  Value bySteps(Value v, const Size &heads, const Size &rows, const Size &columns) {
    Value apart = f.reshapeTo(real(v), {s.batch, s.steps, heads, rows, columns});
    return f.transpose(apart, {1, 0, 2, 3, 4});
  }
  /// Repeats a value that may be one number for several, where its sizes do not say whether it is.
  Value repeated(Value v, ArrayRef<Size> sizes) {
    bool known = llvm::all_of(llvm::zip_equal(sizesOf(ranked(v)), sizes), [](auto pair) {
      return std::get<0>(pair).isNumber() || std::get<0>(pair) == std::get<1>(pair);
    });
    return known ? v : f.op("Expand", {v, makeSizes(f.b, f.loc, sizes)});
  }
  /// Returns queries, [steps, batch, kvHeads, group, width]. Where there are fewer of them than keys, several heads of
  /// keys read one.
  Value queries() {
    Value q = bySteps(op.getQuery(), std::min(s.heads, s.kvHeads), std::max<int64_t>(s.heads / s.kvHeads, 1), s.width);
    if (s.heads < s.kvHeads) {
      int64_t each = s.kvHeads / s.heads;
      Value wide = f.op("Expand", {q, makeSizes(f.b, f.loc, {s.steps, s.batch, s.heads, each, s.width})});
      q = f.reshapeTo(wide, {s.steps, s.batch, s.kvHeads, 1, s.width});
    }
    double given = op.getScale().convertToDouble();
    if (given != 0) {
      return f.mul(q, f.number(given, q));
    }
    return s.width.isNumber() ? f.mul(q, f.number(1 / std::sqrt(static_cast<double>(s.width.number())), q))
                              : f.div(q, f.sqrt(real(f.scalar(s.width))));
  }

  /// The axis of steps comes first, since an iteration gathers its own.
  SmallVector<Value> run() {
    Value q = queries(), k = bySteps(op.getKey(), s.kvHeads, s.width, 1);
    Value v = bySteps(op.getValue(), s.kvHeads, 1, s.valueWidth);
    Value decay, beta;
    if (isGated(op)) {
      decay = f.exp(bySteps(op.getDecay(), s.kvHeads, decaysOf(op, s), 1));
      decay = repeated(decay, {s.steps, s.batch, s.kvHeads, s.width, 1});
    }
    if (isDelta(op)) {
      beta = bySteps(op.getBeta(), sizeOf(ranked(op.getBeta()), 2), 1, 1);
      beta = repeated(beta, {s.steps, s.batch, s.kvHeads, 1, 1});
    }
    Sizes state = {s.batch, s.kvHeads, s.width, s.valueWidth};
    Value first = present(op.getPastState()) ? real(op.getPastState()) : f.zeros(state, wide);
    LoopOp loop = makeLoop(f.b, f.loc, f.scalar(s.steps), first, wide, [&](Value at, ValueRange states) {
      auto now = [&](Value all) { return f.op("Gather", {all, at}, {f.integer("axis", 0)}); };
      Value key = now(k), value = now(v), old = decay ? f.mul(states[0], now(decay)) : states[0];
      if (beta) { // the value that the key finds already is not written again
        Value found = f.reduce("ReduceSum", f.mul(old, key), {2}, /*keepdims=*/true);
        value = f.mul(now(beta), f.sub(value, found));
      }
      Value after = f.add(old, f.mul(key, value));
      return SmallVector<Value>{after, f.op("MatMul", {now(q), after})};
    });
    // This turns [steps, batch, kvHeads, group, columns] into [batch, steps, heads * columns].
    Value y = f.transpose(loop.getResult(1), {1, 0, 2, 3, 4});
    y = f.reshapeTo(y, {s.batch, s.steps, s.valueWidth * Size(s.results())});
    Type element = elementOf(op.getQuery()), ofState = elementOf(op.getPresentState());
    return {f.cast(y, element, numberOfElement(element)), f.cast(loop.getResult(0), ofState, numberOfElement(ofState))};
  }
};
} // namespace

LogicalResult LinearAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(oneOf(*this, "update_rule", getUpdateRule(), {"linear", "gated", "delta", "gated_delta"}))) {
    return failure();
  }
  auto shape = shapeOf(*this);
  if (failed(shape)) {
    return emitOpError("decay, beta, the past state or ")
           << getQNumHeads() << " query heads and " << getKvNumHeads() << " heads of keys do not fit "
           << getQuery().getType() << ", " << getKey().getType() << ", " << getValue().getType();
  }
  Type element = elementOf(getQuery()), state = present(getPastState()) ? elementOf(getPastState()) : element;
  if (!*shape) {
    types.assign({typeOfRank(3, element), typeOfRank(4, state)});
    return success();
  }
  const Shape &s = **shape;
  types.push_back(sizedType({s.batch, s.steps, s.valueWidth * Size(s.results())}, element));
  types.push_back(sizedType({s.batch, s.kvHeads, s.width, s.valueWidth}, state));
  return success();
}

LogicalResult LinearAttentionOp::decompose(PatternRewriter &rewriter) {
  auto shape = shapeOf(*this);
  if (failed(shape) || !*shape || (present(getPastState()) && !isSized(getPastState()))) {
    return failure();
  }
  Type wide = elementOf(getQuery()).isF64() ? elementOf(getQuery()) : Type(rewriter.getF32Type());
  rewriter.replaceOp(*this, Recurrence{*this, **shape, {rewriter, getLoc()}, wide}.run());
  return success();
}

void registerStateful(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Stateful.cpp.inc"
      >();
}

} // namespace ingot::onnx
