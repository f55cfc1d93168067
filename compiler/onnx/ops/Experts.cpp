// Writes a loop over what the router chooses, k experts for each token: an iteration takes a token and the weights of
// one expert, so that no expert computes for a token that has not chosen it. The results of the experts are weighed and
// added up behind the loop. Quantized weights stay bytes, one for each number; an iteration makes floats of its
// expert's weights.
#include "compiler/onnx/ops/Experts.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "llvm/Support/FormatVariadic.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Experts.cpp.inc"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// One layer of all experts: weights [experts, outputs, inputs], and the scales and zero points that make floats of
/// them where they are bytes.
struct Layer {
  Value weights, bias, scales = {}, zeros = {};
  int64_t bits = 0;                                    ///< bits of a weight; 0: weights are floats
  int64_t each() const { return bits ? 8 / bits : 1; } ///< how many numbers an element has
  explicit operator bool() const { return present(weights); }
};

Layer layerOf(MoEOp op, int i) {
  Value weights[] = {op.getFc1(), op.getFc2(), op.getFc3()};
  Value biases[] = {op.getFc1Bias(), op.getFc2Bias(), op.getFc3Bias()};
  return {weights[i], biases[i]};
}
Layer layerOf(QMoEOp op, int i) {
  Value weights[] = {op.getFc1(), op.getFc2(), op.getFc3()},
        scales[] = {op.getFc1Scales(), op.getFc2Scales(), op.getFc3Scales()};
  Value biases[] = {op.getFc1Bias(), op.getFc2Bias(), op.getFc3Bias()};
  Value zeros[] = {op.getFc1Zeros(), op.getFc2Zeros(), op.getFc3Zeros()};
  std::optional<uint64_t> own[] = {op.getFc1ExpertWeightBits(), op.getFc2ExpertWeightBits(),
                                   op.getFc3ExpertWeightBits()};
  return {weights[i], biases[i], scales[i], zeros[i], static_cast<int64_t>(own[i].value_or(op.getExpertWeightBits()))};
}
int64_t blockOf(MoEOp) { return 0; }
int64_t blockOf(QMoEOp op) { return static_cast<int64_t>(op.getBlockSize()); }
/// Whether the weights of the chosen experts are made to add up to one. ONNX Runtime's QMoE does so in any case.
bool normalizes(MoEOp op) { return op.getNormalizeRoutingWeights() != 0; }
bool normalizes(QMoEOp) { return true; }

StringRef unsupported(MoEOp) { return ""; }
StringRef unsupported(QMoEOp op) {
  Value rest[] = {op.getRouterWeights(), op.getFc1GlobalScale(),   op.getFc2GlobalScale(),  op.getFc1ActScale(),
                  op.getFc2ActScale(),   op.getFc1ActBlockScale(), op.getFc2ActBlockScale()};
  if (op.getQuantType() != "int" || llvm::any_of(rest, [](Value v) { return present(v); })) {
    return "router_weights, and weights other than integers with scales, are unsupported";
  }
  auto block = static_cast<int64_t>(op.getBlockSize());
  if (block && (block < 16 || (block & (block - 1)))) {
    return "block_size is to be a power of two, at least 16, or 0";
  }
  return op.getWeightsPrepacked() == 1 ? "weights in an order of their own are unsupported" : "";
}

/// Returns the inputs of each expert, from weights whose shape is known.
int64_t inputsOf(const Layer &layer) { return ranked(layer.weights).getDimSize(2) * layer.each(); }

/// Whether a tensor that may be left out has the shape, as far as its type tells.
bool has(Value v, ArrayRef<int64_t> shape) { return !present(v) || !isStatic(v) || ranked(v).getShape() == shape; }

/// Returns what does not fit between the layers, the input and the router; empty: nothing. The first two layers tell
/// how many experts there are and how wide they are. A layer has a scale for each output, or for each block of its
/// inputs; of packed weights, one byte has several.
template <typename Op> std::string misfitOfShapes(Op op) {
  Layer layers[] = {layerOf(op, 0), layerOf(op, 1), layerOf(op, 2)};
  if (!ranked(layers[0].weights) || !ranked(layers[1].weights)) {
    return "";
  }
  int64_t experts = ranked(layers[0].weights).getDimSize(0), width = inputsOf(layers[0]), inner = inputsOf(layers[1]);
  bool fused = op.getActivationType() == "swiglu" && op.getSwigluFusion() != 0;
  int64_t outputs[] = {fused ? 2 * inner : inner, width, inner}, inputs[] = {width, inner, width}, block = blockOf(op);
  for (auto [i, layer] : llvm::enumerate(layers)) {
    int64_t blocks = block ? llvm::divideCeil(inputs[i], block) : 1;
    auto packed = [&](int64_t count) { return int64_t(llvm::divideCeil(count, layer.each())); };
    SmallVector<int64_t> scales = {experts, outputs[i]}, zeros = {experts, block ? outputs[i] : packed(outputs[i])};
    if (block) {
      scales.push_back(blocks), zeros.push_back(packed(blocks));
    }
    if (layer &&
        !(has(layer.weights, {experts, outputs[i], packed(inputs[i])}) && has(layer.bias, {experts, outputs[i]}) &&
          (has(layer.scales, scales) || (blocks == 1 && has(layer.scales, {experts, outputs[i]}))) &&
          has(layer.zeros, zeros))) {
      return llvm::formatv("layer {0} does not fit {1} experts of {2} inputs and {3} outputs", i + 1, experts,
                           inputs[i], outputs[i])
          .str();
    }
  }
  auto x = ranked(op.getX()), router = ranked(op.getRouter());
  auto ends = [](RankedTensorType type, int64_t size) {
    return !type ||
           (type.getRank() && (type.getShape().back() == size || ShapedType::isDynamic(type.getShape().back())));
  };
  auto k = static_cast<int64_t>(op.getK());
  return ends(x, width) && ends(router, experts) && k >= 1 && k <= experts
             ? ""
             : llvm::formatv("{0} of {1} experts of width {2} do not fit input '{3}' and router '{4}'", k, experts,
                             width, op.getX().getType(), op.getRouter().getType())
                   .str();
}

/// Returns what is wrong with a node, as far as its attributes and the types of weights tell; empty: nothing.
template <typename Op> std::string misfit(Op op) {
  if (StringRef reason = unsupported(op); !reason.empty()) {
    return reason.str();
  }
  StringRef activation = op.getActivationType();
  if (op.getUseSparseMixer()) {
    return "use_sparse_mixer is unsupported";
  }
  if (!llvm::is_contained({"relu", "gelu", "silu", "swiglu", "identity"}, activation) || op.getSwigluFusion() > 2) {
    return ("activation '" + activation + "' with swiglu_fusion " + Twine(op.getSwigluFusion()) + " is not known")
        .str();
  }
  bool separate = activation == "swiglu" && op.getSwigluFusion() == 0;
  if (separate != static_cast<bool>(layerOf(op, 2))) {
    return "a third layer belongs to swiglu that is not fused";
  }
  for (int i = 0; i < 3; ++i) {
    Layer layer = layerOf(op, i);
    auto type = layer ? ranked(layer.weights) : RankedTensorType();
    if (!llvm::is_contained({0, 2, 4, 8}, layer.bits) || (type && (type.getRank() != 3 || !type.hasStaticShape()))) {
      return ("layer " + Twine(i + 1) + " has weights of an unsupported shape or " + Twine(layer.bits) + " bits").str();
    }
  }
  return misfitOfShapes(op);
}

template <typename Op> class Expansion {
public:
  Expansion(Op op, PatternRewriter &rewriter) : op(op), f(rewriter, op.getLoc()) {
    auto x = ranked(op.getX());
    sizes = sizesOf(x);
    width = inputsOf(layerOf(op, 0));
    tokens = support::product(ArrayRef<Size>(sizes).drop_back());
    chosen = static_cast<int64_t>(op.getK());
  }

  Value run() {
    Type element = elementOf(op.getX());
    Value x = f.reshapeTo(op.getX(), {tokens, width});
    auto [experts, shares] = routed();
    experts = f.reshapeTo(experts, {tokens * Size(chosen)});
    Layer layers[] = {prepared(layerOf(op, 0)), prepared(layerOf(op, 1)), prepared(layerOf(op, 2))};
    LoopOp loop = makeLoop(f.b, f.loc, f.scalar(tokens * Size(chosen)), {}, element, [&](Value number, ValueRange) {
      auto one = [&](Value v, Value at) { return f.op("Gather", {v, at}, {f.integer("axis", 0)}); };
      Value expert = one(experts, number);
      Value token = f.reshape(one(x, f.div(number, f.scalar(chosen))), {1, width});
      Value inner = activated(passed(token, layers[0], expert), layers[2] ? passed(token, layers[2], expert) : Value());
      return SmallVector<Value>{f.reshape(passed(inner, layers[1], expert), {width})};
    });
    Value all = f.reshapeTo(loop.getResult(0), {tokens, chosen, width});
    Value y = f.reduce("ReduceSum", f.mul(all, f.reshapeTo(shares, {tokens, chosen, 1})), {1}, /*keepdims=*/false);
    return f.reshapeTo(y, sizes);
  }

private:
  Op op;
  Formula f;
  Sizes sizes;
  Size tokens;
  int64_t width, chosen;

  /// Returns the experts that each token chooses, and their shares, [tokens, k].
  std::pair<Value, Value> routed() {
    Value all = f.reshapeTo(op.getRouter(), {tokens, sizeOf(ranked(op.getRouter()), 1)});
    Operation *best =
        createOp(f.b, f.loc, "onnx.TopK", {all, makeIntegers(f.b, f.loc, {chosen})}, {f.integer("axis", -1)}, 2);
    auto softmax = [&](Value v) { return f.op("Softmax", {v}, {f.integer("axis", -1)}); };
    if (normalizes(op)) {
      return {best->getResult(1), softmax(best->getResult(0))};
    }
    return {best->getResult(1), f.op("GatherElements", {softmax(all), best->getResult(1)}, {f.integer("axis", 1)})};
  }

  /// Returns a layer whose bytes hold one number each.
  Layer prepared(Layer layer) {
    if (!layer || !layer.bits) {
      return layer;
    }
    auto weights = ranked(layer.weights);
    if (blockOf(op) > 0) { // a single block may have no axis
      layer.scales = f.reshape(layer.scales, {weights.getDimSize(0), weights.getDimSize(1), -1});
    }
    Sizes scales = sizesOf(ranked(layer.scales));
    layer.weights = unpackedLast(f, layer.weights, layer.bits, weights.getDimSize(2) * layer.each());
    if (present(layer.zeros)) {
      layer.zeros = unpackedLast(f, layer.zeros, layer.bits, scales.back().number());
    }
    return layer;
  }

  /// Returns the outputs of one expert's layer, [1, outputs]. Only the weights of one expert are gathered, so the
  /// others are not read.
  Value passed(Value v, const Layer &layer, Value expert) {
    auto own = [&](Value all) { return f.op("Gather", {all, expert}, {f.integer("axis", 0)}); };
    Value y = f.op("MatMul", {v, layer.bits ? floats(layer, own) : own(layer.weights)}, {f.flag("transB")});
    return present(layer.bias) ? f.add(y, own(layer.bias)) : y;
  }
  /// (q - zero) * scale; without zero points the middle of the range, 8 for four bits, is zero.
  Value floats(const Layer &layer, llvm::function_ref<Value(Value)> own) {
    Type element = elementOf(op.getX());
    auto number = [&](Value v) { return f.cast(v, element, numberOfElement(element)); };
    Value q = number(own(layer.weights));
    auto beside = [&](Value v) {
      Value mine = own(v);
      return blockOf(op) > 0 ? alongAxis(f, mine, q, 1, blockOf(op))
                             : f.reshape(mine, {ranked(layer.weights).getDimSize(1), 1});
    };
    Value zero = present(layer.zeros) ? number(beside(layer.zeros)) : f.number(int64_t(1) << (layer.bits - 1), q);
    return f.mul(f.sub(q, zero), number(beside(layer.scales)));
  }

  /// SwiGLU: v * sigmoid(alpha * v) * (linear + beta).
  Value activated(Value v, Value linear) {
    StringRef activation = op.getActivationType();
    auto swish = [&](Value x, double alpha) { return f.mul(x, f.op("Sigmoid", {f.mul(x, f.number(alpha, x))})); };
    if (activation == "silu") {
      return swish(v, 1);
    }
    if (activation == "gelu") {
      return f.op("Gelu", {v}, {f.b.getNamedAttr("approximate", f.b.getStringAttr("tanh"))});
    }
    if (activation != "swiglu") {
      return activation == "relu" ? f.op("Relu", {v}) : v;
    }
    if (!linear) { // both parts are in one product, in turn or one behind the other
      bool inTurn = op.getSwigluFusion() == 1;
      int64_t both = ranked(v).getDimSize(1), step = inTurn ? 2 : 1;
      auto part = [&](int64_t from, int64_t to) {
        auto list = [&](int64_t n) { return makeIntegers(f.b, f.loc, {n}); };
        return f.op("Slice", {v, list(from), list(to), list(1), list(step)});
      };
      linear = inTurn ? part(1, both) : part(both / 2, both);
      v = inTurn ? part(0, both) : part(0, both / 2);
    }
    if (auto limit = op.getSwigluLimit()) {
      double most = limit->convertToDouble();
      v = f.op("Min", {v, f.number(most, v)});
      linear = f.op("Clip", {linear, f.number(-most, v), f.number(most, v)});
    }
    return f.mul(swish(v, op.getActivationAlpha().convertToDouble()),
                 f.add(linear, f.number(op.getActivationBeta().convertToDouble(), linear)));
  }
};

template <typename Op> LogicalResult inferExperts(Op op, SmallVectorImpl<Type> &types) {
  if (std::string why = misfit(op); !why.empty()) {
    return op.emitOpError(why);
  }
  types.push_back(op.getX().getType());
  return success();
}

/// Waits until all sizes that the rewrite reads are known, and packed weights are constants.
template <typename Op> LogicalResult decomposeExperts(Op op, PatternRewriter &rewriter) {
  auto x = ranked(op.getX()), router = ranked(op.getRouter());
  if (!isSized(op.getX()) || !isSized(op.getRouter())) {
    return failure();
  }
  if ((x.getRank() != 2 && x.getRank() != 3) || router.getRank() != 2) {
    return op.emitOpError("input ") << x << " and router " << router << " are unsupported";
  }
  for (int i = 0; i < 3; ++i) {
    Layer layer = layerOf(op, i);
    if (layer && (!ranked(layer.weights) || (layer.bits && layer.bits < 8 && !constantOf(layer.weights)) ||
                  (layer.bits && (!isStatic(layer.scales) || (present(layer.zeros) && !constantOf(layer.zeros)))))) {
      return op.emitOpError("weights that are not constant are unsupported");
    }
  }
  Value first = layerOf(op, 0).weights; // these weights say how many experts there are, and how wide they are
  if (failed(require(op, sizeOf(x, x.getRank() - 1), inputsOf(layerOf(op, 0)))) ||
      failed(require(op, sizeOf(router, 1), ranked(first).getDimSize(0)))) {
    return op.emitOpError("input ") << x << " and router " << router << " do not fit the weights " << first.getType();
  }
  rewriter.replaceOp(op, Expansion<Op>(op, rewriter).run());
  return success();
}

} // namespace

LogicalResult MoEOp::inferTypes(SmallVectorImpl<Type> &types) { return inferExperts(*this, types); }
LogicalResult MoEOp::decompose(PatternRewriter &rewriter) { return decomposeExperts(*this, rewriter); }
LogicalResult QMoEOp::inferTypes(SmallVectorImpl<Type> &types) { return inferExperts(*this, types); }
LogicalResult QMoEOp::decompose(PatternRewriter &rewriter) { return decomposeExperts(*this, rewriter); }

void registerExperts(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Experts.cpp.inc"
      >();
}

} // namespace ingot::onnx
