// Resolves Loop. Where one carries sequences and it is known how many iterations it has, it becomes its body as many
// times, and sequences are their tensors; else it becomes a loop that carries packed sequences.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Control.h"

using namespace mlir;

namespace ingot::graph {

/// Resolves a Loop that carries tensors.
static void makeLoop(Resolver &r, const Node &node) {
  auto inputs = r.inputsOf(node);
  if (!inputs || !r.areTensors(node, *inputs)) {
    return;
  }
  inputs->resize(std::max<size_t>(inputs->size(), 2));
  const Subgraph *graph = r.subgraphOf(node, "body", inputs->size());
  if (!graph) {
    return;
  }
  llvm::ArrayRef<Value> initial = llvm::ArrayRef<Value>(*inputs).drop_front(2);
  if (!llvm::all_of(initial, [](Value v) { return bool(v); })) {
    return r.fail(node, "leaves out an initial value");
  }
  if (graph->outputs.size() < 1 + initial.size()) {
    return r.fail(node, "carries " + llvm::Twine(initial.size()) + " values, but its body has " +
                            llvm::Twine(graph->outputs.size()) + " outputs");
  }
  auto body = [&](Block &block) {
    Values arguments(block.getArguments());
    return r.subgraph(*graph, arguments).value_or(Values());
  };
  r.takeTensors(
      node, r.loop(node, (*inputs)[0], (*inputs)[1], initial, graph->outputs.size() - 1, graph->numberRank(), body));
}

/// Returns the one element of a tensor, as far as it is known now; nothing where there is no tensor.
static std::optional<bool> truthOf(Value v) {
  std::optional<SmallVector<int64_t>> all = v ? onnx::integersOf(onnx::withoutReshapes(v)) : std::nullopt;
  return all && all->size() == 1 ? std::optional(all->front() != 0) : std::nullopt;
}

/// Writes the body once, from one state to the next.
static bool unrollIteration(Resolver &r, const Node &node, const Subgraph &body, int64_t iteration,
                            ResolvedValues &state, llvm::MutableArrayRef<Values> slices) {
  r.bind(body.inputs[0], {onnx::makeInteger(r.builder, node.loc, iteration)});
  r.bind(body.inputs[1], {r.truth(node.loc, true)});
  for (auto [input, resolved] : llvm::zip_equal(llvm::ArrayRef(body.inputs).drop_front(2), state)) {
    r.bind(input, resolved);
  }
  r.all(*body.block);
  for (auto [resolved, output] : llvm::zip(state, llvm::ArrayRef(body.outputs).drop_front())) {
    resolved = r.resolvedValue(output);
    if (!resolved.sequence && !resolved.tensor) {
      return false;
    }
  }
  for (auto [all, output] : llvm::zip_equal(slices, llvm::ArrayRef(body.outputs).drop_front(1 + state.size()))) {
    Value slice = r.value(output);
    if (!slice) {
      return false;
    }
    all.push_back(slice);
  }
  return bool(r.value(body.outputs.front()));
}

/// Writes the body once for each iteration. Returns false where only a run can tell whether it goes on.
static bool unrolledLoop(Resolver &r, const Node &node, const Subgraph &body, int64_t trips) {
  size_t carried = body.inputs.size() - 2;
  ResolvedValues state;
  for (size_t i = 0; i < carried; ++i) {
    state.push_back(r.resolvedValue(node.inputs[i + 2]));
  }
  SmallVector<Values> slices(body.outputs.size() - 1 - carried);
  bool continues = true;
  for (int64_t iteration = 0; iteration < trips && continues; ++iteration) {
    if (!r.mayUnroll(node) || !unrollIteration(r, node, body, iteration, state, slices)) {
      return true;
    }
    std::optional<bool> go = truthOf(r.value(body.outputs.front()));
    if (!go) {
      return false;
    }
    continues = *go;
  }
  for (auto [i, output] : llvm::enumerate(node.outputs)) {
    if (!node.isNamed(i)) {
      continue;
    }
    if (i < carried) {
      r.bind(output, state[i]);
    } else if (slices[i - carried].empty()) {
      r.fail(node, "does not turn once, and has scan outputs of sizes that only its body tells");
    } else {
      onnx::Formula f(r.builder, node.loc);
      Values rows;
      for (Value slice : slices[i - carried]) {
        rows.push_back(f.op("Unsqueeze", {slice, onnx::makeIntegers(r.builder, f.loc, {0})}));
      }
      r.bind(output, {f.op("Concat", rows, {f.integer("axis", 0)})});
    }
  }
  return true;
}

static void packedLoop(Resolver &r, const Node &node, const Subgraph &body, Value trips, Value condition) {
  size_t carried = body.inputs.size() - 2;
  ResolvedValues initial;
  for (size_t i = 0; i < carried; ++i) {
    initial.push_back(r.resolvedValue(node.inputs[i + 2]));
    if (initial.back().sequence && !initial.back().sequence->isRanked()) {
      r.fail(node, "carries tensors of an unknown number of axes");
      return;
    }
  }
  auto iteration = [&](Block &block, ResolvedValues state) -> std::optional<Iteration> {
    r.bind(body.inputs[0], {block.getArgument(0)});
    r.bind(body.inputs[1], {block.getArgument(1)});
    for (auto [i, resolved] : llvm::enumerate(state)) {
      r.bind(body.inputs[i + 2], resolved);
    }
    std::optional<ResolvedValues> outputs = r.contents(body);
    if (!outputs) {
      return std::nullopt;
    }
    Iteration made{outputs->front().tensor, {}, {}};
    for (auto [i, resolved] : llvm::enumerate(llvm::ArrayRef<ResolvedValue>(*outputs).drop_front())) {
      if (i < carried) {
        made.state.push_back(resolved);
      } else if (!resolved.sequence) {
        made.slices.push_back(resolved.tensor);
      }
    }
    if (!made.continues || made.slices.size() + carried + 1 != outputs->size()) {
      r.fail(node, "has a body that gives a sequence as its condition or as a slice");
      return std::nullopt;
    }
    return made;
  };
  std::optional<ResolvedValues> results =
      r.carryPacked(node, trips, condition, initial, body.outputs.size() - 1 - carried, body.numberRank(), iteration);
  for (size_t i = 0; results && i < node.outputs.size(); ++i) {
    r.bind(node.outputs[i], (*results)[i]);
  }
}

/// Resolves a Loop that carries sequences.
static void sequenceLoop(Resolver &r, const Node &node) {
  const Subgraph *body = r.subgraphOf(node, "body", std::max<size_t>(node.inputs.size(), 2));
  if (!body) {
    return;
  }
  Value trips = node.hasInput(0) ? r.value(node.inputs[0]) : Value();
  Value condition = node.hasInput(1) ? r.value(node.inputs[1]) : Value();
  if ((!trips && node.hasInput(0)) || (!condition && node.hasInput(1))) {
    return;
  }
  size_t carried = body->inputs.size() - 2;
  if (body->outputs.size() < carried + 1 || node.outputs.size() > body->outputs.size() - 1) {
    r.fail(node, "has inputs and outputs that do not fit its body");
    return;
  }
  for (size_t i = 0; i < carried; ++i) {
    if (!r.names(node, i + 2) || (!r.isSequence(node.inputs[i + 2]) && !r.value(node.inputs[i + 2]))) {
      return;
    }
  }
  std::optional<int64_t> times = numberOf(trips);
  std::optional<bool> go = condition ? truthOf(condition) : true;
  if (!times || !go || (*go && !unrolledLoop(r, node, *body, *times))) {
    packedLoop(r, node, *body, trips, condition);
  } else if (!*go) {
    (void)unrolledLoop(r, node, *body, 0);
  }
}

void addLoop(Rules &rules) {
  rules.add<onnx::LoopOp>(makeLoop);
  rules.addOfSequences<onnx::LoopOp>(sequenceLoop);
}

} // namespace ingot::graph
