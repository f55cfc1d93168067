// CausalConvWithState is a convolution of the state and the input, one behind the other. LinearAttention is a Loop over
// the steps that carries the state; what does not need the state (scales, exponentials) is computed for all steps
// before.
#include "compiler/onnx/ops/Stateful.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Formula.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Stateful.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// CausalConvWithState.

LogicalResult CausalConvWithStateOp::inferTypes(SmallVectorImpl<Type> &types) {
  if (failed(oneOf(*this, "activation", getActivation(), {"none", "silu", "swish"}))) {
    return failure();
  }
  auto x = ranked(getX()), weight = ranked(getWeight());
  types.assign(2, x && weight ? getX().getType() : Type(unrankedOf(elementOf(getX()))));
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

// LinearAttention.

namespace {
struct Shape {
  Size batch, steps;
  int64_t heads = 0, shared = 0, width = 0, valueWidth = 0; ///< `shared`: heads of keys, values and states
};

bool isGated(LinearAttentionOp op) { return op.getUpdateRule().starts_with("gated"); }
bool isDelta(LinearAttentionOp op) { return op.getUpdateRule().ends_with("delta"); }

/// Nothing while the operands' sizes are not known; failure where they contradict, without a message.
FailureOr<std::optional<Shape>> shapeOf(LinearAttentionOp op) {
  Shape s;
  s.heads = op.getQNumHeads(), s.shared = op.getKvNumHeads();
  if (s.heads < 1 || s.shared < 1 || s.heads % s.shared || isGated(op) != present(op.getDecay()) ||
      isDelta(op) != present(op.getBeta())) {
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
  SmallVector<int64_t> widths;
  for (Value v : sequences) {
    Sizes sizes = sizesOf(ranked(v));
    if (!sizes[2].isNumber() || failed(require(op, sizes[0], s.batch)) || failed(require(op, sizes[1], s.steps))) {
      return failure();
    }
    widths.push_back(sizes[2].number());
  }
  s.width = widths[0] / s.heads, s.valueWidth = widths[2] / s.shared;
  bool good = widths[0] == s.heads * s.width && widths[1] == s.shared * s.width && widths[2] == s.shared * s.valueWidth;
  if (isGated(op)) {
    good &= widths[3] == s.shared || widths[3] == s.shared * s.width;
  }
  if (isDelta(op)) {
    good &= widths.back() == s.shared || widths.back() == 1;
  }
  auto past = present(op.getPastState()) ? ranked(op.getPastState()) : RankedTensorType();
  if (past) {
    Sizes state = {s.batch, s.shared, s.width, s.valueWidth};
    good &= past.getRank() == 4;
    for (int64_t i = 0; good && i < 4; ++i) {
      good = succeeded(require(op, sizeOf(past, i), state[i]));
    }
  }
  if (!good) {
    return failure();
  }
  return std::optional(s);
}

/// The rewrite of one LinearAttention. All is computed in f32 or wider, as the standard's body does.
struct Recurrence {
  LinearAttentionOp op;
  Shape s;
  Formula f;
  Type wide;

  Value real(Value v) { return f.cast(v, wide, numberOfElement(wide)); }
  /// [batch, steps, heads * columns] as [steps, batch, heads, rows, columns]; of rows and columns one is 1.
  Value bySteps(Value v, int64_t heads, int64_t rows, int64_t columns) {
    Value apart = f.reshapeTo(real(v), {s.batch, s.steps, heads, rows, columns});
    return f.transpose(apart, {1, 0, 2, 3, 4});
  }

  SmallVector<Value> run() {
    double scale = op.getScale().convertToDouble();
    scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(s.width)) : scale;
    int64_t group = s.heads / s.shared;
    Value q = bySteps(op.getQuery(), s.shared, group, s.width);
    q = f.mul(q, f.number(scale, q));
    Value k = bySteps(op.getKey(), s.shared, s.width, 1), v = bySteps(op.getValue(), s.shared, 1, s.valueWidth);
    Value decay, beta;
    if (isGated(op)) {
      int64_t rows = sizeOf(ranked(op.getDecay()), 2).number() / s.shared;
      decay = f.exp(bySteps(op.getDecay(), s.shared, rows, 1));
    }
    if (isDelta(op)) {
      beta = bySteps(op.getBeta(), sizeOf(ranked(op.getBeta()), 2).number(), 1, 1);
    }
    Sizes state = {s.batch, s.shared, s.width, s.valueWidth};
    Value first = present(op.getPastState()) ? real(op.getPastState()) : f.zeros(state, wide);
    LoopOp loop = makeLoop(f.b, f.loc, f.scalar(s.steps), first, wide, [&](Value at, ValueRange states) {
      auto now = [&](Value all) { return f.op("Gather", {all, at}, {f.integer("axis", 0)}); };
      Value key = now(k), value = now(v), old = decay ? f.mul(states[0], now(decay)) : states[0];
      if (beta) { // what the key finds there already is not written again
        Value found = f.reduce("ReduceSum", f.mul(old, key), {2}, /*keepdims=*/true);
        value = f.mul(now(beta), f.sub(value, found));
      }
      Value after = f.add(old, f.mul(key, value));
      return SmallVector<Value>{after, f.op("MatMul", {now(q), after})};
    });
    // [steps, batch, shared, group, columns] to [batch, steps, heads * columns].
    Value y = f.transpose(loop.getResult(1), {1, 0, 2, 3, 4});
    y = f.reshapeTo(y, {s.batch, s.steps, s.heads * s.valueWidth});
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
    types.assign({unrankedOf(element), unrankedOf(state)});
    return success();
  }
  const Shape &s = **shape;
  types.push_back(sizedType({s.batch, s.steps, s.heads * s.valueWidth}, element));
  types.push_back(sizedType({s.batch, s.shared, s.width, s.valueWidth}, state));
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
