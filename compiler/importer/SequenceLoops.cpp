// Loops over sequences: SequenceMap, and a Loop that carries some. Where it is known how often they turn they are their
// bodies, as many times, and sequences their tensors; else they are loops, which carry packed sequences.
#include "compiler/importer/Importer.h"
#include "compiler/onnx/constants/Constants.h"

using namespace mlir;

namespace ingot::importer {

/// What the one element of a tensor is, as far as it is known now; of none, nothing.
static std::optional<bool> truthOf(Value v) {
  std::optional<SmallVector<int64_t>> all = v ? onnx::integersOf(onnx::withoutReshapes(v)) : std::nullopt;
  return all && all->size() == 1 ? std::optional(all->front() != 0) : std::nullopt;
}
static std::optional<int64_t> numberOf(Value v) {
  onnx::Size size = v ? onnx::numberIn(v) : onnx::Size::unknown();
  return size.isNumber() ? std::optional(size.number()) : std::nullopt;
}

/// What a name stands for in the n-th turn of a SequenceMap: the n-th tensor of a sequence, or a tensor.
std::optional<Importer::Values> Importer::turnOf(const Node &node, int64_t turn) {
  Values all;
  for (const std::string &input : node.inputs) {
    auto sequence = sequences.find(input);
    bool isTensor = sequence == sequences.end();
    if (!isTensor && turn >= int64_t(sequence->second.items.size())) {
      problems->add(node.where(), "has sequences of lengths that differ");
      return std::nullopt;
    }
    if (isTensor && input.empty()) {
      problems->add(node.where(), "leaves out an input");
      return std::nullopt;
    }
    all.push_back(isTensor ? value(input) : sequence->second.items[turn]);
    if (!all.back()) {
      return std::nullopt;
    }
  }
  return all;
}

/// Whether a body may be written once more: loops in loops would fill any memory.
bool Importer::mayTurn(const Node &node) {
  constexpr int64_t most = 10'000;
  if (turns == most) {
    problems->add(node.where(),
                  "takes the bodies of loops over sequences to more than " + llvm::Twine(most) + " iterations");
  }
  return turns++ < most;
}

void Importer::mapSequence(const Node &node) {
  const Subgraph *body = subgraphOf(node, "body", node.inputs.size());
  auto first = node.inputs.empty() ? sequences.end() : sequences.find(node.inputs.front());
  if (!body || first == sequences.end() || node.outputs.size() > body->outputs.size()) {
    if (body && (first != sequences.end() || (!node.inputs.empty() && value(node.inputs.front())))) {
      problems->add(node.where(), "needs a sequence, and as many outputs as its body has");
    }
    return;
  }
  bool isPacked = llvm::any_of(node.inputs, [&](const std::string &input) {
    auto sequence = sequences.find(input);
    return sequence != sequences.end() && (sequence->second.isPacked() || sequence->second.present);
  });
  if (isPacked) {
    return packedMap(node, *body);
  }
  SmallVector<Sequence> made(node.outputs.size());
  for (auto [s, output] : llvm::zip(made, body->proto->output())) { // of a sequence without tensors this says it
    s.element = elementType(context, output.type().tensor_type().elem_type());
  }
  for (int64_t turn = 0, count = first->second.items.size(); turn < count; ++turn) {
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
  for (auto [name, s] : llvm::zip(node.outputs, made)) {
    if (!name.empty()) {
      sequences[name] = s;
    }
  }
}

// A Loop that carries sequences.

/// What the names of a subgraph's outputs stand for is what other names stand for from here on.
bool Importer::hand(llvm::StringRef from, llvm::StringRef to) {
  if (auto found = sequences.find(from); found != sequences.end()) {
    Sequence same = found->second;
    sequences[to] = std::move(same);
    return true;
  }
  sequences.erase(to);
  weights.erase(to);
  Value v = value(from.str());
  values[to] = v;
  return bool(v);
}

void Importer::sequenceLoop(const Node &node) {
  const Subgraph *body = subgraphOf(node, "body", std::max<size_t>(node.inputs.size(), 2));
  if (!body) {
    return;
  }
  auto input = [&](size_t i) { return i < node.inputs.size() && !node.inputs[i].empty() ? node.inputs[i] : ""; };
  Value trips = input(0).empty() ? Value() : value(input(0));
  Value condition = input(1).empty() ? Value() : value(input(1));
  if ((!trips && !input(0).empty()) || (!condition && !input(1).empty())) {
    return;
  }
  size_t carried = body->inputs.size() - 2;
  if (body->outputs.size() < carried + 1 || node.outputs.size() > body->outputs.size() - 1) {
    problems->add(node.where(), "has inputs and outputs that do not fit its body");
    return;
  }
  for (size_t i = 0; i < carried; ++i) {
    if (!names(node, i + 2) || (!sequences.contains(node.inputs[i + 2]) && !value(node.inputs[i + 2]))) {
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

/// The body as many times as the loop turns; false where only a run can tell whether it goes on.
bool Importer::unrolledLoop(const Node &node, const Subgraph &body, int64_t trips) {
  size_t carried = body.inputs.size() - 2;
  for (size_t i = 0; i < carried; ++i) {
    (void)hand(node.inputs[i + 2], body.inputs[i + 2]);
  }
  SmallVector<Values> slices(body.outputs.size() - 1 - carried);
  bool goes = true;
  for (int64_t turn = 0; turn < trips && goes; ++turn) {
    if (!mayTurn(node) || !oneTurn(node, body, turn, slices)) {
      return true;
    }
    std::optional<bool> go = truthOf(value(body.outputs.front()));
    if (!go) {
      return false;
    }
    goes = *go;
  }
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    if (name.empty()) {
      continue;
    }
    if (i < carried) {
      (void)hand(body.inputs[i + 2], name);
    } else if (slices[i - carried].empty()) {
      problems->add(node.where(), "does not turn once, and has scan outputs of sizes that only its body tells");
    } else {
      onnx::Formula f(builder, locationOf(node));
      Values rows;
      for (Value slice : slices[i - carried]) {
        rows.push_back(f.op("Unsqueeze", {slice, onnx::makeIntegers(builder, f.loc, {0})}));
      }
      values[name] = f.op("Concat", rows, {f.integer("axis", 0)});
    }
  }
  return true;
}

bool Importer::oneTurn(const Node &node, const Subgraph &body, int64_t turn, llvm::MutableArrayRef<Values> slices) {
  Location loc = locationOf(node);
  initializers(*body.proto, body.initializers);
  values[body.inputs[0]] = onnx::makeInteger(builder, loc, turn);
  values[body.inputs[1]] = truth(loc, true);
  all(body.nodes);
  size_t carried = body.inputs.size() - 2;
  // What a value becomes may be what another one was: all are read before one is written.
  for (size_t i = 0; i < carried; ++i) {
    if (!hand(body.outputs[i + 1], body.inputs[i + 2] + "'")) {
      return false;
    }
  }
  for (size_t i = 0; i < carried; ++i) {
    (void)hand(body.inputs[i + 2] + "'", body.inputs[i + 2]);
  }
  for (auto [i, all] : llvm::enumerate(slices)) {
    Value slice = value(body.outputs[1 + carried + i]);
    if (!slice) {
      return false;
    }
    all.push_back(slice);
  }
  return bool(value(body.outputs.front()));
}

// Loops that a run turns.

Given Importer::givenBy(llvm::StringRef name) {
  auto found = sequences.find(name);
  return found == sequences.end() ? Given{value(name.str())} : Given{{}, found->second};
}

void Importer::bind(llvm::StringRef name, const Given &given) {
  weights.erase(name);
  if (given.sequence) {
    sequences[name] = *given.sequence;
  } else {
    sequences.erase(name);
    values[name] = given.tensor;
  }
}

/// What an iteration gives.
struct Importer::Turn {
  Value goes; ///< on
  Givens state;
  Values slices;
};

namespace {
/// What a packed sequence has to have room for.
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

/// The value in that form.
Given Importer::inForm(const Node &node, Given given, int64_t rank, bool mixes, bool isOptional) {
  if (given.sequence) {
    Sequence &s = *given.sequence;
    s = SequenceFormula(builder, locationOf(node)).packed(s, rank);
    s.mixesRanks |= mixes;
    if (isOptional && !s.present) {
      s.present = truth(locationOf(node), true);
    }
  }
  return given;
}

/// A loop that carries sequences, packed. How many axes their tensors have, and whether they may be absent, the body
/// says: it is written again until what it gives has the form of what it gets. The result is the last state, then the
/// scan outputs.
std::optional<Importer::Givens> Importer::carry(const Node &node, Value trips, Value condition, const Givens &initial,
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
        bool grows = formOf(given).rank > form.rank; // then tensors of fewer axes are not there yet
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

void Importer::packedLoop(const Node &node, const Subgraph &body, Value trips, Value condition) {
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
      carry(node, trips, condition, initial, body.outputs.size() - 1 - carried, rankOf(body.proto->input(0)), turn);
  for (size_t i = 0; results && i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) {
      bind(node.outputs[i], (*results)[i]);
    }
  }
}

void Importer::packedMap(const Node &node, const Subgraph &body) {
  SequenceFormula f(builder, locationOf(node));
  Givens inputs, made;
  Value count;
  for (const std::string &input : node.inputs) {
    inputs.push_back(givenBy(input));
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
  for (const pb::ValueInfoProto &output : body.proto->output()) {
    Sequence s;
    s.element = elementType(context, output.type().tensor_type().elem_type());
    if (!s.element) {
      problems->add(node.where(), "has a body that does not say of which type output " + quoted(output.name()) + " is");
      return;
    }
    made.push_back({{}, s});
  }
  auto turn = [&](Block &block, Givens state) -> std::optional<Turn> {
    SequenceFormula inside(builder, locationOf(node));
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
    if (!node.outputs[i].empty()) {
      bind(node.outputs[i], (*results)[i]);
    }
  }
}

} // namespace ingot::importer
