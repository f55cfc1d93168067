// Resolves loops over sequences: SequenceMap, and a Loop that carries some. Where it is known how many iterations one
// has, it becomes its body as many times, and sequences are their tensors; else it becomes a loop that carries packed
// sequences.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/constants/Constants.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the one element of a tensor, as far as it is known now; nothing where there is no tensor.
static std::optional<bool> truthOf(Value v) {
  std::optional<SmallVector<int64_t>> all = v ? onnx::integersOf(onnx::withoutReshapes(v)) : std::nullopt;
  return all && all->size() == 1 ? std::optional(all->front() != 0) : std::nullopt;
}
static std::optional<int64_t> numberOf(Value v) {
  onnx::Size size = v ? onnx::numberIn(v) : onnx::Size::unknown();
  return size.isNumber() ? std::optional(size.number()) : std::nullopt;
}

/// Returns the values of the inputs in the n-th iteration of a SequenceMap: the n-th tensor of a sequence, or a tensor.
std::optional<Resolver::Values> Resolver::inputsOfIteration(const Node &node, int64_t iteration) {
  Values all;
  for (Value input : node.inputs) {
    ResolvedValue resolved = input ? resolvedValue(input) : ResolvedValue();
    if (resolved.sequence && iteration >= int64_t(resolved.sequence->items.size())) {
      problems->add(node.where(), "has sequences of lengths that differ");
      return std::nullopt;
    }
    if (!input) {
      problems->add(node.where(), "leaves out an input");
      return std::nullopt;
    }
    all.push_back(resolved.sequence ? resolved.sequence->items[iteration] : resolved.tensor);
    if (!all.back()) {
      return std::nullopt;
    }
  }
  return all;
}

/// Whether a body may be written once more; without a limit, loops in loops would fill any memory.
bool Resolver::mayUnroll(const Node &node) {
  constexpr int64_t most = 10'000;
  if (unrolledIterations == most) {
    problems->add(node.where(),
                  "takes the bodies of loops over sequences to more than " + llvm::Twine(most) + " iterations");
  }
  return unrolledIterations++ < most;
}

void Resolver::mapSequence(const Node &node) {
  const Subgraph *body = subgraphOf(node, "body", node.inputs.size());
  bool hasSequence = !node.inputs.empty() && isSequence(node.inputs.front());
  if (!body || !hasSequence || node.outputs.size() > body->outputs.size()) {
    if (body && (hasSequence || (node.hasInput(0) && value(node.inputs.front())))) {
      problems->add(node.where(), "needs a sequence, and as many outputs as its body has");
    }
    return;
  }
  bool isPacked = llvm::any_of(node.inputs, [&](Value input) {
    return isSequence(input) && (sequences[input].isPacked() || sequences[input].present);
  });
  if (isPacked) {
    return packedMap(node, *body);
  }
  SmallVector<Sequence> made(node.outputs.size());
  // The declared type says the element type of a sequence without tensors.
  for (auto [s, type] : llvm::zip(made, body->outputTypes)) {
    s.element = type ? getElementTypeOrSelf(type) : Type();
  }
  for (int64_t iteration = 0, count = sequences[node.inputs.front()].items.size(); iteration < count; ++iteration) {
    std::optional<Values> inputs = mayUnroll(node) ? inputsOfIteration(node, iteration) : std::nullopt;
    std::optional<Values> outputs = inputs ? subgraph(*body, *inputs) : std::nullopt;
    if (!outputs) {
      return;
    }
    for (auto [s, output] : llvm::zip(made, *outputs)) {
      s.items.push_back(output);
      s.element = onnx::elementOf(output);
    }
  }
  for (auto [output, s] : llvm::zip_equal(node.outputs, made)) {
    bind(output, {{}, s});
  }
}

// These resolve a Loop that carries sequences.

void Resolver::sequenceLoop(const Node &node) {
  const Subgraph *body = subgraphOf(node, "body", std::max<size_t>(node.inputs.size(), 2));
  if (!body) {
    return;
  }
  Value trips = node.hasInput(0) ? value(node.inputs[0]) : Value();
  Value condition = node.hasInput(1) ? value(node.inputs[1]) : Value();
  if ((!trips && node.hasInput(0)) || (!condition && node.hasInput(1))) {
    return;
  }
  size_t carried = body->inputs.size() - 2;
  if (body->outputs.size() < carried + 1 || node.outputs.size() > body->outputs.size() - 1) {
    problems->add(node.where(), "has inputs and outputs that do not fit its body");
    return;
  }
  for (size_t i = 0; i < carried; ++i) {
    if (!names(node, i + 2) || (!isSequence(node.inputs[i + 2]) && !value(node.inputs[i + 2]))) {
      return;
    }
  }
  std::optional<int64_t> times = numberOf(trips);
  std::optional<bool> go = condition ? truthOf(condition) : true;
  if (!times || !go || (*go && !unrolledLoop(node, *body, *times))) {
    packedLoop(node, *body, trips, condition);
  } else if (!*go) {
    (void)unrolledLoop(node, *body, 0);
  }
}

/// Writes the body once for each iteration. Returns false where only a run can tell whether it goes on.
bool Resolver::unrolledLoop(const Node &node, const Subgraph &body, int64_t trips) {
  size_t carried = body.inputs.size() - 2;
  ResolvedValues state;
  for (size_t i = 0; i < carried; ++i) {
    state.push_back(resolvedValue(node.inputs[i + 2]));
  }
  SmallVector<Values> slices(body.outputs.size() - 1 - carried);
  bool continues = true;
  for (int64_t iteration = 0; iteration < trips && continues; ++iteration) {
    if (!mayUnroll(node) || !unrollIteration(node, body, iteration, state, slices)) {
      return true;
    }
    std::optional<bool> go = truthOf(value(body.outputs.front()));
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
      bind(output, state[i]);
    } else if (slices[i - carried].empty()) {
      problems->add(node.where(), "does not turn once, and has scan outputs of sizes that only its body tells");
    } else {
      onnx::Formula f(builder, node.loc);
      Values rows;
      for (Value slice : slices[i - carried]) {
        rows.push_back(f.op("Unsqueeze", {slice, onnx::makeIntegers(builder, f.loc, {0})}));
      }
      values[output] = f.op("Concat", rows, {f.integer("axis", 0)});
    }
  }
  return true;
}

/// Writes the body once, from one state to the next.
bool Resolver::unrollIteration(const Node &node, const Subgraph &body, int64_t iteration, ResolvedValues &state,
                               llvm::MutableArrayRef<Values> slices) {
  bind(body.inputs[0], {onnx::makeInteger(builder, node.loc, iteration)});
  bind(body.inputs[1], {truth(node.loc, true)});
  for (auto [input, resolved] : llvm::zip_equal(llvm::ArrayRef(body.inputs).drop_front(2), state)) {
    bind(input, resolved);
  }
  all(*body.block);
  for (auto [resolved, output] : llvm::zip(state, llvm::ArrayRef(body.outputs).drop_front())) {
    resolved = resolvedValue(output);
    if (!resolved.sequence && !resolved.tensor) {
      return false;
    }
  }
  for (auto [all, output] : llvm::zip_equal(slices, llvm::ArrayRef(body.outputs).drop_front(1 + state.size()))) {
    Value slice = value(output);
    if (!slice) {
      return false;
    }
    all.push_back(slice);
  }
  return bool(value(body.outputs.front()));
}

// These make loops that remain loops in the model.

/// The values that an iteration gives.
struct Resolver::Iteration {
  Value continues; ///< whether the loop goes on
  ResolvedValues state;
  Values slices;
};

namespace {
/// How a sequence is packed, which has to have room for what any iteration makes.
struct Packing {
  int64_t rank = 0;
  bool mixes = false, isOptional = false;
  friend bool operator==(const Packing &, const Packing &) = default;
};
} // namespace

static Packing packingOf(const ResolvedValue &resolved) {
  return resolved.sequence
             ? Packing{resolved.sequence->rank(), resolved.sequence->mixesRanks, bool(resolved.sequence->present)}
             : Packing();
}

/// Returns the value with its sequence, if it is one, packed in this way.
ResolvedValue Resolver::packedAs(const Node &node, ResolvedValue resolved, int64_t rank, bool mixes, bool isOptional) {
  if (resolved.sequence) {
    Sequence &s = *resolved.sequence;
    s = SequenceFormula(builder, node.loc).packed(s, rank);
    s.mixesRanks |= mixes;
    if (isOptional && !s.present) {
      s.present = truth(node.loc, true);
    }
  }
  return resolved;
}

/// Makes a loop that carries packed sequences. The body decides how many axes their tensors have, and whether they may
/// be absent: it is written again until its outputs are packed as its inputs are. The results are the last state, and
/// then the scan outputs.
std::optional<Resolver::ResolvedValues>
Resolver::carryPacked(const Node &node, Value trips, Value condition, const ResolvedValues &initial, unsigned scans,
                      int numberRank, llvm::function_ref<std::optional<Iteration>(Block &, ResolvedValues)> body) {
  constexpr int mostTries = 10;
  SmallVector<Packing> packings = llvm::map_to_vector(initial, packingOf);
  for (int tries = 0; tries < mostTries; ++tries) {
    ResolvedValues start;
    for (auto [resolved, packing] : llvm::zip_equal(initial, packings)) {
      start.push_back(packedAs(node, resolved, packing.rank, packing.mixes, packing.isOptional));
    }
    SmallVector<Packing> made = packings;
    auto yields = [&](Block &block) -> Values {
      std::optional<Iteration> iteration = body(block, withTensors(start, block.getArguments().drop_front(2)));
      if (!iteration) {
        return {};
      }
      for (auto [own, resolved, packing, wanted] : llvm::zip_equal(start, iteration->state, packings, made)) {
        if (own.sequence.has_value() != resolved.sequence.has_value()) {
          problems->add(node.where(), "carries a sequence that its body gives as a tensor, or the other way round");
          return {};
        }
        resolved = packedAs(node, resolved, packing.rank, packing.mixes, packing.isOptional);
        bool grows = packingOf(resolved).rank > packing.rank; // then there are no tensors of fewer axes yet
        wanted = grows ? Packing{packingOf(resolved).rank, packing.mixes, packing.isOptional} : packingOf(resolved);
      }
      if (made != packings) {
        return {};
      }
      Values all = {iteration->continues};
      all.append(tensorsOf(iteration->state));
      all.append(iteration->slices);
      return all;
    };
    Values tensors = tensorsOf(start);
    Values results = loop(node, trips, condition, tensors, tensors.size() + scans, numberRank, yields);
    if (made != packings) {
      packings = made;
      continue;
    }
    if (results.empty()) {
      return std::nullopt;
    }
    ResolvedValues all = withTensors(start, results);
    for (Value scan : llvm::ArrayRef<Value>(results).drop_front(tensors.size())) {
      all.push_back({scan});
    }
    return all;
  }
  problems->add(node.where(), "carries a sequence whose tensors get more axes in each iteration");
  return std::nullopt;
}

void Resolver::packedLoop(const Node &node, const Subgraph &body, Value trips, Value condition) {
  size_t carried = body.inputs.size() - 2;
  ResolvedValues initial;
  for (size_t i = 0; i < carried; ++i) {
    initial.push_back(resolvedValue(node.inputs[i + 2]));
    if (initial.back().sequence && !initial.back().sequence->isRanked()) {
      problems->add(node.where(), "carries tensors of an unknown number of axes");
      return;
    }
  }
  auto iteration = [&](Block &block, ResolvedValues state) -> std::optional<Iteration> {
    bind(body.inputs[0], {block.getArgument(0)});
    bind(body.inputs[1], {block.getArgument(1)});
    for (auto [i, resolved] : llvm::enumerate(state)) {
      bind(body.inputs[i + 2], resolved);
    }
    std::optional<ResolvedValues> outputs = contents(body);
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
      problems->add(node.where(), "has a body that gives a sequence as its condition or as a slice");
      return std::nullopt;
    }
    return made;
  };
  std::optional<ResolvedValues> results =
      carryPacked(node, trips, condition, initial, body.outputs.size() - 1 - carried, body.numberRank(), iteration);
  for (size_t i = 0; results && i < node.outputs.size(); ++i) {
    bind(node.outputs[i], (*results)[i]);
  }
}

void Resolver::packedMap(const Node &node, const Subgraph &body) {
  SequenceFormula f(builder, node.loc);
  ResolvedValues inputs, made;
  Value count;
  for (Value input : node.inputs) {
    inputs.push_back(input ? resolvedValue(input) : ResolvedValue());
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
      problems->add(node.where(), "takes a sequence of which only a run can tell how many axes its tensors have");
      return;
    }
  }
  for (auto [type, name] : llvm::zip_equal(body.outputTypes, body.outputNames)) {
    Sequence s;
    s.element = type ? getElementTypeOrSelf(type) : Type();
    if (!s.element) {
      problems->add(node.where(), "has a body that does not say of which type output " + quoted(name) + " is");
      return;
    }
    made.push_back({{}, s});
  }
  auto iteration = [&](Block &block, ResolvedValues state) -> std::optional<Iteration> {
    SequenceFormula inside(builder, node.loc);
    Values items;
    for (const ResolvedValue &input : inputs) {
      items.push_back(input.sequence ? inside.at(*input.sequence, block.getArgument(0)) : input.tensor);
    }
    std::optional<Values> outputs = subgraph(body, items);
    if (!outputs) {
      return std::nullopt;
    }
    for (auto [resolved, output] : llvm::zip_equal(state, *outputs)) {
      if (!onnx::ranked(output) || onnx::elementOf(output) != resolved.sequence->element) {
        problems->add(node.where(), "has a body that gives a tensor of another type than it says, or of an unknown "
                                    "number of axes");
        return std::nullopt;
      }
      resolved.sequence = inside.inserted(*resolved.sequence, output, {});
    }
    return Iteration{block.getArgument(1), state, {}};
  };
  std::optional<ResolvedValues> results = carryPacked(node, count, {}, made, 0, 0, iteration);
  for (size_t i = 0; results && i < node.outputs.size(); ++i) {
    bind(node.outputs[i], (*results)[i]);
  }
}

} // namespace ingot::graph
