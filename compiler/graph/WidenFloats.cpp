#include "compiler/graph/WidenFloats.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot::graph {

/// Whether an op has intermediate values, which narrow floats would round or overflow. Products, convolutions and ops
/// that move elements have a kernel that reads narrow floats itself, and a cast in front of it would be a copy.
static bool computesInBetween(Operation *op) {
  static const llvm::StringSet<> names = {
      "AffineGrid",
      "BatchNormalization",
      "Bernoulli",
      "DFT",
      "GroupNormalization",
      "ImageScaler",
      "InstanceNormalization",
      "LRN",
      "LayerNormalization",
      "LpNormalization",
      "LpPool",
      "MeanVarianceNormalization",
      "Multinomial",
      "NegativeLogLikelihoodLoss",
      "RMSNormalization",
      "ReduceL1",
      "ReduceL2",
      "ReduceLogSum",
      "ReduceLogSumExp",
      "ReduceMean",
      "ReduceSumSquare",
      "RotaryEmbedding",
      "STFT",
      "SoftmaxCrossEntropyLoss",
  };
  return names.contains(op->getName().stripDialect());
}

static Value cast(OpBuilder &b, Location loc, Value x, Type element) {
  auto to = b.getNamedAttr("to", b.getI64IntegerAttr(onnx::numberOfElement(element)));
  return onnx::createOp(b, loc, "onnx.Cast", x, to)->getResult(0);
}

LogicalResult widenFloats(Operation *op, PatternRewriter &rewriter) {
  auto isNarrow = [](Value v) { return onnx::present(v) && onnx::isNarrowFloat(onnx::elementOf(v)); };
  if (!computesInBetween(op) || llvm::none_of(op->getOperands(), isNarrow)) {
    return failure();
  }
  SmallVector<Value> operands;
  for (Value v : op->getOperands()) {
    operands.push_back(isNarrow(v) ? cast(rewriter, op->getLoc(), v, rewriter.getF32Type()) : v);
  }
  Operation *wide = rewriter.clone(*op);
  wide->setOperands(operands);
  if (failed(onnx::updateTypes(wide))) {
    return failure();
  }
  SmallVector<Value> results;
  for (auto [narrow, result] : llvm::zip_equal(op->getResults(), wide->getResults())) {
    Type element = onnx::elementOf(narrow);
    results.push_back(onnx::elementOf(result) == element ? result : cast(rewriter, op->getLoc(), result, element));
  }
  rewriter.replaceOp(op, results);
  return success();
}

} // namespace ingot::graph
