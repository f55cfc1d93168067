// Writes FlexAttention out as products and a softmax around its subgraphs, from which fusion makes one kernel again
// where it can. Heads of keys and values may be fewer than those of queries, which then share them in groups.
//
//   scores  = score_mod(q k' * scale)       in the type that softmax_precision names
//   weights = prob_mod(softmax(scores))
//   y       = weights v
#include "compiler/onnx/expanded/FlexAttention.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Formula.h"
#include <cmath>
#define GET_OP_CLASSES
#include "compiler/onnx/expanded/FlexAttention.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

static constexpr int64_t kBatch = 0, kHeads = 1, kRows = 2, kWidth = 3; // the axes of operands

/// Returns the type in which scores are and the softmax is computed; null: there is none of that number.
static Type softmaxType(FlexAttentionOp op) {
  int64_t number = op.getSoftmaxPrecision().value_or(elementOf(op.getQ()).isF64() ? 11 : 1);
  return dyn_cast_or_null<FloatType>(elementOfNumber(number, op.getContext()));
}

LogicalResult FlexAttentionOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto q = ranked(getQ()), k = ranked(getK()), v = ranked(getV());
  auto isKnown = [](RankedTensorType type) { return type && type.getRank() == 4 && !type.isDynamicDim(kHeads); };
  if (!isKnown(q) || !isKnown(k) || !isKnown(v) || q.isDynamicDim(kWidth)) {
    return emitOpError("needs tensors of four axes whose heads are known when the model is compiled");
  }
  int64_t heads = q.getDimSize(kHeads), shared = k.getDimSize(kHeads);
  if (shared < 1 || heads % shared || v.getDimSize(kHeads) != shared) {
    return emitOpError() << heads << " query heads and " << shared << " of keys do not fit";
  }
  if (!softmaxType(*this)) {
    return emitOpError("attribute 'softmax_precision' is ") << *getSoftmaxPrecision();
  }
  types.push_back(sizedType({sizeOf(q, kBatch), heads, sizeOf(q, kRows), sizeOf(v, kWidth)}, elementOf(getQ())));
  return success();
}

ArrayRef<StringLiteral> FlexAttentionOp::subgraphNames() {
  static constexpr StringLiteral names[] = {"score_mod", "prob_mod"};
  return names;
}

LogicalResult FlexAttentionOp::argumentTypes(unsigned, SmallVectorImpl<Type> &types) {
  auto q = ranked(getQ()), k = ranked(getK());
  Sizes scores = {sizeOf(q, kBatch), sizeOf(q, kHeads), sizeOf(q, kRows), sizeOf(k, kRows)};
  types.assign(1, sizedType(scores, softmaxType(*this)));
  return success();
}

/// Applies a subgraph to `v`. Returns null when that has failed.
static Value modified(OpBuilder &b, Region &subgraph, Value v) {
  if (!v || subgraph.empty()) {
    return v;
  }
  FailureOr<SmallVector<Value>> results = copySubgraph(b, subgraph, v);
  return failed(results) ? Value() : results->front();
}

LogicalResult FlexAttentionOp::verify() {
  for (auto [region, name] : llvm::zip_equal((*this)->getRegions(), subgraphNames())) {
    size_t given = region.empty() || region.front().empty() ? 1 : region.front().getTerminator()->getNumOperands();
    if (given != 1) {
      return emitOpError("attribute '") << name << "' gives " << given << " tensors";
    }
  }
  return success();
}

LogicalResult FlexAttentionOp::expand(OpBuilder &b, SmallVectorImpl<Value> &results) {
  Formula f(b, getLoc());
  Value q = getQ(), k = getK(), v = getV();
  int64_t heads = ranked(q).getDimSize(kHeads), shared = ranked(k).getDimSize(kHeads);
  if (heads != shared) { // each head of keys stands before the queries of its group
    auto each = llvm::map_to_vector(llvm::seq(heads), [&](int64_t head) { return head / (heads / shared); });
    Value order = makeIntegers(b, f.loc, each);
    k = f.op("Gather", {k, order}, {f.integer("axis", kHeads)});
    v = f.op("Gather", {v, order}, {f.integer("axis", kHeads)});
  }
  double scale =
      getScale() ? getScale()->convertToDouble() : 1 / std::sqrt(static_cast<double>(ranked(q).getDimSize(kWidth)));
  Type wide = softmaxType(*this), element = elementOf(q);
  Value scores = f.mul(f.op("MatMul", {q, k}, {f.flag("transB")}), f.number(scale, q));
  scores = modified(b, getScoreMod(), f.cast(scores, wide, numberOfElement(wide)));
  Value weights = scores ? f.op("Softmax", {scores}, {f.integer("axis", -1)}) : Value();
  weights = modified(b, getProbMod(), weights);
  if (!weights) {
    return failure();
  }
  results.push_back(f.op("MatMul", {f.cast(weights, element, numberOfElement(element)), v}));
  return success();
}

void registerFlexAttention(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/expanded/FlexAttention.cpp.inc"
      >();
}

} // namespace ingot::onnx
