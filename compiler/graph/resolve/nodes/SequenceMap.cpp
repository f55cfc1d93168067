// Resolves SequenceMap, which becomes its body once for each iteration, or a loop over packed sequences.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/expanded/Construct.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the values of the inputs in the n-th iteration of a SequenceMap: the n-th tensor of a sequence, or a tensor.
static std::optional<Values> inputsOfIteration(Resolver &r, const Node &node, int64_t iteration) {
  Values all;
  for (Value input : node.inputs) {
    ResolvedValue resolved = input ? r.resolvedValue(input) : ResolvedValue();
    if (resolved.sequence && iteration >= int64_t(resolved.sequence->items.size())) {
      r.fail(node, "has sequences of lengths that differ");
      return std::nullopt;
    }
    if (!input) {
      r.fail(node, "leaves out an input");
      return std::nullopt;
    }
    all.push_back(resolved.sequence ? resolved.sequence->items[iteration] : resolved.tensor);
    if (!all.back()) {
      return std::nullopt;
    }
  }
  return all;
}

static void packedMap(Resolver &r, const Node &node, const Subgraph &body) {
  SequenceFormula f(r.builder, node.loc);
  ResolvedValues inputs, made;
  Value count;
  for (Value input : node.inputs) {
    inputs.push_back(input ? r.resolvedValue(input) : ResolvedValue());
    std::optional<Sequence> &s = inputs.back().sequence;
    if (!s && !inputs.back().tensor) {
      return;
    }
    if (s) {
      s = f.packed(f.required(*s));
      Value own = f.count(*s);
      count = count ? f.failIf(f.differ(own, count), count) : own;
    }
    if (s && s->mixesRanks) {
      r.fail(node, "takes a sequence of which only a run can tell how many axes its tensors have");
      return;
    }
  }
  for (auto [type, name] : llvm::zip_equal(body.outputTypes, body.outputNames)) {
    Sequence s;
    s.element = type ? getElementTypeOrSelf(type) : Type();
    if (!s.element) {
      r.fail(node, "has a body that does not say of which type output " + quoted(name) + " is");
      return;
    }
    made.push_back({{}, s});
  }
  auto iteration = [&](Block &block, ResolvedValues state) -> std::optional<Iteration> {
    SequenceFormula inside(r.builder, node.loc);
    Values items;
    for (const ResolvedValue &input : inputs) {
      items.push_back(input.sequence ? inside.at(*input.sequence, block.getArgument(0)) : input.tensor);
    }
    std::optional<Values> outputs = r.subgraph(body, items);
    if (!outputs) {
      return std::nullopt;
    }
    for (auto [resolved, output] : llvm::zip_equal(state, *outputs)) {
      if (!onnx::ranked(output) || onnx::elementOf(output) != resolved.sequence->element) {
        r.fail(node, "has a body that gives a tensor of another type than it says, or of an unknown "
                     "number of axes");
        return std::nullopt;
      }
      resolved.sequence = inside.inserted(*resolved.sequence, output, {});
    }
    return Iteration{block.getArgument(1), state, {}};
  };
  std::optional<ResolvedValues> results = r.carryPacked(node, count, {}, made, 0, 0, iteration);
  for (size_t i = 0; results && i < node.outputs.size(); ++i) {
    r.bind(node.outputs[i], (*results)[i]);
  }
}

static void mapSequence(Resolver &r, const Node &node) {
  if (!r.names(node, 0)) {
    return;
  }
  const Subgraph *body = r.subgraphOf(node, "body", node.inputs.size());
  bool hasSequence = r.isSequence(node.inputs.front());
  if (!body || !hasSequence || node.outputs.size() > body->outputs.size()) {
    if (body && (hasSequence || r.value(node.inputs.front()))) {
      r.fail(node, "needs a sequence, and as many outputs as its body has");
    }
    return;
  }
  bool isPacked = llvm::any_of(node.inputs, [&](Value input) {
    std::optional<Sequence> s = input ? r.resolvedValue(input).sequence : std::nullopt;
    return s && (s->isPacked() || s->present);
  });
  if (isPacked) {
    return packedMap(r, node, *body);
  }
  SmallVector<Sequence> made(node.outputs.size());
  // The declared type says the element type of a sequence without tensors.
  for (auto [s, type] : llvm::zip(made, body->outputTypes)) {
    s.element = type ? getElementTypeOrSelf(type) : Type();
  }
  for (int64_t iteration = 0, count = r.resolvedValue(node.inputs.front()).sequence->items.size(); iteration < count;
       ++iteration) {
    std::optional<Values> inputs = r.mayUnroll(node) ? inputsOfIteration(r, node, iteration) : std::nullopt;
    std::optional<Values> outputs = inputs ? r.subgraph(*body, *inputs) : std::nullopt;
    if (!outputs) {
      return;
    }
    for (auto [s, output] : llvm::zip(made, *outputs)) {
      s.items.push_back(output);
      s.element = onnx::elementOf(output);
    }
  }
  for (auto [output, s] : llvm::zip_equal(node.outputs, made)) {
    r.bind(output, {{}, s});
  }
}

void addSequenceMap(Rules &rules) { rules.add<onnx::SequenceMapOp>(mapSequence); }

} // namespace ingot::graph
