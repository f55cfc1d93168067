// Writes steps of optimizers. A node has a rate R, a count of steps T, and several tensors, each with its gradient and
// its state: first come all tensors, then all gradients, then all states. All of it is elementwise, by the formulas of
// the standard.
//
// With the gradient G = g + norm_coefficient * x:
//
//   Adagrad     H' = H + G^2
//               x' = x - R / (1 + T decay_factor) * G / (sqrt(H') + epsilon)
//   Adam        V' = alpha V + (1 - alpha) G and H' = beta H + (1 - beta) G^2
//               x' = x - r V' / (sqrt(H') + epsilon), where r = R sqrt(1 - beta^T) / (1 - alpha^T), or R where T is 0
//   Momentum    V' = alpha V + beta G, where beta is 1 if T is 0
//               x' = x - R V', or with nesterov x - R (G + alpha V')
#include "compiler/onnx/ops/Training.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Training.cpp.inc"

using namespace mlir;

namespace ingot::onnx {
namespace {

/// One step of a node whose tensors have `states` states each.
class Step {
public:
  Step(Node &node, unsigned states) : node(node), states(states), f(node.builder, node.loc) {}

  LogicalResult check() {
    size_t own = node.operands.size() < 2 ? 1 : node.operands.size() - 2;
    if (own == 0 || own % (2 + states) || !llvm::all_of(node.operands, [](Value v) { return static_cast<bool>(v); })) {
      return node.error("needs R, T, and " + Twine(2 + states) + " inputs for each tensor, has " +
                        Twine(node.operands.size()) + " inputs");
    }
    if (!llvm::all_of(ArrayRef<Value>(node.operands).drop_front(2),
                      [](Value v) { return isa<FloatType>(elementOf(v)); })) {
      return node.error("needs tensors, gradients and states of floats");
    }
    count = own / (2 + states);
    node.results.resize(count * (1 + states));
    return success();
  }

  Node &node;
  unsigned states;
  Formula f;
  size_t count = 0;

  /// Returns tensor `i` (0), its gradient (1) or its state (2 and on).
  Value of(size_t i, unsigned which) { return node.operands[2 + which * count + i]; }
  void result(size_t i, unsigned which, Value v) { node.results[which * count + i] = v; }
  Value n(double v) { return f.number(v, of(0, 0)); }
  Value rate() { return asTensor(node.operands[0]); }
  Value steps() { return asTensor(node.operands[1]); }
  Value asTensor(Value v) { return f.cast(v, elementOf(of(0, 0)), numberOfElement(elementOf(of(0, 0)))); }
  /// Returns the gradient with a part of the tensor that keeps it small.
  Value gradient(size_t i) { return f.add(f.mul(of(i, 0), n(node.number("norm_coefficient", 0))), of(i, 1)); }
  /// Returns a * now + b * next.
  Value mix(double a, Value now, double b, Value next) { return f.add(f.mul(now, n(a)), f.mul(next, n(b))); }
};

} // namespace

LogicalResult AdagradOp::upgrade(Node &node) {
  Step s(node, 1);
  if (failed(s.check())) {
    return failure();
  }
  Formula &f = s.f;
  Value rate = f.div(s.rate(), f.add(f.mul(s.steps(), s.n(node.number("decay_factor", 0))), s.n(1)));
  for (size_t i = 0; i < s.count; ++i) {
    Value g = s.gradient(i), squares = f.add(s.of(i, 2), f.mul(g, g));
    Value scale = f.add(f.sqrt(squares), s.n(node.number("epsilon", 1e-6)));
    s.result(i, 0, f.sub(s.of(i, 0), f.div(f.mul(rate, g), scale)));
    s.result(i, 1, squares);
  }
  return success();
}

LogicalResult AdamOp::upgrade(Node &node) {
  Step s(node, 2);
  if (failed(s.check())) {
    return failure();
  }
  Formula &f = s.f;
  double alpha = node.number("alpha", 0.9), beta = node.number("beta", 0.999);
  auto rest = [&](double base) { return f.sub(s.n(1), f.op("Pow", {s.n(base), s.steps()})); };
  Value corrected = f.div(f.mul(s.rate(), f.sqrt(rest(beta))), rest(alpha));
  Value begun = f.op("Greater", {s.steps(), s.n(0)}), rate = f.op("Where", {begun, corrected, s.rate()});
  for (size_t i = 0; i < s.count; ++i) {
    Value g = s.gradient(i), mean = s.mix(alpha, s.of(i, 2), 1 - alpha, g);
    Value squares = s.mix(beta, s.of(i, 3), 1 - beta, f.mul(g, g));
    Value scale = f.add(f.sqrt(squares), s.n(node.number("epsilon", 1e-6)));
    Value x = f.sub(s.of(i, 0), f.div(f.mul(rate, mean), scale));
    s.result(i, 0, f.mul(x, s.n(1 - node.number("norm_coefficient_post", 0))));
    s.result(i, 1, mean), s.result(i, 2, squares);
  }
  return success();
}

LogicalResult MomentumOp::upgrade(Node &node) {
  Step s(node, 1);
  StringRef mode = node.text("mode", "");
  if (mode != "standard" && mode != "nesterov") {
    return node.error("mode '" + mode + "' is not known, expected standard or nesterov");
  }
  if (failed(s.check())) {
    return failure();
  }
  Formula &f = s.f;
  Value begun = f.op("Greater", {s.steps(), s.n(0)});
  Value share = f.op("Where", {begun, s.n(node.number("beta", 0)), s.n(1)}), alpha = s.n(node.number("alpha", 0));
  for (size_t i = 0; i < s.count; ++i) {
    Value g = s.gradient(i), speed = f.add(f.mul(s.of(i, 2), alpha), f.mul(g, share));
    Value step = mode == "nesterov" ? f.add(g, f.mul(speed, alpha)) : speed;
    s.result(i, 0, f.sub(s.of(i, 0), f.mul(s.rate(), step)));
    s.result(i, 1, speed);
  }
  return success();
}

void registerTraining(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Training.cpp.inc"
      >();
}

} // namespace ingot::onnx
