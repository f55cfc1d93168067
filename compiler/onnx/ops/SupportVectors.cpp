// Writes support vector machines as the standard's operators when the node is imported. Where the standard is open, it
// does what ONNX Runtime does.
//
// A classifier of support vectors (vectors_per_class) has one machine for each pair of classes. All of them are one
// product: kernel(x, vectors), of which a pair takes the vectors of its two classes, times a matrix [vectors, pairs]. A
// positive score is a vote for the first class of its pair, and the label is the class of the most votes. With prob_a
// and prob_b, Platt's sigmoid makes each score the probability of one class against another, and pairwise coupling (Wu,
// Lin, Weng: Probability estimates for multi-class classification by pairwise coupling, 2004, their second method, as
// libsvm has it) the probabilities of all. Without vectors the classifier is linear and has a row of coefficients for
// each class.
#include "compiler/onnx/ops/SupportVectors.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/ml/Scores.h"
#include "compiler/onnx/rewriting/Formula.h"
#include <numeric>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/SupportVectors.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Returns what each support vector makes of a row: [rows, vectors]. Null, with a message, for a kernel that is not
/// known.
static Value kernelOf(Node &node, Formula &f, Value x, Value vectors) {
  StringRef kind = node.text("kernel_type", "LINEAR");
  SmallVector<double> p = floatsIn(node, "kernel_params"); // these are gamma, coef0 and degree
  p.resize(3, 0);
  auto n = [&](double v) { return f.number(v, x); };
  Value products = f.op("MatMul", {x, vectors}, {f.flag("transB")});
  if (kind == "LINEAR") {
    return products;
  }
  Value scaled = f.add(f.mul(products, n(p[0])), n(p[1]));
  if (kind == "POLY") {
    return f.op("Pow", {scaled, n(p[2])});
  }
  if (kind == "SIGMOID") {
    return f.op("Tanh", {scaled});
  }
  if (kind == "RBF") { // the squares of both, less twice the product, are the square of the distance
    Value squares = f.reduce("ReduceSumSquare", x, {1}, true);
    Value own = f.op("Transpose", {f.reduce("ReduceSumSquare", vectors, {1}, true)});
    Value distance = f.sub(f.add(squares, own), f.mul(products, n(2)));
    // A row with an infinity is infinitely far from every vector; the difference of two infinities would be NaN.
    distance = f.op("Where", {f.op("IsInf", {squares}), squares, distance});
    return f.exp(f.mul(f.op("Max", {distance, n(0)}), n(-p[0])));
  }
  (void)node.error("kernel_type '" + kind + "' is not known");
  return {};
}

namespace {

/// The machines of all pairs of classes: pair 0 is that of the classes 0 and 1, the next one of 0 and 2, and so on.
class Classifier {
public:
  Classifier(Node &node, Formula &f, Value x) : node(node), f(f), x(x) {}

  /// Returns label numbers [rows] and scores [rows, classes or pairs] of x; null, with a message, where the attributes
  /// do not fit.
  std::pair<Value, Value> classify();

private:
  Node &node;
  Formula &f;
  Value x;
  int64_t classes = labelCount(node, "classlabels_ints", "classlabels_strings");
  SmallVector<double> coefficients = floatsIn(node, "coefficients"), rho = floatsIn(node, "rho"),
                      proba = floatsIn(node, "prob_a"), probb = floatsIn(node, "prob_b");
  SmallVector<int64_t> perClass = integersIn(node, "vectors_per_class");
  StringRef transform = node.text("post_transform", "NONE");
  SmallVector<std::pair<int64_t, int64_t>> pairs;

  std::pair<Value, Value> linear();
  LogicalResult check(int64_t vectors);
  Value pairScores(int64_t vectors);
  Value winners(Value scores);
  Value scoresOfTwo(Value score);
  Value probabilities(Value scores);
  Value coupled(Value against);
  Value coupleOnce(Value q, Value diagonal, Value p, Value qp, Value energy);
};

std::pair<Value, Value> Classifier::classify() {
  if (classes < 1) {
    (void)node.error("has no labels of classes");
    return {};
  }
  int64_t vectors = std::accumulate(perClass.begin(), perClass.end(), int64_t(0));
  if (vectors == 0) {
    return linear();
  }
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j) {
      pairs.emplace_back(i, j);
    }
  }
  Value scores = succeeded(check(vectors)) ? pairScores(vectors) : Value();
  if (!scores) {
    return {};
  }
  Value label = winners(scores);
  if (proba.empty() && classes == 2) {
    return {label, scoresOfTwo(scores)};
  }
  return {label, transformedScores(node, proba.empty() ? scores : probabilities(scores), transform)};
}

/// Classifies without vectors. The second one of two classes wins where any score is positive; with coefficients that
/// are all positive, where one score is at least a half.
std::pair<Value, Value> Classifier::linear() {
  int64_t columns = int64_t(coefficients.size()) / classes;
  if (rho.empty() || columns == 0) {
    (void)node.error(Twine(coefficients.size()) + " coefficients do not make " + Twine(classes) +
                     " scores, or rho is missing");
    return {};
  }
  coefficients.truncate(columns * classes);
  Value scores = f.op("MatMul", {x, constantLike(f, coefficients, {classes, columns}, x)}, {f.flag("transB")});
  scores = f.add(scores, f.number(rho[0], x));
  Value label = f.op("ArgMax", {scores}, {f.integer("axis", 1), f.integer("keepdims", 0)});
  if (classes == 2 && proba.empty()) {
    bool positive = llvm::all_of(coefficients, [](double c) { return c >= 0; });
    Value most = f.reduce("ReduceMax", scores, {1}, false);
    Value second = f.op(positive ? "GreaterOrEqual" : "Greater", {most, f.number(positive ? 0.5 : 0, x)});
    label = f.op("Where", {second, f.scalar(1), label});
  }
  if (classes == 1 && transform != "PROBIT") { // no other transformation takes one score
    return {label, scores};
  }
  return {label, transformedScores(node, scores, transform)};
}

LogicalResult Classifier::check(int64_t vectors) {
  if (int64_t(perClass.size()) != classes || classes < 2 || llvm::any_of(perClass, [](int64_t n) { return n < 0; })) {
    return node.error("vectors_per_class has " + Twine(perClass.size()) + " numbers for " + Twine(classes) +
                      " classes; it needs one each, none of them negative, and two classes");
  }
  size_t elements = floatsIn(node, "support_vectors").size(), machines = pairs.size();
  if (int64_t(coefficients.size()) < (classes - 1) * vectors || elements == 0 || elements % vectors != 0 ||
      rho.size() < machines) {
    return node.error(Twine(vectors) + " support vectors of " + Twine(classes) + " classes do not fit " +
                      Twine(coefficients.size()) + " coefficients, " + Twine(elements) + " of their elements and " +
                      Twine(rho.size()) + " of rho");
  }
  if (proba.size() != probb.size() || (!proba.empty() && proba.size() < machines)) {
    return node.error("prob_a has " + Twine(proba.size()) + " numbers and prob_b has " + Twine(probb.size()) +
                      "; both need " + Twine(machines));
  }
  return success();
}

/// Returns the scores of pairs. Row r of the coefficients holds, for a vector of class c, its weight against class r,
/// or r + 1 from c on.
Value Classifier::pairScores(int64_t vectors) {
  auto count = static_cast<int64_t>(pairs.size());
  SmallVector<double> weights(vectors * count, 0), elements = floatsIn(node, "support_vectors");
  SmallVector<int64_t> begin = {0};
  for (int64_t n : perClass) {
    begin.push_back(begin.back() + n);
  }
  for (auto [p, pair] : llvm::enumerate(pairs)) {
    for (auto [own, row] : {std::pair(pair.first, pair.second - 1), {pair.second, pair.first}}) {
      for (int64_t v = begin[own]; v < begin[own + 1]; ++v) {
        weights[v * count + int64_t(p)] = coefficients[row * vectors + v];
      }
    }
  }
  auto rows = constantLike(f, elements, {vectors, int64_t(elements.size()) / vectors}, x);
  Value kernel = kernelOf(node, f, x, rows);
  if (!kernel) {
    return {};
  }
  Value sums = f.op("MatMul", {kernel, constantLike(f, weights, {vectors, count}, x)});
  return f.add(sums, constantLike(f, ArrayRef(rho).take_front(count), {count}, x));
}

/// Returns the winners by votes: a positive score moves its pair's vote from the second class to the first.
Value Classifier::winners(Value scores) {
  auto count = static_cast<int64_t>(pairs.size());
  SmallVector<double> moves(count * classes, 0), votes(classes, 0);
  for (auto [p, pair] : llvm::enumerate(pairs)) {
    moves[int64_t(p) * classes + pair.first] = 1;
    moves[int64_t(p) * classes + pair.second] = -1;
    votes[pair.second] += 1;
  }
  Value isFirst = toFloat(f, f.op("Greater", {scores, f.number(0, x)}));
  Value all = f.op("MatMul", {isFirst, constantLike(f, moves, {count, classes}, x)});
  all = f.add(all, constantLike(f, votes, {classes}, x));
  return f.op("ArgMax", {all}, {f.integer("axis", 1), f.integer("keepdims", 0)});
}

/// Returns scores for two classes from one: the other's score is its opposite, and SOFTMAX and SOFTMAX_ZERO do not
/// apply to them. With PROBIT, ONNX Runtime leaves the second column unwritten; here it is zero.
Value Classifier::scoresOfTwo(Value score) {
  Value transformed = transformedScores(node, score, transform); // this gives a message where the name is not known
  if (!transformed || transform == "NONE") {
    return transformed ? twoColumns(f, f.op("Neg", {score}), score) : Value();
  }
  if (transform == "PROBIT") {
    return twoColumns(f, transformed, f.zeros({sizeOf(ranked(x), 0), 1}, f.b.getF32Type()));
  }
  Value second = transform == "LOGISTIC" ? transformed : score;
  return twoColumns(f, f.sub(f.number(1, x), second), second);
}

/// Computes for each pair the probability of its first class against its second, [rows, pairs], and from those the
/// probabilities of all classes [rows, classes].
Value Classifier::probabilities(Value scores) {
  auto count = static_cast<int64_t>(pairs.size());
  auto n = [&](double v) { return f.number(v, x); };
  auto list = [&](ArrayRef<double> values) { return constantLike(f, values.take_front(count), {count}, x); };
  Value logistic = f.op("Sigmoid", {f.add(f.mul(scores, list(proba)), list(probb))});
  Value first = f.op("Min", {f.op("Max", {f.sub(n(1), logistic), n(1e-7)}), n(1 - 1e-7)});
  // Element [i, j] of `against`, where i is not j, is the probability of i against j.
  SmallVector<int64_t> places(classes * classes, 2 * count);
  for (auto [p, pair] : llvm::enumerate(pairs)) {
    places[pair.first * classes + pair.second] = int64_t(p);
    places[pair.second * classes + pair.first] = count + int64_t(p);
  }
  Value columns = f.transpose(f.op("Concat", {first, f.sub(n(1), first)}, {f.integer("axis", 1)}), {1, 0});
  Value zero = f.reduce("ReduceSum", f.sub(columns, columns), {0}, true);
  Value all = f.op("Concat", {columns, zero}, {f.integer("axis", 0)});
  Value against = f.op("Gather", {all, makeIntegers(f.b, f.loc, places)}, {f.integer("axis", 0)});
  Size rows = sizeOf(ranked(x), 0);
  return f.transpose(coupled(f.reshapeTo(against, {classes, classes, rows})), {1, 0});
}

/// Returns the p that makes p'Qp least, by Gauss-Seidel steps that keep its sum 1; rows are the last axis of
/// everything. A row whose gradient is small enough stays as it is, and when all are, or after 100 rounds, the loop
/// ends.
Value Classifier::coupled(Value against) {
  Value other = f.transpose(against, {1, 0, 2});
  Value diagonal = f.reduce("ReduceSumSquare", other, {1}, /*keepdims=*/false);
  SmallVector<double> unit(classes * classes, 0);
  for (int64_t i = 0; i < classes; ++i) {
    unit[i * classes + i] = 1;
  }
  Value identity = constantLike(f, unit, {classes, classes, 1}, x);
  Value q = f.sub(f.mul(identity, diagonal), f.mul(against, other));
  // These are zeros where a score is no number, too; no row goes on then.
  Value zeros = toFloat(f, f.op("Less", {diagonal, diagonal})), goesOn;
  Value start = f.add(zeros, f.number(1.0 / static_cast<double>(classes), x));
  LoopOp loop = makeLoop(f.b, f.loc, f.scalar(100), start, {}, [&](Value, ValueRange state) {
    Value p = state[0], qp = f.reduce("ReduceSum", f.mul(q, p), {1}, /*keepdims=*/false);
    Value energy = f.reduce("ReduceSum", f.mul(p, qp), {0}, /*keepdims=*/true);
    Value error = f.reduce("ReduceMax", f.abs(f.sub(qp, energy)), {0}, /*keepdims=*/true);
    Value isActive = f.op("GreaterOrEqual", {error, f.number(0.005 / static_cast<double>(classes), x)});
    Value most = f.reduce("ReduceMax", toFloat(f, isActive), {0, 1}, /*keepdims=*/false);
    goesOn = f.op("Greater", {most, f.number(0, x)});
    return SmallVector<Value>{f.op("Where", {isActive, coupleOnce(q, diagonal, p, qp, energy), p})};
  });
  loop.continues().set(goesOn);
  return loop.getResult(0);
}

/// Takes a step for each class in turn.
Value Classifier::coupleOnce(Value q, Value diagonal, Value p, Value qp, Value energy) {
  Value numbers = f.reshape(makeIntegers(f.b, f.loc, llvm::to_vector(llvm::seq<int64_t>(0, classes))), {classes, 1});
  SmallVector<Value> first = {p, qp, energy};
  LoopOp loop = makeLoop(f.b, f.loc, f.scalar(classes), first, {}, [&](Value t, ValueRange state) {
    Value one = f.number(1, x), at = f.reshape(t, {1});
    auto row = [&](Value all) { return f.op("Gather", {all, at}, {f.integer("axis", 0)}); };
    Value column = f.op("Squeeze", {row(q), makeIntegers(f.b, f.loc, {0})});
    Value gradient = row(state[1]), curvature = row(diagonal);
    Value step = f.div(f.sub(state[2], gradient), curvature), sum = f.add(one, step);
    Value moved = f.add(state[0], f.mul(toFloat(f, f.op("Equal", {numbers, t})), step));
    Value gain = f.mul(step, f.add(f.mul(step, curvature), f.add(gradient, gradient)));
    return SmallVector<Value>{f.div(moved, sum), f.div(f.add(state[1], f.mul(step, column)), sum),
                              f.div(f.div(f.add(state[2], gain), sum), sum)};
  });
  return loop.getResult(0);
}

} // namespace

LogicalResult SVMClassifierOp::upgrade(Node &node) {
  Value x = rowsOf(node);
  if (!x) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  auto [label, scores] = Classifier(node, f, toFloat(f, x)).classify();
  if (!scores) {
    return failure();
  }
  node.results = {labelsOf(node, label, "classlabels_ints", "classlabels_strings"), scores};
  return success();
}

LogicalResult SVMRegressorOp::upgrade(Node &node) {
  Value x = rowsOf(node);
  if (!x) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  int64_t supports = node.integer("n_supports", 0);
  SmallVector<double> coefficients = floatsIn(node, "coefficients"), vectors = floatsIn(node, "support_vectors"),
                      rho = floatsIn(node, "rho");
  bool fits =
      supports > 0 ? int64_t(coefficients.size()) == supports && vectors.size() % supports == 0 : !coefficients.empty();
  if (!fits || supports < 0 || rho.empty()) {
    return node.error(Twine(supports) + " support vectors do not fit " + Twine(coefficients.size()) +
                      " coefficients and " + Twine(vectors.size()) + " of their elements, or rho is missing");
  }
  Value weights = constantLike(f, coefficients, {int64_t(coefficients.size()), 1}, x), y;
  if (supports > 0) {
    Value rows = constantLike(f, vectors, {supports, int64_t(vectors.size()) / supports}, x);
    Value kernel = kernelOf(node, f, x, rows);
    y = kernel ? f.op("MatMul", {kernel, weights}) : Value();
  } else {
    y = f.op("MatMul", {x, weights});
  }
  if (!y) {
    return failure();
  }
  y = toFloat(f, f.add(y, f.number(rho[0], y)));
  if (node.integer("one_class", 0)) {
    y = f.op("Where", {f.op("Greater", {y, f.number(0, y)}), f.number(1, y), f.number(-1, y)});
  } else {
    y = transformedScores(node, y, node.text("post_transform", "NONE"));
  }
  node.results.push_back(y);
  return success(static_cast<bool>(y));
}

void registerSupportVectors(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/SupportVectors.cpp.inc"
      >();
}

} // namespace ingot::onnx
