// FlexAttention: attention whose scores, and whose weights behind the softmax, go through subgraphs of the model. It is
// written out as products and a softmax around these, from which fusion makes one kernel again where it can.
#include "compiler/importer/Importer.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/rewriting/Formula.h"
#include <cmath>

using namespace mlir;

namespace ingot::importer {

/// `v` behind the subgraph of that name, or as it is. None: a problem has been added.
Value Importer::modified(const Node &node, llvm::StringRef name, Value v) {
  if (llvm::none_of(node.subgraphs, [&](const Subgraph &graph) { return graph.attribute == name; })) {
    return v;
  }
  const Subgraph *graph = subgraphOf(node, name, 1);
  if (!graph) {
    return {};
  }
  std::optional<Values> results = subgraph(*graph, {v});
  if (!results || results->size() != 1 || !results->front()) {
    if (results && results->size() != 1) {
      problems->add(node.where(), "attribute " + quoted(name) + " gives " + llvm::Twine(results->size()) + " tensors");
    }
    return {};
  }
  return results->front();
}

Importer::Values Importer::makeFlexAttention(const Node &node) {
  std::optional<Values> inputs = inputsOf(node);
  if (!inputs) {
    return {};
  }
  if (inputs->size() != 3 || !llvm::all_of(*inputs, [](Value v) { return bool(v); }) || !areTensors(node, *inputs)) {
    problems->add(node.where(), "needs Q, K and V");
    return {};
  }
  Value q = (*inputs)[0], k = (*inputs)[1], v = (*inputs)[2];
  auto tq = onnx::ranked(q), tk = onnx::ranked(k), tv = onnx::ranked(v);
  auto known = [](RankedTensorType type) { return type && type.getRank() == 4 && !type.isDynamicDim(1); };
  if (!known(tq) || !known(tk) || !known(tv) || tq.isDynamicDim(3)) {
    problems->add(node.where(), "needs tensors of four axes whose heads are known when the model is compiled");
    return {};
  }
  int64_t heads = tq.getDimSize(1), shared = tk.getDimSize(1);
  if (shared < 1 || heads % shared || tv.getDimSize(1) != shared) {
    problems->add(node.where(), llvm::Twine(heads) + " query heads and " + llvm::Twine(shared) + " of keys do not fit");
    return {};
  }
  double scale = 1 / std::sqrt(static_cast<double>(tq.getDimSize(3)));
  int64_t precision = onnx::elementOf(q).isF64() ? 11 : 1;
  for (const NodeAttribute &attribute : node.attributes) {
    if (attribute.name == "scale") {
      scale = attribute.value->f();
    } else if (attribute.name == "softmax_precision") {
      precision = attribute.value->i();
    } else {
      problems->add(node.where(), "has the unknown attribute " + quoted(attribute.name));
      return {};
    }
  }
  Type wide = onnx::elementOfNumber(precision, context), element = onnx::elementOf(q);
  if (!wide || !isa<FloatType>(wide)) {
    problems->add(node.where(), "attribute 'softmax_precision' is " + llvm::Twine(precision));
    return {};
  }
  onnx::Formula f(builder, locationOf(node));
  if (heads != shared) { // each head of keys stands before the queries of its group
    SmallVector<int64_t> each;
    for (int64_t head = 0; head < heads; ++head) {
      each.push_back(head / (heads / shared));
    }
    Value order = onnx::makeIntegers(builder, f.loc, each);
    k = f.op("Gather", {k, order}, {f.integer("axis", 1)});
    v = f.op("Gather", {v, order}, {f.integer("axis", 1)});
  }
  Value scores = f.mul(f.op("MatMul", {q, k}, {f.flag("transB")}), f.number(scale, q));
  scores = modified(node, "score_mod", f.cast(scores, wide, precision));
  Value weights = scores ? f.op("Softmax", {scores}, {f.integer("axis", -1)}) : Value();
  weights = weights ? modified(node, "prob_mod", weights) : Value();
  if (!weights) {
    return {};
  }
  return {f.op("MatMul", {f.cast(weights, element, onnx::numberOfElement(element)), v})};
}

} // namespace ingot::importer
