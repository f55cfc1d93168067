// Has a table of rules by the names of operators. Each gets the op and the derivative by its first result; where
// operands were broadcast, their derivatives are summed over what they were repeated along.
#include "compiler/onnx/rewriting/Gradients.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "llvm/ADT/StringMap.h"
#include <numbers>

using namespace mlir;

namespace ingot::onnx {
namespace {

/// Derivatives by the operands of an op, in their order: null for one that has none (a shape, an index), nothing at all
/// where the rule does not apply.
using Adjoints = std::optional<SmallVector<Value>>;

/// An op, and the derivative by its first result.
struct Step {
  Formula &f;
  Operation *op;
  Value g;

  Value x(unsigned i = 0) const { return op->getOperand(i); }
  Value y() const { return op->getResult(0); }
  Value n(const Number &v) const { return f.number(v, g); }
  double number(StringRef name, double otherwise) const {
    auto given = op->getAttrOfType<FloatAttr>(name);
    return given ? given.getValueAsDouble() : otherwise;
  }
  int64_t integer(StringRef name, int64_t otherwise) const {
    auto given = op->getAttrOfType<IntegerAttr>(name);
    return given ? given.getInt() : otherwise;
  }
  Value square(Value v) const { return f.mul(v, v); }
  Value where(Value condition, Value v) const { return f.op("Where", {condition, v, n(0)}); }
  Value isPositive(Value v) const { return f.op("Greater", {v, n(0)}); }
  Value sigmoid(Value v) const { return f.op("Sigmoid", {v}); }
};

} // namespace

/// Returns `v`, whose axes are `has`, summed over those along which `of` was repeated. Null where sizes do not tell
/// whether it was. (The type of `v` itself may not tell its sizes yet.) For x [3] in x + y with y [2, 3], the
/// derivative [2, 3] is summed over the first axis. Axes that x lacks are removed, those in which it has one element
/// are kept.
static Value unbroadcast(Formula &f, Value v, ArrayRef<Size> has, Value of) {
  auto to = ranked(of);
  if (!to || !isSized(of)) {
    return {};
  }
  Sizes wants = sizesOf(to);
  int64_t more = static_cast<int64_t>(has.size()) - to.getRank();
  SmallVector<int64_t> lead = llvm::to_vector(llvm::seq<int64_t>(0, more)), ones;
  for (int64_t i = 0; i < to.getRank(); ++i) {
    if (has[more + i] == wants[i]) {
      continue;
    }
    if (!wants[i].is(1)) {
      return {};
    }
    ones.push_back(i);
  }
  v = lead.empty() ? v : f.reduce("ReduceSum", v, lead, /*keepdims=*/false);
  return ones.empty() ? v : f.reduce("ReduceSum", v, ones, /*keepdims=*/true);
}
/// Returns this for a value with the axes of the op's result.
static Value unbroadcast(const Step &s, Value v, Value of) {
  return isSized(s.y()) ? unbroadcast(s.f, v, sizesOf(ranked(s.y())), of) : Value();
}

/// Returns derivatives by operands, each of which gets its operand's shape.
static Adjoints broadcasted(const Step &s, ArrayRef<Value> full) {
  SmallVector<Value> all;
  for (auto [i, v] : llvm::enumerate(full)) {
    Value own = v ? unbroadcast(s, v, s.x(static_cast<unsigned>(i))) : Value();
    if (v && !own) {
      return std::nullopt;
    }
    all.push_back(own);
  }
  return all;
}

static Value shapedLike(const Step &s, Value v, Value of) {
  return s.f.op("Reshape", {v, s.f.op("Shape", {of})}, {s.f.integer("allowzero", 1)});
}

// These are the rules of reductions.

/// Returns the derivative by a reduction's result, as large as its operand.
static Value spread(const Step &s) {
  auto axes = s.op->getNumOperands() > 1 && present(s.x(1)) ? integersOf(s.x(1)) : std::nullopt;
  bool open = s.op->getNumOperands() > 1 && present(s.x(1)) && !axes;
  if (open || !ranked(s.x())) {
    return {};
  }
  if ((!axes || axes->empty()) && s.integer("noop_with_empty_axes", 0)) {
    return s.g;
  }
  SmallVector<int64_t> over = axes && !axes->empty() ? SmallVector<int64_t>(*axes)
                                                     : llvm::to_vector(llvm::seq<int64_t>(0, ranked(s.x()).getRank()));
  Value g = s.integer("keepdims", 1) || over.empty() ? s.g : unsqueeze(s.f, s.g, over);
  return s.f.op("Expand", {g, s.f.op("Shape", {s.x()})});
}
/// Each element of a mean has the share (elements of y) / (elements of x) in it.
static Value timesShare(const Step &s, Value v) {
  auto count = [&](Value of) { return like(s.f, s.f.op("Size", {of}), v); };
  return s.f.mul(v, s.f.div(count(s.y()), count(s.x())));
}

// These are the rules of products and convolutions.

/// dA = G B', dB = A' G
static Adjoints matmul(const Step &s) {
  auto a = ranked(s.x(0)), b = ranked(s.x(1));
  if (!a || !b || a.getRank() < 2 || b.getRank() < 2 || s.op->hasAttr("transA") || s.op->hasAttr("transB")) {
    return std::nullopt;
  }
  if (!isSized(s.y())) {
    return std::nullopt;
  }
  auto axesOf = [&](RankedTensorType operand) { // these are the batches of all, and the operand's own matrix
    Sizes axes = sizesOf(ranked(s.y())), own = sizesOf(operand);
    axes.truncate(axes.size() - 2);
    axes.append(own.end() - 2, own.end());
    return axes;
  };
  Value da = unbroadcast(s.f, s.f.op("MatMul", {s.g, s.x(1)}, {s.f.flag("transB")}), axesOf(a), s.x(0));
  Value db = unbroadcast(s.f, s.f.op("MatMul", {s.x(0), s.g}, {s.f.flag("transA")}), axesOf(b), s.x(1));
  return da && db ? Adjoints(SmallVector<Value>{da, db}) : std::nullopt;
}

/// Where an operand is read transposed, its own derivative is transposed too, so the product's sides change places.
static Adjoints gemm(const Step &s) {
  int64_t ta = s.integer("transA", 0), tb = s.integer("transB", 0);
  NamedAttribute alpha = s.f.number("alpha", s.number("alpha", 1));
  auto product = [&](Value a, Value b, int64_t transA, int64_t transB) {
    return s.f.op("Gemm", {a, b, Value()}, {alpha, s.f.integer("transA", transA), s.f.integer("transB", transB)});
  };
  Value a = ta ? product(s.x(1), s.g, tb, 1) : product(s.g, s.x(1), 0, !tb);
  Value b = tb ? product(s.g, s.x(0), 1, ta) : product(s.x(0), s.g, !ta, 0);
  Value c = present(s.x(2)) ? unbroadcast(s, s.f.mul(s.g, s.n(s.number("beta", 1))), s.x(2)) : Value();
  if (present(s.x(2)) && !c) {
    return std::nullopt;
  }
  return SmallVector<Value>{a, b, c};
}

namespace {
/// The windows of a convolution or a pool, whose sizes are known.
struct Windows {
  SmallVector<int64_t> kernel, strides, dilations, pads, rest; ///< `rest`: pixels behind the last window
};
} // namespace

/// `rest` becomes the output_padding of the convolution back, which could not tell the image's size otherwise.
static std::optional<Windows> windowsOf(const Step &s, ArrayRef<int64_t> kernel) {
  auto x = ranked(s.x()), y = ranked(s.y());
  auto pad = s.op->getAttrOfType<StringAttr>("auto_pad");
  if (!x || !y || !x.hasStaticShape() || !y.hasStaticShape() || (pad && pad.getValue() != "NOTSET")) {
    return std::nullopt;
  }
  size_t axes = kernel.size();
  auto list = [&](StringRef name, size_t count, int64_t otherwise) {
    auto given = s.op->getAttrOfType<DenseI64ArrayAttr>(name);
    return given ? SmallVector<int64_t>(given.asArrayRef()) : SmallVector<int64_t>(count, otherwise);
  };
  Windows w{SmallVector<int64_t>(kernel),
            list("strides", axes, 1),
            list("dilations", axes, 1),
            list("pads", 2 * axes, 0),
            {}};
  for (size_t i = 0; i < axes; ++i) {
    int64_t last = (y.getDimSize(i + 2) - 1) * w.strides[i] + (kernel[i] - 1) * w.dilations[i] + 1;
    w.rest.push_back(x.getDimSize(i + 2) + w.pads[i] + w.pads[axes + i] - last);
    if (w.rest.back() < 0) { // the last window is cut off
      return std::nullopt;
    }
  }
  return w;
}

static NamedAttribute ints(const Step &s, StringRef name, ArrayRef<int64_t> values) {
  return s.f.b.getNamedAttr(name, s.f.b.getDenseI64ArrayAttr(values));
}

/// Returns the adjoint of a convolution with these weights: each element goes back to where its window was.
static Value scattered(const Step &s, Value g, Value weights, const Windows &w, int64_t group) {
  return s.f.op("ConvTranspose", {g, weights, Value()},
                {ints(s, "strides", w.strides), ints(s, "dilations", w.dilations), ints(s, "pads", w.pads),
                 ints(s, "output_padding", w.rest), s.f.integer("group", group)});
}

static Adjoints conv(const Step &s) {
  auto weights = ranked(s.x(1));
  int64_t group = s.integer("group", 1);
  if (!weights || !weights.hasStaticShape() || weights.getRank() < 3 || group != 1) {
    return std::nullopt;
  }
  std::optional<Windows> w = windowsOf(s, weights.getShape().drop_front(2));
  if (!w) {
    return std::nullopt;
  }
  // The derivative by a weight is a sum over images and pixels: a convolution in which batch and channels change
  // places.
  SmallVector<int64_t> swapped = llvm::to_vector(llvm::seq<int64_t>(0, weights.getRank())), others = {0};
  std::swap(swapped[0], swapped[1]);
  Value dw = s.f.op("Conv", {s.f.transpose(s.x(), swapped), s.f.transpose(s.g, swapped), Value()},
                    {ints(s, "strides", w->dilations), ints(s, "dilations", w->strides), ints(s, "pads", w->pads)});
  for (auto [i, size] : llvm::enumerate(w->kernel)) {
    auto axis = static_cast<int64_t>(i) + 2;
    dw = slice(s.f, dw, axis, 0, size);
    others.push_back(axis);
  }
  Value db = present(s.x(2)) ? s.f.reduce("ReduceSum", s.g, others, /*keepdims=*/false) : Value();
  return SmallVector<Value>{scattered(s, s.g, s.x(1), *w, 1), s.f.transpose(dw, swapped), db};
}

// These are the rules of pools.

/// The second result of the pool says which element of the operand each window took, by its number in the whole tensor.
static Adjoints maxPool(const Step &s) {
  if (s.integer("storage_order", 0)) {
    return std::nullopt;
  }
  Value places = s.f.reshape(s.op->getResult(1), {-1}), flat = s.f.reshape(s.g, {-1});
  Value zeros = zerosBy(s.f, {s.f.reshape(s.f.op("Size", {s.x()}), {1})}, s.g);
  Value sums = s.f.op("ScatterElements", {zeros, places, flat},
                      {s.f.integer("axis", 0), s.f.b.getNamedAttr("reduction", s.f.b.getStringAttr("add"))});
  return SmallVector<Value>{shapedLike(s, sums, s.x())};
}

/// How many elements a window averages differs at the edges where padding does not count: a convolution of ones counts
/// them.
static Adjoints averagePool(const Step &s) {
  auto kernel = s.op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape");
  std::optional<Windows> w = windowsOf(s, kernel.asArrayRef());
  if (!w || s.integer("ceil_mode", 0)) {
    return std::nullopt;
  }
  auto x = ranked(s.x());
  SmallVector<int64_t> shape = {x.getDimSize(1), 1};
  llvm::append_range(shape, w->kernel);
  Value ones = s.f.op("Expand", {s.n(1), makeIntegers(s.f.b, s.f.loc, shape)});
  Value counts = s.n(elements(w->kernel));
  if (!s.integer("count_include_pad", 0)) {
    Value image = s.f.op("Expand", {s.n(1), makeIntegers(s.f.b, s.f.loc, x.getShape())});
    counts = s.f.op("Conv", {image, ones, Value()},
                    {ints(s, "strides", w->strides), ints(s, "dilations", w->dilations), ints(s, "pads", w->pads),
                     s.f.integer("group", shape[0])});
  }
  return SmallVector<Value>{scattered(s, s.f.div(s.g, counts), ones, *w, shape[0])};
}

static Adjoints globalAveragePool(const Step &s) {
  return SmallVector<Value>{timesShare(s, s.f.op("Expand", {s.g, s.f.op("Shape", {s.x()})}))};
}

// These are the rules of movements.

static Adjoints transpose(const Step &s) {
  auto perm = s.op->getAttrOfType<DenseI64ArrayAttr>("perm");
  if (!perm) {
    return SmallVector<Value>{s.f.op("Transpose", {s.g})};
  }
  SmallVector<int64_t> back(perm.size());
  for (auto [to, from] : llvm::enumerate(perm.asArrayRef())) {
    back[from] = static_cast<int64_t>(to);
  }
  return SmallVector<Value>{s.f.transpose(s.g, back)};
}

static Adjoints concat(const Step &s) {
  auto y = ranked(s.y());
  auto axis = y ? normalAxis(s.integer("axis", 0), y.getRank()) : std::nullopt;
  if (!axis) {
    return std::nullopt;
  }
  SmallVector<Value> parts;
  Value from = makeIntegers(s.f.b, s.f.loc, {0});
  for (Value x : s.op->getOperands()) {
    Value to = s.f.add(from, sizeAlong(s.f, x, *axis));
    parts.push_back(slice(s.f, s.g, *axis, from, to));
    from = to;
  }
  return parts;
}

/// Adds up derivatives, since rows that are read several times get the sum.
static Adjoints gather(const Step &s) {
  if (s.integer("axis", 0) != 0 || !ranked(s.x(1))) {
    return std::nullopt;
  }
  Value zeros = zerosBy(s.f, {s.f.op("Shape", {s.x()})}, s.g);
  Value places = integers(s.f, unsqueeze(s.f, s.x(1), {ranked(s.x(1)).getRank()}));
  return SmallVector<Value>{
      s.f.op("ScatterND", {zeros, places, s.g}, {s.f.b.getNamedAttr("reduction", s.f.b.getStringAttr("add"))}),
      Value()};
}

/// dx = y (g - sum(g y)) for Softmax, and g - exp(y) sum(g) for its logarithm.
static Adjoints softmax(const Step &s, bool logarithm) {
  Value weighed = logarithm ? s.g : s.f.mul(s.g, s.y());
  Value total = s.f.reduce("ReduceSum", weighed, {s.integer("axis", -1)}, /*keepdims=*/true);
  Value y = logarithm ? s.f.exp(s.y()) : s.y();
  return SmallVector<Value>{logarithm ? s.f.sub(s.g, s.f.mul(y, total)) : s.f.mul(y, s.f.sub(s.g, total))};
}

/// Returns the share of each of several operands that are added up.
static Adjoints shares(const Step &s, double factor) {
  return broadcasted(s, SmallVector<Value>(s.op->getNumOperands(), factor == 1 ? s.g : s.f.mul(s.g, s.n(factor))));
}

/// Where both operands are equal, the first one gets the derivative.
static Adjoints extreme(const Step &s, StringRef wins) {
  if (s.op->getNumOperands() != 2) {
    return s.op->getNumOperands() == 1 ? Adjoints(SmallVector<Value>{s.g}) : std::nullopt;
  }
  Value first = s.f.op(wins, {s.x(0), s.x(1)});
  return broadcasted(s, {s.where(first, s.g), s.where(s.f.op("Not", {first}), s.g)});
}

/// Elements beyond a limit have no derivative; limits themselves get none.
static Adjoints clip(const Step &s) {
  Value g = s.g;
  for (auto [i, stays] : {std::pair(1U, "GreaterOrEqual"), std::pair(2U, "LessOrEqual")}) {
    g = present(s.x(i)) ? s.where(s.f.op(stays, {s.x(), s.x(i)}), g) : g;
  }
  return SmallVector<Value>{g, Value(), Value()};
}

using Rule = Adjoints (*)(const Step &);
using UnaryRule = Value (*)(const Step &);

/// Returns the rules of ops with one operand.
static const llvm::StringMap<UnaryRule> &unaryRules() {
  static const llvm::StringMap<UnaryRule> rules = {
      {"Identity", [](const Step &s) { return s.g; }},
      {"Neg", [](const Step &s) { return s.f.op("Neg", {s.g}); }},
      {"Abs", [](const Step &s) { return s.f.mul(s.g, s.f.op("Sign", {s.x()})); }},
      {"Exp", [](const Step &s) { return s.f.mul(s.g, s.y()); }},
      {"Log", [](const Step &s) { return s.f.div(s.g, s.x()); }},
      {"Sqrt", [](const Step &s) { return s.f.div(s.g, s.f.add(s.y(), s.y())); }},
      {"Reciprocal", [](const Step &s) { return s.f.op("Neg", {s.f.mul(s.g, s.square(s.y()))}); }},
      {"Sin", [](const Step &s) { return s.f.mul(s.g, s.f.op("Cos", {s.x()})); }},
      {"Cos", [](const Step &s) { return s.f.op("Neg", {s.f.mul(s.g, s.f.op("Sin", {s.x()}))}); }},
      {"Tan", [](const Step &s) { return s.f.mul(s.g, s.f.add(s.square(s.y()), s.n(1))); }},
      {"Asin", [](const Step &s) { return s.f.div(s.g, s.f.sqrt(s.f.sub(s.n(1), s.square(s.x())))); }},
      {"Acos", [](const Step &s) { return s.f.op("Neg", {s.f.div(s.g, s.f.sqrt(s.f.sub(s.n(1), s.square(s.x()))))}); }},
      {"Atan", [](const Step &s) { return s.f.div(s.g, s.f.add(s.square(s.x()), s.n(1))); }},
      {"Sinh", [](const Step &s) { return s.f.mul(s.g, s.f.op("Cosh", {s.x()})); }},
      {"Cosh", [](const Step &s) { return s.f.mul(s.g, s.f.op("Sinh", {s.x()})); }},
      {"Tanh", [](const Step &s) { return s.f.mul(s.g, s.f.sub(s.n(1), s.square(s.y()))); }},
      {"Sigmoid", [](const Step &s) { return s.f.mul(s.g, s.f.mul(s.y(), s.f.sub(s.n(1), s.y()))); }},
      {"Softplus", [](const Step &s) { return s.f.mul(s.g, s.sigmoid(s.x())); }},
      {"Softsign", [](const Step &s) { return s.f.div(s.g, s.square(s.f.add(s.f.abs(s.x()), s.n(1)))); }},
      {"Erf",
       [](const Step &s) {
         Value bell = s.f.exp(s.f.op("Neg", {s.square(s.x())}));
         return s.f.mul(s.g, s.f.mul(bell, s.n(2 * std::numbers::inv_sqrtpi)));
       }},
      {"Relu", [](const Step &s) { return s.where(s.isPositive(s.x()), s.g); }},
      {"LeakyRelu",
       [](const Step &s) {
         Value less = s.f.mul(s.g, s.n(s.number("alpha", 0.01)));
         return s.f.op("Where", {s.isPositive(s.x()), s.g, less});
       }},
      {"Elu",
       [](const Step &s) {
         Value less = s.f.mul(s.g, s.f.add(s.y(), s.n(s.number("alpha", 1))));
         return s.f.op("Where", {s.isPositive(s.x()), s.g, less});
       }},
      {"Swish",
       [](const Step &s) {
         Value alpha = s.n(s.number("alpha", 1)), gate = s.sigmoid(s.f.mul(s.x(), alpha));
         Value slope = s.f.mul(s.f.mul(alpha, s.y()), s.f.sub(s.n(1), gate));
         return s.f.mul(s.g, s.f.add(gate, slope));
       }},
      {"Reshape", [](const Step &s) { return shapedLike(s, s.g, s.x()); }},
      {"Flatten", [](const Step &s) { return shapedLike(s, s.g, s.x()); }},
      {"Squeeze", [](const Step &s) { return shapedLike(s, s.g, s.x()); }},
      {"Unsqueeze", [](const Step &s) { return shapedLike(s, s.g, s.x()); }},
      {"Expand", [](const Step &s) { return unbroadcast(s, s.g, s.x()); }},
      {"ReduceSum", [](const Step &s) { return spread(s); }},
      {"ReduceMean",
       [](const Step &s) {
         Value all = spread(s);
         return all ? timesShare(s, all) : Value();
       }},
      {"ReduceSumSquare",
       [](const Step &s) {
         Value all = spread(s);
         return all ? s.f.mul(all, s.f.add(s.x(), s.x())) : Value();
       }},
      {"Cast", [](const Step &s) { return isa<FloatType>(elementOf(s.x())) ? like(s.f, s.g, s.x()) : Value(); }}};
  return rules;
}

static const llvm::StringMap<Rule> &rules() {
  static const llvm::StringMap<Rule> rules = {
      {"Add", [](const Step &s) { return shares(s, 1); }},
      {"Sum", [](const Step &s) { return shares(s, 1); }},
      {"Mean", [](const Step &s) { return shares(s, 1.0 / s.op->getNumOperands()); }},
      {"Sub", [](const Step &s) { return broadcasted(s, {s.g, s.f.op("Neg", {s.g})}); }},
      {"Mul", [](const Step &s) { return broadcasted(s, {s.f.mul(s.g, s.x(1)), s.f.mul(s.g, s.x(0))}); }},
      {"Div",
       [](const Step &s) {
         Value share = s.f.div(s.g, s.x(1));
         return broadcasted(s, {share, s.f.op("Neg", {s.f.mul(share, s.y())})});
       }},
      {"Pow",
       [](const Step &s) -> Adjoints {
         Value power = like(s.f, s.x(1), s.x());
         Value by = s.f.mul(power, s.f.op("Pow", {s.x(), s.f.sub(power, s.n(1))}));
         Value exponent = isa<FloatType>(elementOf(s.x(1)))
                              ? like(s.f, s.f.mul(s.g, s.f.mul(s.y(), s.f.log(s.x()))), s.x(1))
                              : Value();
         return broadcasted(s, {s.f.mul(s.g, by), exponent});
       }},
      {"Max", [](const Step &s) { return extreme(s, "GreaterOrEqual"); }},
      {"Min", [](const Step &s) { return extreme(s, "LessOrEqual"); }},
      {"Clip", clip},
      {"Where",
       [](const Step &s) {
         Value other = s.where(s.f.op("Not", {s.x(0)}), s.g);
         return broadcasted(s, {Value(), s.where(s.x(0), s.g), other});
       }},
      {"MatMul", matmul},
      {"Gemm", gemm},
      {"Conv", conv},
      {"MaxPool", maxPool},
      {"AveragePool", averagePool},
      {"GlobalAveragePool", globalAveragePool},
      {"Transpose", transpose},
      {"Concat", concat},
      {"Gather", gather},
      {"Softmax", [](const Step &s) { return softmax(s, false); }},
      {"LogSoftmax", [](const Step &s) { return softmax(s, true); }}};
  return rules;
}

Adjoints adjointsOf(Formula &f, Operation *op, ArrayRef<Value> given) {
  StringRef name = op->getName().stripDialect();
  bool others = llvm::any_of(given.drop_front(), [](Value v) { return static_cast<bool>(v); });
  if (!given.front() || others) {
    return std::nullopt;
  }
  Step s{f, op, given.front()};
  if (auto rule = rules().find(name); rule != rules().end()) {
    return rule->second(s);
  }
  auto rule = unaryRules().find(name);
  if (rule == unaryRules().end()) {
    return std::nullopt;
  }
  SmallVector<Value> all(op->getNumOperands());
  all.front() = rule->second(s);
  return all.front() ? Adjoints(all) : std::nullopt;
}

} // namespace ingot::onnx
