// Writes LSTM, GRU and RNN, for each direction, as one matrix product over all steps (the input's part, with the
// biases) and a Recurrence behind it. DynamicQuantizeLSTM is a Loop over the steps, as each quantizes the state before
// its product.
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/quantization/Quantization.h"
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Recurrent.cpp.inc"
#include "compiler/onnx/sizes/Ranks.h"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// An activation with the defaults of its alpha and beta; `alpha` and `beta` say whether a node may give them.
struct Activation {
  StringRef name, op;
  bool alpha, beta;
  float defaultAlpha, defaultBeta;
};
constexpr Activation activationTable[] = {
    {"sigmoid", "Sigmoid", false, false, 0, 0},
    {"tanh", "Tanh", false, false, 0, 0},
    {"relu", "Relu", false, false, 0, 0},
    {"affine", "Affine", true, true, 1, 0},
    {"leakyrelu", "LeakyRelu", true, false, 0.01f, 0},
    {"thresholdedrelu", "ThresholdedRelu", true, false, 1, 0},
    {"scaledtanh", "ScaledTanh", true, true, 1, 1},
    {"hardsigmoid", "HardSigmoid", true, true, 0.2f, 0.5f},
    {"elu", "Elu", true, false, 1, 0},
    {"softsign", "Softsign", false, false, 0, 0},
    {"softplus", "Softplus", false, false, 0, 0},
};

/// What the ops have in common, with their inputs by their places.
struct Recurrent {
  Operation *op;
  StringRef kind;
  int64_t gates;
  SmallVector<StringRef> defaults;
  bool byColumns = false; ///< whether gates are the columns of W and R, not their rows

  Value input(unsigned i) const {
    return i < op->getNumOperands() && present(op->getOperand(i)) ? op->getOperand(i) : Value();
  }
  Value x() const { return input(0); }
  bool batchFirst() const { return integer("layout") != 0; }
  bool bothWays() const { return text("direction") == "bidirectional"; }
  int64_t ways() const { return bothWays() ? 2 : 1; }
  int64_t integer(StringRef name) const {
    auto a = op->getAttrOfType<IntegerAttr>(name);
    return a ? a.getInt() : 0;
  }
  StringRef text(StringRef name) const {
    auto a = op->getAttrOfType<StringAttr>(name);
    return a ? a.getValue() : StringRef("forward");
  }
  /// Returns the activations of all directions, with defaults behind those that are given; null for a name that is not
  /// known.
  SmallVector<const Activation *> activations() const {
    SmallVector<const Activation *> all;
    auto add = [&](StringRef name) {
      const auto *found = llvm::find_if(activationTable, [&](const Activation &a) { return a.name == name.lower(); });
      all.push_back(found == std::end(activationTable) ? nullptr : found);
    };
    if (auto given = op->getAttrOfType<ArrayAttr>("activations")) {
      llvm::for_each(given.getAsValueRange<StringAttr>(), add);
    }
    while (all.size() < defaults.size() * ways()) {
      add(defaults[all.size() % defaults.size()]);
    }
    return all;
  }
};

Recurrent recurrentOf(LSTMOp op) { return {op, "LSTM", 4, {"sigmoid", "tanh", "tanh"}}; }
Recurrent recurrentOf(DynamicQuantizeLSTMOp op) { return {op, "LSTM", 4, {"sigmoid", "tanh", "tanh"}, true}; }
Recurrent recurrentOf(GRUOp op) { return {op, "GRU", 3, {"sigmoid", "tanh"}}; }
Recurrent recurrentOf(RNNOp op) { return {op, "RNN", 1, {"tanh"}}; }

} // namespace

static LogicalResult upgradeRecurrent(Node &node) {
  node.attributes.erase("output_sequence"); // this is a hint of opset 6 and before
  return success();
}

/// Returns what does not fit of the inputs behind R: biases, lengths, first states, peepholes. Open sizes are required
/// to fit.
static std::string misfit(const Recurrent &r, const Size &hidden, const Size &batch) {
  int64_t ways = r.ways();
  Sizes state = r.batchFirst() ? Sizes{batch, ways, hidden} : Sizes{ways, batch, hidden};
  const std::tuple<unsigned, StringRef, Sizes> wanted[] = {
      {3, "B", {ways, Size(2 * r.gates) * hidden}},
      {4, "sequence_lens", {batch}},
      {5, "initial_h", state},
      {6, "initial_c", state},
      {7, "P", {ways, Size(3) * hidden}},
  };
  for (const auto &[i, name, shape] : wanted) {
    auto type = r.input(i) ? ranked(r.input(i)) : RankedTensorType();
    if (!type || hidden.isUnknown()) {
      continue;
    }
    Sizes have = sizesOf(type);
    bool fits = have.size() == shape.size() && llvm::all_of(llvm::zip_equal(have, shape), [&](auto pair) {
                  const auto &[a, b] = pair;
                  return succeeded(require(r.op, a, b));
                });
    if (!fits) {
      return (name + " has the shape " + textOf(have) + ", expected " + textOf(shape)).str();
    }
  }
  return "";
}

/// Returns how many hidden units there are, which the attribute or the weights say; dynamic: only the run knows.
static int64_t hiddenOf(const Recurrent &r) {
  auto tr = ranked(r.input(2));
  int64_t given = r.integer("hidden_size");
  int64_t units = tr.getDimSize(r.byColumns ? 1 : 2);
  return given > 0 && ShapedType::isDynamic(units) ? given : units;
}

/// W is [directions, gates * hidden, inputs] and R [directions, gates * hidden, hidden], or with `byColumns`
/// transposed. Results are [steps, directions, batch, hidden] for all steps and [directions, batch, hidden] for the
/// last state and, of an LSTM, the last cell; with layout 1 the batch comes first.
static LogicalResult inferRecurrent(const Recurrent &r, SmallVectorImpl<Type> &types) {
  Type element = elementOf(r.x());
  auto tx = ranked(r.x()), tw = ranked(r.input(1)), tr = ranked(r.input(2));
  if (!tx || !tr || !tw) {
    types.assign(r.op->getNumResults(), typeOfRank(3, element));
    types[0] = typeOfRank(4, element); // these are the states of all steps
    return success();
  }
  if (tx.getRank() != 3 || tr.getRank() != 3 || tw.getRank() != 3) {
    return r.op->emitOpError("X, W and R must have three dimensions, not ") << tx << ", " << tw << ", " << tr;
  }
  StringRef direction = r.text("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return r.op->emitOpError("direction '") << direction << "' is not known";
  }
  if (llvm::is_contained(r.activations(), nullptr)) {
    return r.op->emitOpError("an activation is not known: ") << r.op->getAttr("activations");
  }
  int64_t hidden = hiddenOf(r), ways = r.ways();
  Sizes sizes = sizesOf(tx);
  Size steps = sizes[0], batch = sizes[1], units = ShapedType::isDynamic(hidden) ? Size::unknown() : Size(hidden);
  auto fits = [&](RankedTensorType type, int64_t axis, const Size &want) {
    return succeeded(require(r.op, sizeOf(type, axis), want));
  };
  Size rows = Size(r.gates) * units;
  int64_t ofGates = r.byColumns ? 2 : 1, ofInputs = 3 - ofGates;
  if (!fits(tr, 0, ways) || !fits(tr, ofGates, rows) || !fits(tr, ofInputs, units) || !fits(tw, 0, ways) ||
      !fits(tw, ofGates, rows) || !fits(tx, 2, sizeOf(tw, ofInputs))) {
    return r.op->emitOpError("W of type ")
           << tw << " and R of type " << tr << " do not fit X of type " << tx << " and " << r.gates << " gates";
  }
  if (std::string bad = misfit(r, units, sizesOf(tx)[r.batchFirst() ? 0 : 1]); !bad.empty()) {
    return r.op->emitOpError(bad);
  }
  if (r.batchFirst()) {
    std::swap(steps, batch);
    types.assign({sizedType({batch, steps, ways, units}, element), sizedType({batch, ways, units}, element)});
  } else {
    types.assign({sizedType({steps, ways, batch, units}, element), sizedType({ways, batch, units}, element)});
  }
  if (r.op->getNumResults() == 3) {
    types.push_back(types[1]);
  }
  return success();
}

namespace {
/// An activation with its numbers.
struct Chosen {
  const Activation *of;
  float alpha, beta;
};
} // namespace

/// Returns the activations of one direction. An alpha is taken from the node's list by each activation that has one, in
/// order.
static SmallVector<Chosen> activations(const Recurrent &r, int64_t way) {
  size_t each = r.defaults.size();
  auto list = [&](StringRef name) {
    auto a = r.op->getAttrOfType<DenseF32ArrayAttr>(name);
    return a ? a.asArrayRef() : ArrayRef<float>();
  };
  ArrayRef<float> alphas = list("activation_alpha"), betas = list("activation_beta");
  auto take = [](ArrayRef<float> &from, bool has, float otherwise) {
    float v = has && !from.empty() ? from.front() : otherwise;
    from = has && !from.empty() ? from.drop_front() : from;
    return v;
  };
  SmallVector<Chosen> all;
  for (const Activation *known : r.activations()) {
    all.push_back(
        {known, take(alphas, known->alpha, known->defaultAlpha), take(betas, known->beta, known->defaultBeta)});
  }
  return llvm::to_vector(ArrayRef<Chosen>(all).slice(way * each, each));
}

/// Adds the activations of one direction as attributes of Recurrence.
static void activations(const Recurrent &r, int64_t way, OpBuilder &b, SmallVectorImpl<NamedAttribute> &attributes) {
  SmallVector<StringRef> names;
  SmallVector<float> alpha, beta;
  for (const Chosen &chosen : activations(r, way)) {
    names.push_back(chosen.of->name), alpha.push_back(chosen.alpha), beta.push_back(chosen.beta);
  }
  attributes.push_back(b.getNamedAttr("activations", b.getStrArrayAttr(names)));
  attributes.push_back(b.getNamedAttr("alphas", b.getDenseF32ArrayAttr(alpha)));
  attributes.push_back(b.getNamedAttr("betas", b.getDenseF32ArrayAttr(beta)));
}

namespace {
/// Writes the decomposition of one node.
class Writing {
public:
  Writing(const Recurrent &r, PatternRewriter &rewriter) : r(r), f(rewriter, r.op->getLoc()) {
    auto tx = ranked(r.x()), tr = ranked(r.input(2));
    hidden = tr.getDimSize(2), width = sizeOf(tx, 2);
    steps = sizeOf(tx, r.batchFirst() ? 1 : 0), batch = sizeOf(tx, r.batchFirst() ? 0 : 1);
    x = swapped(r.x());
  }

  void run(PatternRewriter &rewriter) {
    SmallVector<SmallVector<Value>> ways;
    for (int64_t way = 0; way < r.ways(); ++way) {
      ways.push_back(SmallVector<Value>(direction(way)->getResults()));
    }
    SmallVector<Value> y, last;
    for (auto &results : ways) {
      y.push_back(f.reshapeTo(results[0], {steps, 1, batch, hidden}));
    }
    Value all = joined(y, 1);
    if (r.batchFirst()) {
      all = f.transpose(all, {2, 0, 1, 3});
    }
    SmallVector<Value> replacements = {all};
    for (unsigned i = 1; i < r.op->getNumResults(); ++i) {
      SmallVector<Value> states;
      for (auto &results : ways) {
        states.push_back(f.reshapeTo(results[i], {1, batch, hidden}));
      }
      replacements.push_back(swapped(joined(states, 0)));
    }
    rewriter.replaceOp(r.op, replacements);
  }

private:
  const Recurrent &r;
  Formula f;
  Value x;
  int64_t hidden;
  Size width, steps, batch;

  /// Swaps [a, b, c] and [b, a, c] for nodes whose first axis is the batch.
  Value swapped(Value v) { return r.batchFirst() ? f.transpose(v, {1, 0, 2}) : v; }
  Value joined(ArrayRef<Value> parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : f.op("Concat", parts, {f.integer("axis", axis)});
  }
  Value slice(Value v, int64_t from, int64_t to) {
    auto one = [&](int64_t n) { return makeIntegers(f.b, f.loc, {n}); };
    return ranked(v).getDimSize(0) == to - from ? v : f.op("Slice", {v, one(from), one(to), one(0), one(1)});
  }
  /// Returns the part of a direction, with this `shape`; null for an input that is left out.
  Value part(Value v, int64_t way, ArrayRef<Size> shape) {
    return v ? f.reshapeTo(slice(v, way, way + 1), shape) : Value();
  }

  /// Writes one direction. The biases of W and R are added to the product of the inputs at once, but for the last gate
  /// of a GRU with linear_before_reset: there the recurrent bias is multiplied by the reset gate, and goes to the
  /// Recurrence. The product of all steps with W is made before the recurrence, with both biases in it, so that a step
  /// only has the product with R. With linear_before_reset a GRU's recurrent bias of the hidden gate is multiplied by
  /// the reset gate, and stays apart.
  Operation *direction(int64_t way) {
    int64_t rows = r.gates * hidden;
    bool linear = r.kind == "GRU" && r.integer("linear_before_reset") != 0;
    SmallVector<NamedAttribute> attributes = {f.b.getNamedAttr("kind", f.b.getStringAttr(r.kind))};
    activations(r, way, f.b, attributes);
    if (auto clip = r.op->getAttrOfType<FloatAttr>("clip")) {
      attributes.push_back(f.b.getNamedAttr("clip", clip));
    }
    if (way == 1 || r.text("direction") == "reverse") {
      attributes.push_back(f.flag("reverse"));
    }
    if (linear) {
      attributes.push_back(f.flag("linearBeforeReset"));
    }
    if (r.integer("input_forget")) {
      attributes.push_back(f.flag("inputForget"));
    }
    Value p = f.op("MatMul", {x, part(r.input(1), way, {rows, width})}, {f.flag("transB")}), hiddenBias;
    if (Value bias = part(r.input(3), way, {2 * rows})) {
      Value recurrent = slice(bias, rows, 2 * rows);
      if (linear) {
        hiddenBias = slice(recurrent, 2 * hidden, rows);
        Value none = makeConstant(f.b, f.loc,
                                  constantFromFloats(tensorOf({hidden}, elementOf(x)), SmallVector<double>(hidden, 0)));
        recurrent = joined({slice(recurrent, 0, 2 * hidden), none}, 0);
      }
      p = f.add(p, f.add(slice(bias, 0, rows), recurrent));
    }
    Value h = r.input(5), c = r.input(6);
    SmallVector<Value> operands = {p,
                                   part(r.input(2), way, {rows, hidden}),
                                   part(h ? swapped(h) : h, way, {-1, hidden}),
                                   part(c ? swapped(c) : c, way, {-1, hidden}),
                                   hiddenBias,
                                   part(r.input(7), way, {3 * hidden}),
                                   r.input(4),
                                   Value(),
                                   Value()};
    return createOp(f.b, f.loc, "onnx.Recurrence", operands, attributes, 3);
  }
};
} // namespace

template <typename Op> static LogicalResult decomposeRecurrent(Op op, PatternRewriter &rewriter) {
  Recurrent r = recurrentOf(op);
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    bool weights = i == 2 || i == 3 || i == 7; // these are R, B and P; rows of W are as long as those of X
    if (present(v) && !(weights ? isStatic(v) : isSized(v))) {
      return failure();
    }
  }
  auto tw = ranked(r.input(1));
  if (tw.isDynamicDim(0) || tw.isDynamicDim(1)) {
    return failure();
  }
  Writing(r, rewriter).run(rewriter);
  return success();
}

#define INGOT_RECURRENT(Op)                                                                                            \
  LogicalResult Op::upgrade(Node &node) { return upgradeRecurrent(node); }                                             \
  LogicalResult Op::inferTypes(SmallVectorImpl<Type> &types) { return inferRecurrent(recurrentOf(*this), types); }     \
  LogicalResult Op::decompose(PatternRewriter &rewriter) { return decomposeRecurrent(*this, rewriter); }
INGOT_RECURRENT(LSTMOp)
INGOT_RECURRENT(GRUOp)
INGOT_RECURRENT(RNNOp)

// These write DynamicQuantizeLSTM.

namespace {
/// Writes the decomposition of one node.
class QuantizedWriting {
public:
  QuantizedWriting(DynamicQuantizeLSTMOp op, PatternRewriter &rewriter)
      : op(op), r(recurrentOf(op)), f(rewriter, op.getLoc()) {
    Sizes x = sizesOf(ranked(op.getX()));
    steps = x[0], batch = x[1], hidden = hiddenOf(r);
  }

  void run(PatternRewriter &rewriter) {
    Operation *x = createOp(f.b, f.loc, "onnx.DynamicQuantizeLinear", {op.getX()}, {}, 3);
    SmallVector<Value> parts[3];
    for (int64_t way = 0; way < r.ways(); ++way) {
      for (auto [part, v] : llvm::zip(parts, direction(way, x))) {
        part.push_back(v);
      }
    }
    rewriter.replaceOp(op, {joined(parts[0], 1), joined(parts[1], 0), joined(parts[2], 0)});
  }

private:
  DynamicQuantizeLSTMOp op;
  Recurrent r;
  Formula f;
  Size steps, batch;
  int64_t hidden;

  Value joined(ArrayRef<Value> parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : f.op("Concat", parts, {f.integer("axis", axis)});
  }
  /// Returns the part of a direction, without its axis; null for an input that is left out.
  Value part(Value v, int64_t way) {
    return present(v) ? f.op("Gather", {v, makeInteger(f.b, f.loc, way)}, {f.integer("axis", 0)}) : Value();
  }
  /// Returns the units [from, to) of the last axis.
  Value units(Value v, int64_t from, int64_t to) {
    auto list = [&](int64_t n) { return makeIntegers(f.b, f.loc, {n}); };
    return f.op("Slice", {v, list(from * hidden), list(to * hidden), list(-1), Value()});
  }
  Value state(Value given, int64_t way) {
    return present(given) ? part(given, way) : f.zeros({batch, hidden}, f.b.getF32Type());
  }
  Value activated(const Chosen &chosen, Value v) {
    SmallVector<NamedAttribute, 2> numbers;
    if (chosen.of->alpha) {
      numbers.push_back(f.number("alpha", chosen.alpha));
    }
    if (chosen.of->beta) {
      numbers.push_back(f.number("beta", chosen.beta));
    }
    return f.op(chosen.of->op, {v}, numbers);
  }
  /// Returns a gate with its activation.
  Value gate(const Chosen &chosen, Value v) {
    if (auto clip = op.getClip()) {
      v = f.op("Clip", {v, f.number(-clip->convertToDouble(), v), f.number(clip->convertToDouble(), v)});
    }
    return activated(chosen, v);
  }

  /// Returns the next state and cell from the sums [batch, 4 * hidden] of the gates i, o, f, c. c' = f c + i g and h' =
  /// o activation(c'), where peepholes add the cell to the gates i and f, and the next cell to o.
  std::pair<Value, Value> step(int64_t way, Value sums, Value peephole, Value cell) {
    SmallVector<Chosen> by = activations(r, way);
    auto peeped = [&](int64_t i, Value c) {
      Value x = units(sums, i, i + 1);
      return peephole ? f.add(x, f.mul(units(peephole, i, i + 1), c)) : x;
    };
    Value in = gate(by[0], peeped(0, cell));
    Value forget = op.getInputForget() ? f.sub(f.number(1, in), in) : gate(by[0], peeped(2, cell));
    Value next = f.add(f.mul(forget, cell), f.mul(in, gate(by[1], units(sums, 3, 4))));
    return {f.mul(gate(by[0], peeped(1, next)), activated(by[2], next)), next};
  }

  /// Returns one direction's part of the outputs: [steps, 1, batch, hidden], and state and cell [1, batch, hidden]. The
  /// state is quantized anew in each step. Behind the end of its sequence a row keeps its state, and gives zeros.
  SmallVector<Value> direction(int64_t way, Operation *x) {
    Value bias = part(op.getB(), way), peephole = part(op.getP(), way);
    bias = bias ? f.add(units(bias, 0, 4), units(bias, 4, 8)) : Value();
    Value inputs = scaledProduct(f, x->getResult(0), x->getResult(1), x->getResult(2), part(op.getW(), way),
                                 part(op.getWScale(), way), part(op.getWZeroPoint(), way), bias);
    Value weights = part(op.getR(), way), scale = part(op.getRScale(), way), zero = part(op.getRZeroPoint(), way);
    bool reverse = way == 1 || op.getDirection() == "reverse";
    Value lengths = present(op.getSequenceLens())
                        ? f.reshapeTo(f.cast(op.getSequenceLens(), f.b.getI64Type(), 7), {batch, 1})
                        : Value();
    Value first[] = {state(op.getInitialH(), way), state(op.getInitialC(), way)};
    LoopOp loop = makeLoop(f.b, f.loc, f.scalar(steps), first, f.b.getF32Type(), [&](Value number, ValueRange before) {
      Value at = reverse ? f.sub(f.scalar(steps - Size(1)), number) : number;
      Operation *h = createOp(f.b, f.loc, "onnx.DynamicQuantizeLinear", {before[0]}, {}, 3);
      Value sums = scaledProduct(f, h->getResult(0), h->getResult(1), h->getResult(2), weights, scale, zero,
                                 f.op("Gather", {inputs, at}, {f.integer("axis", 0)}));
      auto [state, cell] = step(way, sums, peephole, before[1]);
      if (!lengths) {
        return SmallVector<Value>{state, cell, state};
      }
      Value goesOn = f.op("Less", {at, lengths});
      auto unless = [&](Value now, Value otherwise) { return f.op("Where", {goesOn, now, otherwise}); };
      return SmallVector<Value>{unless(state, before[0]), unless(cell, before[1]), unless(state, f.number(0, state))};
    });
    Value all = loop.getResult(2);
    if (reverse) {
      auto list = [&](int64_t n) { return makeIntegers(f.b, f.loc, {n}); };
      all = f.op("Slice", {all, list(-1), list(std::numeric_limits<int64_t>::min()), list(0), list(-1)});
    }
    return {f.reshapeTo(all, {steps, 1, batch, hidden}), f.reshapeTo(loop.getResult(0), {1, batch, hidden}),
            f.reshapeTo(loop.getResult(1), {1, batch, hidden})};
  }
};
} // namespace

LogicalResult DynamicQuantizeLSTMOp::inferTypes(SmallVectorImpl<Type> &types) {
  const std::tuple<StringRef, Value, Value, Value> weights[] = {{"W", getW(), getWScale(), getWZeroPoint()},
                                                                {"R", getR(), getRScale(), getRZeroPoint()}};
  for (const auto &[name, w, scale, zero] : weights) {
    if (failed(checkOwn(*this, w, scale, zero, false))) {
      return failure();
    }
    auto tw = ranked(w), ts = ranked(scale);
    if (tw && ts && tw.hasStaticShape() && ts.hasStaticShape() && tw.getRank() == 3 &&
        ts.getNumElements() != tw.getDimSize(0) && ts.getNumElements() != tw.getDimSize(0) * tw.getDimSize(2)) {
      return emitOpError("scales of ") << name << " are of type " << ts << ", expected one for each direction or one "
                                       << "for each of its columns, of " << tw;
    }
  }
  return inferRecurrent(recurrentOf(*this), types);
}

LogicalResult DynamicQuantizeLSTMOp::decompose(PatternRewriter &rewriter) {
  bool known = isSized(getX()) && isStatic(getW()) && isStatic(getR()) && isStatic(getWScale()) &&
               isStatic(getRScale()) && isStatic(getWZeroPoint()) && isStatic(getRZeroPoint());
  for (Value v : {getB(), getSequenceLens(), getInitialH(), getInitialC(), getP()}) {
    known &= !present(v) || isSized(v);
  }
  if (!known) {
    return failure();
  }
  QuantizedWriting(*this, rewriter).run(rewriter);
  return success();
}

/// The operand p is the input's part of all gates, [steps, batch, gates * hidden].
LogicalResult RecurrenceOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto tp = cast<RankedTensorType>(getP().getType());
  int64_t hidden = cast<RankedTensorType>(getR().getType()).getDimSize(1);
  Size steps = sizeOf(tp, 0), batch = sizeOf(tp, 1);
  for (Value v : {getInitialH(), getInitialC(), getSequenceLens()}) {
    if (present(v)) {
      LogicalResult fits = require(*this, sizeOf(ranked(v), 0), batch);
      assert(succeeded(fits) && "misfits of numbers are told of the op that this one is made of");
      (void)fits;
    }
  }
  types.push_back(sizedType({steps, batch, hidden}, tp.getElementType()));
  types.append(2, sizedType({batch, hidden}, tp.getElementType()));
  return success();
}

void registerRecurrent(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Recurrent.cpp.inc"
      >();
}

} // namespace ingot::onnx
