// LSTM, GRU, RNN: for each direction one matrix product over all steps (the input's part, with the biases) and a
// Recurrence behind it.
#include "compiler/onnx/ops/Recurrent.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Formula.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Recurrent.cpp.inc"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// An activation with the defaults of its alpha and beta; `alpha`, `beta`: whether a node may give them.
struct Activation {
  StringRef name;
  bool alpha, beta;
  float defaultAlpha, defaultBeta;
};
constexpr Activation activationTable[] = {
    {"sigmoid", false, false, 0, 0},      {"tanh", false, false, 0, 0},
    {"relu", false, false, 0, 0},         {"affine", true, true, 1, 0},
    {"leakyrelu", true, false, 0.01f, 0}, {"thresholdedrelu", true, false, 1, 0},
    {"scaledtanh", true, true, 1, 1},     {"hardsigmoid", true, true, 0.2f, 0.5f},
    {"elu", true, false, 1, 0},           {"softsign", false, false, 0, 0},
    {"softplus", false, false, 0, 0},
};

/// What the three ops have in common; inputs by their places.
struct Recurrent {
  Operation *op;
  StringRef kind;
  int64_t gates;
  SmallVector<StringRef> defaults;

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
  /// Those of all directions, the defaults behind those that are given; null for a name that is not known.
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
Recurrent recurrentOf(GRUOp op) { return {op, "GRU", 3, {"sigmoid", "tanh"}}; }
Recurrent recurrentOf(RNNOp op) { return {op, "RNN", 1, {"tanh"}}; }

} // namespace

static LogicalResult upgradeRecurrent(Node &node) {
  node.attributes.erase("output_sequence"); // opset 6 and before: a hint
  return success();
}

/// What does not fit of the inputs behind R: biases, lengths, first states, peepholes. Open sizes are required to.
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

/// The attribute or the weights say how many hidden units there are; dynamic: only the run knows.
static int64_t hiddenOf(const Recurrent &r) {
  auto tr = ranked(r.input(2));
  int64_t given = r.integer("hidden_size");
  return given > 0 && tr.isDynamicDim(2) ? given : tr.getDimSize(2);
}

static LogicalResult inferRecurrent(const Recurrent &r, SmallVectorImpl<Type> &types) {
  Type element = elementOf(r.x());
  auto tx = ranked(r.x()), tw = ranked(r.input(1)), tr = ranked(r.input(2));
  if (!tx || !tr || !tw) {
    types.assign(r.op->getNumResults(), unrankedOf(element));
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
  if (!fits(tr, 0, ways) || !fits(tr, 1, rows) || !fits(tr, 2, units) || !fits(tw, 0, ways) || !fits(tw, 1, rows) ||
      !fits(tx, 2, sizeOf(tw, 2))) {
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

/// Activations of one direction as attributes of Recurrence. An alpha is taken from the node's list by each activation
/// that has one, in order.
static void activations(const Recurrent &r, int64_t way, OpBuilder &b, SmallVectorImpl<NamedAttribute> &attributes) {
  SmallVector<const Activation *> all = r.activations();
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
  SmallVector<StringRef> mine;
  SmallVector<float> alpha, beta;
  for (size_t i = 0; i < each * r.ways(); ++i) {
    const Activation &known = *all[i];
    float a = take(alphas, known.alpha, known.defaultAlpha), be = take(betas, known.beta, known.defaultBeta);
    if (static_cast<int64_t>(i / each) == way) {
      mine.push_back(known.name), alpha.push_back(a), beta.push_back(be);
    }
  }
  attributes.push_back(b.getNamedAttr("activations", b.getStrArrayAttr(mine)));
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

  /// [a, b, c] <-> [b, a, c] for nodes whose first axis is the batch.
  Value swapped(Value v) { return r.batchFirst() ? f.transpose(v, {1, 0, 2}) : v; }
  Value joined(ArrayRef<Value> parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : f.op("Concat", parts, {f.integer("axis", axis)});
  }
  Value slice(Value v, int64_t from, int64_t to) {
    auto one = [&](int64_t n) { return makeIntegers(f.b, f.loc, {n}); };
    return ranked(v).getDimSize(0) == to - from ? v : f.op("Slice", {v, one(from), one(to), one(0), one(1)});
  }
  /// The part of a direction, as `shape`; null for an input left out.
  Value part(Value v, int64_t way, ArrayRef<Size> shape) {
    return v ? f.reshapeTo(slice(v, way, way + 1), shape) : Value();
  }

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
                                   r.input(4)};
    return createOp(f.b, f.loc, "onnx.Recurrence", operands, attributes, 3);
  }
};
} // namespace

template <typename Op> static LogicalResult decomposeRecurrent(Op op, PatternRewriter &rewriter) {
  Recurrent r = recurrentOf(op);
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    bool weights = i == 2 || i == 3 || i == 7; // R, B and P; rows of W are as long as those of X
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
