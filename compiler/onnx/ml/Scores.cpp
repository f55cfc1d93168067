// Has what the classifiers and regressors of ai.onnx.ml share: the functions that scores go through, labels by their
// numbers, and the search for a value among keys.
#include "compiler/onnx/ml/Scores.h"
#include "compiler/onnx/text/Texts.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;

namespace ingot::onnx {

/// SOFTMAX_ZERO as ONNX Runtime computes it: exp(x - max) for elements that are not zero, divided by the sum of these.
/// Elements below 1e-7 count as zero, and are scaled by exp(-max) instead.
static Value softmaxOfNonzero(Formula &f, Value x) {
  Value most = f.reduce("ReduceMax", x, {-1}, true);
  Value isZero = f.op("LessOrEqual", {f.abs(x), f.number(1e-7, x)});
  Value zero = f.number(0, x), power = f.op("Where", {isZero, zero, f.exp(f.sub(x, most))});
  Value small = f.op("Where", {isZero, f.mul(x, f.exp(f.op("Neg", {most}))), power});
  return f.div(small, f.reduce("ReduceSum", power, {-1}, true));
}

/// sqrt(2) * erfinv(2x - 1), by Winitzki's approximation with a = 0.147, which ONNX Runtime uses with these digits.
static Value probit(Formula &f, Value x) {
  auto n = [&](double v) { return f.number(v, x); };
  Value y = f.sub(f.mul(x, n(2)), n(1));
  Value log = f.log(f.mul(f.sub(n(1), y), f.add(n(1), y)));
  Value v = f.add(f.mul(log, n(0.5)), n(2 / (3.14159 * 0.147)));
  Value root = f.sqrt(f.sub(f.sqrt(f.sub(f.mul(v, v), f.mul(log, n(1 / 0.147)))), v));
  Value sign = f.op("Where", {f.op("Less", {y, n(0)}), n(-1.41421356), n(1.41421356)});
  return f.mul(sign, root);
}

Value transformedScores(const Node &node, Value scores, StringRef how) {
  Formula f(node.builder, node.loc);
  if (how == "NONE") {
    return scores;
  }
  if (how == "LOGISTIC") {
    return f.op("Sigmoid", {scores});
  }
  if (how == "SOFTMAX") {
    return f.op("Softmax", {scores}, {f.integer("axis", -1)});
  }
  if (how == "SOFTMAX_ZERO") {
    return softmaxOfNonzero(f, scores);
  }
  if (how == "PROBIT") {
    return probit(f, scores);
  }
  (void)node.error("post_transform '" + how + "' is not known");
  return {};
}

Value twoColumns(Formula &f, Value first, Value second) {
  return f.op("Concat", {first, second}, {f.integer("axis", 1)});
}

Value rowsOf(const Node &node, Value x) {
  Formula f(node.builder, node.loc);
  auto type = ranked(x);
  if (!type || type.getRank() < 1 || type.getRank() > 2) {
    auto problem = emitError(node.loc) << "needs a matrix, or one row";
    if (type) {
      problem << ", not " << type;
    }
    return {};
  }
  if (!isa<FloatType>(type.getElementType())) {
    x = f.cast(x, f.b.getF32Type(), 1);
  }
  return type.getRank() == 2 ? x : f.op("Unsqueeze", {x, makeIntegers(f.b, f.loc, {0})});
}

/// Labels are integers or strings; where the node has neither, there are none.
Value labelsOf(const Node &node, Value classes, StringRef integers, StringRef strings) {
  SmallVector<int64_t> labels = integersIn(node, integers);
  SmallVector<StringRef> texts = textsIn(node, strings);
  Formula f(node.builder, node.loc);
  if (labels.empty()) {
    return texts.empty() ? Value() : spell(f, classes, texts);
  }
  return f.op("Gather", {makeIntegers(f.b, f.loc, labels), classes});
}

/// Up to this many keys are compared with all elements, which vectors do fast; more are found by a table.
static constexpr int64_t fewKeys = 16;

Value placeAmong(Formula &f, Value x, Value keys, bool orNaN) {
  int64_t count = ranked(keys).getNumElements();
  if (auto numbers = integersOf(withoutReshapes(keys)); numbers && count > fewKeys) {
    Value all = f.cast(x, f.b.getI64Type(), INGOT_INT64);
    return makeText(f, {all}, {"find_number", INGOT_INT64, keysOf(ArrayRef<int64_t>(*numbers))});
  }
  Value column = f.op("Unsqueeze", {x, makeIntegers(f.b, f.loc, {-1})});
  Value hit = f.op("Equal", {column, keys});
  if (orNaN) {
    hit = f.op("Or", {hit, f.op("And", {f.op("IsNaN", {column}), f.op("IsNaN", {keys})})});
  }
  // The first key that is hit has the largest of the weights count, count - 1, ...; 0 says that none is.
  SmallVector<int64_t> falling;
  for (int64_t i = 0; i < count; ++i) {
    falling.push_back(count - i);
  }
  Value place =
      f.reduce("ReduceMax", f.op("Where", {hit, makeIntegers(f.b, f.loc, falling), f.scalar(0)}), {-1}, false);
  return f.sub(f.scalar(count), place);
}

int64_t labelCount(const Node &node, StringRef integers, StringRef strings) {
  auto texts = dyn_cast_or_null<ArrayAttr>(node.attributes.get(strings));
  int64_t count = static_cast<int64_t>(integersIn(node, integers).size());
  return count || !texts ? count : static_cast<int64_t>(texts.size());
}

Value constantLike(Formula &f, ArrayRef<double> values, ArrayRef<int64_t> shape, Value like) {
  return makeConstant(f.b, f.loc, constantFromFloats(tensorOf(shape, elementOf(like)), values));
}

SmallVector<double> floatsIn(const Node &node, StringRef name) {
  if (auto list = dyn_cast_or_null<DenseF32ArrayAttr>(node.attributes.get(name))) {
    return SmallVector<double>(list.asArrayRef());
  }
  Attribute tensor = node.attributes.get((name + "_as_tensor").str());
  auto values = tensor ? floatsOf(dyn_cast<ElementsAttr>(tensor)) : std::nullopt;
  return values ? *values : SmallVector<double>();
}

SmallVector<int64_t> integersIn(const Node &node, StringRef name) {
  auto list = dyn_cast_or_null<DenseI64ArrayAttr>(node.attributes.get(name));
  return list ? SmallVector<int64_t>(list.asArrayRef()) : SmallVector<int64_t>();
}

} // namespace ingot::onnx
