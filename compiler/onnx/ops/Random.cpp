// Draws numbers without a state: they depend on the seed and on the element's number only, which are mixed as
// splitmix64 does. Each run of a node draws the same numbers, and so does each thread. A node without a seed has one by
// its name: nodes that the model tells apart draw numbers of their own.
#include "compiler/onnx/ops/Random.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Random.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static LogicalResult seeded(Node &node) {
  if (!node.attributes.get("seed")) {
    std::string name = nodeOf(node.loc);
    // A float holds these 24 bits exactly.
    auto seed = static_cast<float>(llvm::xxh3_64bits(llvm::StringRef(name)) >> 40);
    node.attributes.set("seed", node.builder.getF32FloatAttr(seed));
  }
  return success();
}

namespace {
/// Draws for one node.
struct Dice {
  Formula f;
  uint64_t seed;

  Dice(OpBuilder &b, Location loc, const APFloat &seed) : f(b, loc), seed(seed.bitcastToAPInt().getZExtValue()) {}

  Value wide(uint64_t n) {
    auto type = tensorOf({}, f.b.getIntegerType(64, /*isSigned=*/false));
    return makeConstant(f.b, f.loc, constantFromIntegers(type, {static_cast<int64_t>(n)}));
  }
  Value shifted(Value x, uint64_t by) {
    return f.op("BitShift", {x, wide(by)}, {f.b.getNamedAttr("direction", f.b.getStringAttr("RIGHT"))});
  }
  /// A step of the mix: (x ^ (x >> by)) * factor.
  Value mixed(Value x, uint64_t by, uint64_t factor) {
    return f.mul(f.op("BitwiseXor", {x, shifted(x, by)}), wide(factor));
  }

  /// Returns numbers from 0 to less than 1, in steps of 2^-24. Each `series` is independent of the others.
  Value uniform(ArrayRef<Size> sizes, uint64_t series = 0) {
    constexpr uint64_t golden = 0x9E3779B97F4A7C15;
    Value count = f.reshapeTo(f.countTo(f.scalar(support::product(sizes))), sizes);
    Value x = f.cast(count, f.b.getIntegerType(64, /*isSigned=*/false), 13);
    x = f.mul(f.add(x, wide((seed + 1) * golden + (series << 32))), wide(golden));
    x = mixed(mixed(x, 30, 0xBF58476D1CE4E5B9), 27, 0x94D049BB133111EB);
    x = f.cast(f.cast(shifted(x, 40), f.b.getI32Type(), 6), f.b.getF32Type(), 1);
    return f.mul(x, f.number(std::ldexp(1.0, -24), x));
  }

  /// Returns normal numbers, by the transform of Box and Muller.
  Value normal(ArrayRef<Size> sizes) {
    Value u = uniform(sizes), phase = uniform(sizes, 1);
    Value radius = f.sqrt(f.mul(f.log(f.sub(f.number(1, u), u)), f.number(-2, u)));
    return f.mul(radius, f.op("Cos", {f.mul(phase, f.number(2 * M_PI, phase))}));
  }

  Value linear(Value x, double factor, double offset) {
    return f.add(f.mul(x, f.number(factor, x)), f.number(offset, x));
  }
  Value as(Value x, Type element) { return f.cast(x, element, numberOfElement(element)); }
};
} // namespace

/// Infers a result of these sizes (unknown: of no known rank) and of the element type that `number` says, which must be
/// a float.
static LogicalResult inferDrawn(Operation *op, Type shaped, std::optional<uint64_t> number, bool isFloat,
                                SmallVectorImpl<Type> &types) {
  auto like = cast<TensorType>(shaped);
  Type element = number ? elementOfNumber(static_cast<int64_t>(*number), op->getContext()) : like.getElementType();
  if (!element || isString(element) || (isFloat && !isa<FloatType>(element))) {
    return op->emitOpError("cannot draw numbers of element type ")
           << (number ? static_cast<int64_t>(*number) : numberOfElement(element));
  }
  auto ranked = dyn_cast<RankedTensorType>(like);
  types.push_back(ranked ? Type(sizedType(sizesOf(ranked), element)) : Type(unrankedOf(element)));
  return success();
}

/// Returns the type of a tensor of this shape; null when that has a negative size.
static RankedTensorType shapedBy(Operation *op, ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t d) { return d < 0; })) {
    return op->emitOpError("shape has a negative dimension"), RankedTensorType();
  }
  return tensorOf(shape, Float32Type::get(op->getContext()));
}

// These write RandomUniform and RandomNormal, by a shape and like a tensor.

#define INGOT_DRAWN(Op)                                                                                                \
  LogicalResult Op::upgrade(Node &node) { return seeded(node); }                                                       \
  LogicalResult Op::inferTypes(SmallVectorImpl<Type> &types) {                                                         \
    RankedTensorType shaped = shapedBy(*this, getShape());                                                             \
    return shaped ? inferDrawn(*this, shaped, getDtype(), /*isFloat=*/true, types) : failure();                        \
  }
INGOT_DRAWN(RandomUniformOp)
INGOT_DRAWN(RandomNormalOp)
#undef INGOT_DRAWN

#define INGOT_DRAWN_LIKE(Op, isFloat)                                                                                  \
  LogicalResult Op::upgrade(Node &node) { return seeded(node); }                                                       \
  LogicalResult Op::inferTypes(SmallVectorImpl<Type> &types) {                                                         \
    return inferDrawn(*this, getX().getType(), getDtype(), isFloat, types);                                            \
  }
INGOT_DRAWN_LIKE(RandomUniformLikeOp, true)
INGOT_DRAWN_LIKE(RandomNormalLikeOp, true)
INGOT_DRAWN_LIKE(BernoulliOp, false)
#undef INGOT_DRAWN_LIKE

template <typename Op> static LogicalResult drawUniform(Op op, PatternRewriter &rewriter) {
  if (!isSized(op.getY())) {
    return failure();
  }
  Dice dice(rewriter, op.getLoc(), op.getSeed());
  double low = op.getLow().convertToDouble(), high = op.getHigh().convertToDouble();
  Value y = dice.linear(dice.uniform(sizesOf(ranked(op.getY()))), high - low, low);
  rewriter.replaceOp(op, dice.as(y, elementOf(op.getY())));
  return success();
}
LogicalResult RandomUniformOp::decompose(PatternRewriter &rewriter) { return drawUniform(*this, rewriter); }
LogicalResult RandomUniformLikeOp::decompose(PatternRewriter &rewriter) { return drawUniform(*this, rewriter); }

template <typename Op> static LogicalResult drawNormal(Op op, PatternRewriter &rewriter) {
  if (!isSized(op.getY())) {
    return failure();
  }
  Dice dice(rewriter, op.getLoc(), op.getSeed());
  Value y = dice.linear(dice.normal(sizesOf(ranked(op.getY()))), op.getScale().convertToDouble(),
                        op.getMean().convertToDouble());
  rewriter.replaceOp(op, dice.as(y, elementOf(op.getY())));
  return success();
}
LogicalResult RandomNormalOp::decompose(PatternRewriter &rewriter) { return drawNormal(*this, rewriter); }
LogicalResult RandomNormalLikeOp::decompose(PatternRewriter &rewriter) { return drawNormal(*this, rewriter); }

/// Draws one with the probability that the operand's element says.
LogicalResult BernoulliOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Dice dice(rewriter, getLoc(), getSeed());
  Value u = dice.as(dice.uniform(sizesOf(ranked(getX()))), elementOf(getX()));
  rewriter.replaceOp(*this, dice.as(dice.f.op("Less", {u, getX()}), elementOf(getY())));
  return success();
}

// These write Multinomial.

LogicalResult MultinomialOp::upgrade(Node &node) { return seeded(node); }
LogicalResult MultinomialOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto x = ranked(getX());
  auto count = static_cast<int64_t>(getSampleSize());
  if (x && x.getRank() != 2) {
    return emitOpError("needs logarithms of probabilities [batch, classes], not ") << x;
  }
  if (count < 0 || (getDtype() != 6 && getDtype() != 7)) {
    return emitOpError("draws int32 or int64 numbers of classes, not ")
           << count << " of element type " << static_cast<int64_t>(getDtype());
  }
  Type element = elementOfNumber(static_cast<int64_t>(getDtype()), getContext());
  types.push_back(sizedType({x ? sizeOf(x, 0) : Size::unknown(), count}, element));
  return success();
}

/// Draws the class for which an exponential variable, divided by its probability, is least: that is, the logarithm of
/// the probability less that of the variable is greatest.
LogicalResult MultinomialOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getX())) {
    return failure();
  }
  Dice dice(rewriter, getLoc(), getSeed());
  Formula &f = dice.f;
  Sizes sizes = sizesOf(ranked(getX()));
  Value u = dice.uniform({sizes[0], static_cast<int64_t>(getSampleSize()), sizes[1]});
  Value wait = f.mul(f.log(f.sub(f.number(1, u), u)), f.number(-1, u));
  wait = dice.as(f.op("Max", {wait, f.number(1e-9, wait)}), elementOf(getX()));
  Value scores = f.sub(f.reshapeTo(getX(), {sizes[0], 1, sizes[1]}), f.log(wait));
  Value best = f.op("ArgMax", {scores}, {f.integer("axis", 2), f.integer("keepdims", 0)});
  rewriter.replaceOp(*this, dice.as(best, elementOf(getY())));
  return success();
}

void registerRandom(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Random.cpp.inc"
      >();
}

} // namespace ingot::onnx
