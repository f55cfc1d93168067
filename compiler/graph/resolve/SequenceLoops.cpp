// Resolves loops over sequences: SequenceMap, and a Loop that carries some. Where it is known how often one turns, it
// becomes its body as many times, and sequences are their tensors; else it becomes a loop that carries packed
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

/// Returns the values of the inputs in the n-th turn of a SequenceMap: the n-th tensor of a sequence, or a tensor.
std::optional<Resolver::Values> Resolver::turnOf(const Node &node, int64_t turn) {
  Values all;
  for (Value input : node.inputs) {
    Given given = input ? givenBy(input) : Given();
    if (given.sequence && turn >= int64_t(given.sequence->items.size())) {
      problems->add(node.where(), "has sequences of lengths that differ");
      return std::nullopt;
    }
    if (!input) {
      problems->add(node.where(), "leaves out an input");
      return std::nullopt;
    }
    all.push_back(given.sequence ? given.sequence->items[turn] : given.tensor);
    if (!all.back()) {
      return std::nullopt;
    }
  }
  return all;
}

/// Whether a body may be written once more; without a limit, loops in loops would fill any memory.
bool Resolver::mayTurn(const Node &node) {
  constexpr int64_t most = 10'000;
  if (turns == most) {
    problems->add(node.where(),
                  "takes the bodies of loops over sequences to more than " + llvm::Twine(most) + " iterations");
  }
  return turns++ < most;
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
  for (int64_t turn = 0, count = sequences[node.inputs.front()].items.size(); turn < count; ++turn) {
    std::optional<Values> inputs = mayTurn(node) ? turnOf(node, turn) : std::nullopt;
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

/// Writes the body as many times as the loop turns. Returns false where only a run can tell whether it goes on.
bool Resolver::unrolledLoop(const Node &node, const Subgraph &body, int64_t trips) {
  size_t carried = body.inputs.size() - 2;
  Givens state;
  for (size_t i = 0; i < carried; ++i) {
    state.push_back(givenBy(node.inputs[i + 2]));
  }
  SmallVector<Values> slices(body.outputs.size() - 1 - carried);
  bool goes = true;
  for (int64_t turn = 0; turn < trips && goes; ++turn) {
    if (!mayTurn(node) || !oneTurn(node, body, turn, state, slices)) {
      return true;
    }
    std::optional<bool> go = truthOf(value(body.outputs.front()));
    if (!go) {
      return false;
    }
    goes = *go;
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
bool Resolver::oneTurn(const Node &node, const Subgraph &body, int64_t turn, Givens &state,
                       llvm::MutableArrayRef<Values> slices) {
  bind(body.inputs[0], {onnx::makeInteger(builder, node.loc, turn)});
  bind(body.inputs[1], {truth(node.loc, true)});
  for (auto [input, given] : llvm::zip_equal(llvm::ArrayRef(body.inputs).drop_front(2), state)) {
    bind(input, given);
  }
  all(*body.block);
  for (auto [given, output] : llvm::zip(state, llvm::ArrayRef(body.outputs).drop_front())) {
    given = givenBy(output);
    if (!given.sequence && !given.tensor) {
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

// These make loops that a run turns.

/// The values that an iteration gives.
struct Resolver::Turn {
  Value goes; ///< whether the loop goes on
  Givens state;
  Values slices;
};

namespace {
/// The form of a packed sequence, which has to have room for what any iteration makes.
struct Form {
  int64_t rank = 0;
  bool mixes = false, isOptional = false;
  friend bool operator==(const Form &, const Form &) = default;
};
} // namespace

static Form formOf(const Given &given) {
  return given.sequence ? Form{given.sequence->rank(), given.sequence->mixesRanks, bool(given.sequence->present)}
                        : Form();
}

/// Returns the value in that form.
Given Resolver::inForm(const Node &node, Given given, int64_t rank, bool mixes, bool isOptional) {
  if (given.sequence) {
    Sequence &s = *given.sequence;
    s = SequenceFormula(builder, node.loc).packed(s, rank);
    s.mixesRanks |= mixes;
    if (isOptional && !s.present) {
      s.present = truth(node.loc, true);
    }
  }
  return given;
}

/// Makes a loop that carries packed sequences. The body decides how many axes their tensors have, and whether they may
/// be absent: it is written again until its outputs have the form of its inputs. The results are the last state, and
/// then the scan outputs.
std::optional<Resolver::Givens> Resolver::carry(const Node &node, Value trips, Value condition, const Givens &initial,
                                                unsigned scans, int numberRank,
                                                llvm::function_ref<std::optional<Turn>(Block &, Givens)> body) {
  constexpr int kMostForms = 10;
  SmallVector<Form> forms = llvm::map_to_vector(initial, formOf);
  for (int tries = 0; tries < kMostForms; ++tries) {
    Givens start;
    for (auto [given, form] : llvm::zip_equal(initial, forms)) {
      start.push_back(inForm(node, given, form.rank, form.mixes, form.isOptional));
    }
    SmallVector<Form> made = forms;
    auto yields = [&](Block &block) -> Values {
      std::optional<Turn> turn = body(block, like(start, block.getArguments().drop_front(2)));
      if (!turn) {
        return {};
      }
      for (auto [own, given, form, wanted] : llvm::zip_equal(start, turn->state, forms, made)) {
        if (own.sequence.has_value() != given.sequence.has_value()) {
          problems->add(node.where(), "carries a sequence that its body gives as a tensor, or the other way round");
          return {};
        }
        given = inForm(node, given, form.rank, form.mixes, form.isOptional);
        bool grows = formOf(given).rank > form.rank; // then there are no tensors of fewer axes yet
        wanted = grows ? Form{formOf(given).rank, form.mixes, form.isOptional} : formOf(given);
      }
      if (made != forms) {
        return {};
      }
      Values all = {turn->goes};
      all.append(flat(turn->state));
      all.append(turn->slices);
      return all;
    };
    Values tensors = flat(start);
    Values results = loop(node, trips, condition, tensors, tensors.size() + scans, numberRank, yields);
    if (made != forms) {
      forms = made;
      continue;
    }
    if (results.empty()) {
      return std::nullopt;
    }
    Givens all = like(start, results);
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
  Givens initial;
  for (size_t i = 0; i < carried; ++i) {
    initial.push_back(givenBy(node.inputs[i + 2]));
    if (initial.back().sequence && !initial.back().sequence->isRanked()) {
      problems->add(node.where(), "carries tensors of an unknown number of axes");
      return;
    }
  }
  auto turn = [&](Block &block, Givens state) -> std::optional<Turn> {
    bind(body.inputs[0], {block.getArgument(0)});
    bind(body.inputs[1], {block.getArgument(1)});
    for (auto [i, given] : llvm::enumerate(state)) {
      bind(body.inputs[i + 2], given);
    }
    std::optional<Givens> outputs = contents(body);
    if (!outputs) {
      return std::nullopt;
    }
    Turn made{outputs->front().tensor, {}, {}};
    for (auto [i, given] : llvm::enumerate(llvm::ArrayRef<Given>(*outputs).drop_front())) {
      if (i < carried) {
        made.state.push_back(given);
      } else if (!given.sequence) {
        made.slices.push_back(given.tensor);
      }
    }
    if (!made.goes || made.slices.size() + carried + 1 != outputs->size()) {
      problems->add(node.where(), "has a body that gives a sequence as its condition or as a slice");
      return std::nullopt;
    }
    return made;
  };
  std::optional<Givens> results =
      carry(node, trips, condition, initial, body.outputs.size() - 1 - carried, body.numberRank(), turn);
  for (size_t i = 0; results && i < node.outputs.size(); ++i) {
    bind(node.outputs[i], (*results)[i]);
  }
}

void Resolver::packedMap(const Node &node, const Subgraph &body) {
  SequenceFormula f(builder, node.loc);
  Givens inputs, made;
  Value count;
  for (Value input : node.inputs) {
    inputs.push_back(input ? givenBy(input) : Given());
    std::optional<Sequence> &s = inputs.back().sequence;
    if (!s && !inputs.back().tensor) {
      return;
    }
    if (s) {
      s = f.packed(f.required(*s));
      Value own = f.count(*s);
      count = count ? f.unless(f.differ(own, count), count) : own;
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
  auto turn = [&](Block &block, Givens state) -> std::optional<Turn> {
    SequenceFormula inside(builder, node.loc);
    Values items;
    for (const Given &input : inputs) {
      items.push_back(input.sequence ? inside.at(*input.sequence, block.getArgument(0)) : input.tensor);
    }
    std::optional<Values> outputs = subgraph(body, items);
    if (!outputs) {
      return std::nullopt;
    }
    for (auto [given, output] : llvm::zip_equal(state, *outputs)) {
      if (!onnx::ranked(output) || onnx::elementOf(output) != given.sequence->element) {
        problems->add(node.where(), "has a body that gives a tensor of another type than it says, or of an unknown "
                                    "number of axes");
        return std::nullopt;
      }
      given.sequence = inside.inserted(*given.sequence, output, {});
    }
    return Turn{block.getArgument(1), state, {}};
  };
  std::optional<Givens> results = carry(node, count, {}, made, 0, 0, turn);
  for (size_t i = 0; results && i < node.outputs.size(); ++i) {
    bind(node.outputs[i], (*results)[i]);
  }
}

} // namespace ingot::graph
