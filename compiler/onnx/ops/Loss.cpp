// Writes losses: GatherElements picks the score of the right class, and Gather its class's weight; elements that are
// ignored pick class 0 with weight 0. A mean divides by the weights.
#include "compiler/onnx/ops/Loss.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Loss.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Infers the type of the loss: that of the target, or of one number.
template <typename Op> static LogicalResult inferLoss(Op op, SmallVectorImpl<Type> &types) {
  if (failed(oneOf(op, "reduction", op.getReduction(), {"none", "sum", "mean"}))) {
    return failure();
  }
  Type element = elementOf(op.getInput());
  auto input = ranked(op.getInput()), target = ranked(op.getTarget());
  if (input && target) {
    Sizes classes = sizesOf(input), wanted = classes, given = sizesOf(target);
    bool good = input.getRank() >= 2 && target.getRank() == input.getRank() - 1;
    if (good) {
      wanted.erase(wanted.begin() + 1);
      good = llvm::all_of(llvm::zip_equal(wanted, given),
                          [&](auto pair) { return succeeded(require(op, std::get<0>(pair), std::get<1>(pair))); });
    }
    if (!good) {
      return op.emitOpError("needs scores [batch, classes, places...] and a class [batch, places...], not ")
             << input << " and " << target;
    }
    auto weight = present(op.getWeight()) ? ranked(op.getWeight()) : RankedTensorType();
    if (weight && (weight.getRank() != 1 || failed(require(op, classes[1], sizeOf(weight, 0))))) {
      return op.emitOpError("needs a weight for each class of ") << input << ", not " << weight;
    }
  }
  bool isWhole = op.getReduction() != "none";
  types.push_back(isWhole ? Type(tensorOf({}, element)) : cast<TensorType>(op.getTarget().getType()).clone(element));
  if (auto type = ranked(op.getTarget()); type && !isWhole) {
    types.back() = sizedType(sizesOf(type), element);
  }
  return success();
}

LogicalResult NegativeLogLikelihoodLossOp::inferTypes(SmallVectorImpl<Type> &types) { return inferLoss(*this, types); }

/// loss[n, places] = -x[n, class, places] * weight[class]
LogicalResult NegativeLogLikelihoodLossOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getInput()) || !isSized(getTarget())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value x = getInput(), classes = f.cast(getTarget(), rewriter.getI64Type(), 7), ignored, weight;
  if (getIgnoreIndex()) {
    ignored = f.op("Equal", {classes, makeInteger(rewriter, getLoc(), static_cast<int64_t>(*getIgnoreIndex()))});
    classes = f.op("Where", {ignored, makeInteger(rewriter, getLoc(), 0), classes});
  }
  Sizes places = sizesOf(ranked(getTarget())), column = places;
  column.insert(column.begin() + 1, 1);
  Value loss = f.op("GatherElements", {x, f.reshapeTo(classes, column)}, {f.integer("axis", 1)});
  loss = f.op("Neg", {f.reshapeTo(loss, places)});
  if (present(getWeight())) {
    weight = f.op("Gather", {getWeight(), classes}, {f.integer("axis", 0)});
    loss = f.mul(loss, weight);
  }
  if (ignored) {
    weight = f.op("Where", {ignored, f.number(0, x), weight ? weight : f.number(1, x)});
    loss = f.op("Where", {ignored, f.number(0, x), loss}); // an ignored element may be anything, even NaN
  }
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, places.size()));
  if (getReduction() == "mean" && !weight) {
    loss = f.reduce("ReduceMean", loss, axes, false);
  } else if (getReduction() != "none") {
    loss = f.reduce("ReduceSum", loss, axes, false);
    loss = getReduction() == "sum" ? loss : f.div(loss, f.reduce("ReduceSum", weight, axes, false));
  }
  rewriter.replaceOp(*this, loss);
  return success();
}

LogicalResult SoftmaxCrossEntropyLossOp::inferTypes(SmallVectorImpl<Type> &types) {
  types.clear();
  LogicalResult inferred = inferLoss(*this, types);
  types.push_back(getInput().getType());
  return inferred;
}

/// The logarithms are the second result, and what the other loss takes as its scores.
LogicalResult SoftmaxCrossEntropyLossOp::decompose(PatternRewriter &rewriter) {
  if (!ranked(getInput())) {
    return failure();
  }
  Formula f(rewriter, getLoc());
  Value logarithms = f.op("LogSoftmax", {getInput()}, {f.integer("axis", 1)});
  Value loss = f.op("NegativeLogLikelihoodLoss", {logarithms, getTarget(), getWeight()}, (*this)->getAttrs());
  rewriter.replaceOp(*this, {loss, logarithms});
  return success();
}

void registerLoss(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Loss.cpp.inc"
      >();
}

} // namespace ingot::onnx
