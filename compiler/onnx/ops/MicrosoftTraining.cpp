// Operators of graphs that ONNX Runtime prepared for training, as a forward pass has them: Dropout with a bias and with
// masks of bits, Softmax with a bias, a test for numbers that are not finite, and an embedding.
#include "compiler/onnx/ops/MicrosoftTraining.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/TrainingMode.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "runtime_support/include/ingot.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/MicrosoftTraining.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Returns words whose bits are the elements of a mask, the lowest bit first.
static Value bitsOf(Formula &f, Value mask) {
  static constexpr int64_t bits = 32;
  SmallVector<int64_t> powers;
  for (int64_t bit = 0; bit < bits; ++bit) {
    powers.push_back(int64_t(1) << bit);
  }
  Value flat = integers(f, f.reshape(mask, {-1})), count = sizeAlong(f, flat, 0),
        word = makeIntegers(f.b, f.loc, {bits});
  Value words = f.div(f.add(count, makeIntegers(f.b, f.loc, {bits - 1})), word);
  Value more = f.sub(f.mul(words, word), count);
  flat = f.op("Pad", {flat, concat(f, {makeIntegers(f.b, f.loc, {0}), more}, 0), Value(), Value()});
  Value weighed = f.mul(reshapeBy(f, flat, {words, word}), makeIntegers(f.b, f.loc, powers));
  Type u32 = f.b.getIntegerType(32, /*isSigned=*/false);
  return f.cast(f.reduce("ReduceSum", weighed, {1}, /*keepdims=*/false), u32, INGOT_UINT32);
}

/// Writes Dropout of the sum of data and bias, to which a residual is added. `first` is the operand with the ratio.
static LogicalResult dropout(Node &node, Value x, Value residual, unsigned first, bool packed) {
  Formula f(node.builder, node.loc);
  warnIfItDrops(node, node.operand(first), node.operand(first + 1));
  Operation *y = createOp(f.b, f.loc, "onnx.Dropout", {x, node.operand(first), node.operand(first + 1)},
                          attributesOf(node, {"seed"}), 2);
  Value mask = y->getResult(1);
  node.results = {sum(f, {y->getResult(0), residual}), packed ? bitsOf(f, mask) : mask};
  return success();
}
static LogicalResult biasDropout(Node &node, bool packed) {
  Formula f(node.builder, node.loc);
  return failed(node.needs(2)) ? failure()
                               : dropout(node, f.add(node.operand(0), node.operand(1)), node.operand(2), 3, packed);
}
LogicalResult BiasDropoutOp::upgrade(Node &node) { return biasDropout(node, false); }
LogicalResult BitmaskBiasDropoutOp::upgrade(Node &node) { return biasDropout(node, true); }
LogicalResult BitmaskDropoutOp::upgrade(Node &node) {
  return failed(node.needs(1)) ? failure() : dropout(node, node.operand(0), Value(), 1, true);
}

/// Writes Softmax over all axes from `axis` on. The bias's own sizes say how it broadcasts.
LogicalResult BiasSoftmaxOp::upgrade(Node &node) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  Value x = f.add(node.operand(0), node.operand(1));
  Value flat = f.op("Flatten", {x}, {f.integer("axis", node.integer("axis", 1))});
  Value y = f.op("Softmax", {flat}, {f.integer("axis", 1)});
  return give(node, f.op("Reshape", {y, f.op("Shape", {x})}, {f.integer("allowzero", 1)}));
}

LogicalResult IsAllFiniteOp::upgrade(Node &node) {
  bool infinities = node.integer("isnan_only", 0) == 0, nans = node.integer("isinf_only", 0) == 0;
  if (node.operands.empty() || (!infinities && !nans)) {
    return node.error("needs an input, and at most one of 'isinf_only' and 'isnan_only'");
  }
  Formula f(node.builder, node.loc);
  Value bad;
  for (Value x : node.operands) {
    if (!x) {
      return node.error("has an input that is left out");
    }
    Value isInf = infinities ? f.op("IsInf", {x}) : Value(), isNan = nans ? f.op("IsNaN", {x}) : Value();
    Value any = isInf && isNan ? f.op("Or", {isInf, isNan}) : isInf ? isInf : isNan;
    // Without elements the result is 0.
    Value all = concat(f, {integers(f, f.reshape(any, {-1})), makeIntegers(f.b, f.loc, {0})}, 0);
    Value most = f.reduce("ReduceMax", all, {0}, /*keepdims=*/false);
    bad = bad ? f.op("Max", {bad, most}) : most;
  }
  return give(node, f.op("Equal", {bad, f.scalar(0)}));
}

/// Drops padding and scale, which are for gradients.
LogicalResult TorchEmbeddingOp::upgrade(Node &node) {
  Formula f(node.builder, node.loc);
  return failed(node.needs(2)) ? failure()
                               : give(node, f.op("Gather", {node.operand(0), node.operand(1)}, {f.integer("axis", 0)}));
}

void registerMicrosoftTraining(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/MicrosoftTraining.cpp.inc"
      >();
}

} // namespace ingot::onnx
