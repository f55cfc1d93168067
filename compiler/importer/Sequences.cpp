// Sequences. Of a compiled model everything is known that does not depend on numbers, and so is how many tensors a
// sequence has: it is no value of its own but its tensors, each of which is an input, an output or a value of the graph
// like any other. Nodes that make, change and take apart sequences leave nothing behind but the copies that they are
// (slices of SplitToSequence, a Concat for ConcatFromSequence); a SequenceMap, and a Loop that carries sequences, is
// its body as many times as it turns.
//
// What the user has to say is the length of sequences that are inputs (--sequence; `run` and `verify` look into the
// data). A sequence whose length only a run can tell is refused.
#include "compiler/importer/Importer.h"
#include "compiler/onnx/Constants.h"
#include "compiler/onnx/Formula.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ingot::importer {

bool isSequence(llvm::StringRef domain, llvm::StringRef op) {
  return domain.empty() &&
         llvm::StringSwitch<bool>(op)
             .Cases({"SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SequenceErase", "SequenceAt",
                     "SequenceLength", "SequenceMap", "SplitToSequence", "ConcatFromSequence"},
                    true)
             .Default(false);
}

std::string nameInSequence(llvm::StringRef sequence, size_t number) {
  return (sequence + "[" + llvm::Twine(number) + "]").str();
}

bool Importer::takesSequence(const Node &node) const {
  return llvm::any_of(node.inputs, [&](const std::string &input) { return sequences.contains(input); });
}

/// An integer attribute.
static int64_t attributeOf(const Node &node, llvm::StringRef name, int64_t otherwise) {
  auto found = llvm::find_if(node.attributes, [&](const NodeAttribute &a) { return a.name == name; });
  return found == node.attributes.end() ? otherwise : found->value->i();
}
/// What the one element of a tensor is, as far as it is known now; of none, nothing.
static std::optional<bool> truthOf(Value v) {
  std::optional<double> all = v ? onnx::splatOf(onnx::withoutReshapes(v)) : std::nullopt;
  return all ? std::optional(*all != 0) : std::nullopt;
}
static std::optional<int64_t> numberOf(Value v) {
  onnx::Size size = v ? onnx::numberIn(v) : onnx::Size::unknown();
  return size.isNumber() ? std::optional(size.number()) : std::nullopt;
}

/// The place that the node's input `index` gives in a sequence of `count` tensors, negative ones from its end; `last`
/// is the largest that is possible, and meant where none is given.
std::optional<int64_t> Importer::placeIn(const Node &node, size_t index, int64_t count, int64_t last) {
  if (index >= node.inputs.size() || node.inputs[index].empty()) {
    return last;
  }
  Value position = value(node.inputs[index]);
  if (!position) {
    return std::nullopt;
  }
  std::optional<int64_t> place = numberOf(position);
  if (!place) {
    problems->add(node.where(), "takes a place in a sequence that only a run can tell, which is unsupported");
    return std::nullopt;
  }
  int64_t normal = *place < 0 ? *place + count : *place;
  if (normal < 0 || normal > last) {
    problems->add(node.where(), "takes place " + llvm::Twine(*place) + " of a sequence of " + llvm::Twine(count));
    return std::nullopt;
  }
  return normal;
}

/// Whether the node names its input `index`; else that has been reported.
bool Importer::names(const Node &node, size_t index) {
  bool there = index < node.inputs.size() && !node.inputs[index].empty();
  if (!there) {
    problems->add(node.where(), "has too few inputs: input " + llvm::Twine(index) + " is missing");
  }
  return there;
}

void Importer::sequence(const Node &node) {
  if (node.op != "SequenceMap" && node.outputs.size() != 1) {
    problems->add(node.where(), "needs one output");
    return;
  }
  bool isList = node.op == "SequenceConstruct" || node.op == "SequenceEmpty";
  for (size_t i = 0, end = isList ? node.inputs.size() : 1; i < end; ++i) {
    if (!names(node, i)) {
      return;
    }
  }
  using Rule = std::optional<Values> (Importer::*)(const Node &);
  Rule rule = llvm::StringSwitch<Rule>(node.op)
                  .Case("SequenceConstruct", &Importer::inputsOf)
                  .Case("SequenceEmpty", &Importer::inputsOf)
                  .Cases({"SequenceInsert", "SequenceErase"}, &Importer::changedSequence)
                  .Case("SplitToSequence", &Importer::splitSequence)
                  .Cases({"Identity", "Optional", "OptionalGetElement"}, &Importer::sequenceIn)
                  .Default(nullptr);
  if (node.op == "SequenceMap") {
    return mapSequence(node);
  }
  if (rule) {
    if (std::optional<Values> made = (this->*rule)(node); made && areTensors(node, *made)) {
      sequences[node.outputs.front()] = std::move(*made);
    }
    return;
  }
  std::optional<Values> given = sequenceIn(node);
  if (!given) {
    return;
  }
  onnx::Formula f(builder, locationOf(node));
  int64_t count = given->size();
  if (node.op == "SequenceLength") {
    values[node.outputs.front()] = f.scalar(count);
  } else if (node.op == "OptionalHasElement") {
    values[node.outputs.front()] = truth(f.loc, true);
  } else if (node.op == "SequenceAt") {
    if (std::optional<int64_t> place = !names(node, 1) ? std::nullopt : placeIn(node, 1, count, count - 1)) {
      values[node.outputs.front()] = (*given)[*place];
    }
  } else if (node.op == "ConcatFromSequence") {
    concatenate(node, *given);
  } else {
    problems->add(node.where(), "takes a sequence, where a tensor was expected");
  }
}

/// The tensors of the sequence that is the node's first input.
std::optional<Importer::Values> Importer::sequenceIn(const Node &node) {
  auto found = sequences.find(node.inputs.front());
  if (found != sequences.end()) {
    return found->second;
  }
  if (value(node.inputs.front())) { // else its node has been reported
    problems->add(node.where(), "takes a tensor, where a sequence was expected");
  }
  return std::nullopt;
}

std::optional<Importer::Values> Importer::changedSequence(const Node &node) {
  std::optional<Values> items = sequenceIn(node);
  if (!items) {
    return std::nullopt;
  }
  int64_t count = items->size();
  if (node.op == "SequenceErase") {
    std::optional<int64_t> place = placeIn(node, 1, count, count - 1);
    if (!place) {
      return std::nullopt;
    }
    items->erase(items->begin() + *place);
    return items;
  }
  Value tensor = names(node, 1) ? value(node.inputs[1]) : Value();
  std::optional<int64_t> place = placeIn(node, 2, count, count);
  if (!tensor || !place) {
    return std::nullopt;
  }
  items->insert(items->begin() + *place, tensor);
  return items;
}

/// How long the parts of SplitToSequence are.
std::optional<SmallVector<int64_t>> Importer::partsOf(const Node &node, Value x, int64_t axis) {
  onnx::Size size = onnx::sizesOf(onnx::ranked(x))[axis];
  Value split = node.inputs.size() > 1 && !node.inputs[1].empty() ? value(node.inputs[1]) : Value();
  std::optional<SmallVector<int64_t>> given = split ? onnx::integersOf(split) : SmallVector<int64_t>{1};
  bool isList = split && onnx::ranked(split) && onnx::ranked(split).getRank() == 1;
  if (given && isList) {
    if (llvm::none_of(*given, [](int64_t part) { return part < 0; })) {
      return given;
    }
    problems->add(node.where(), "splits into a part of a negative length");
    return std::nullopt;
  }
  if (!given || !size.isNumber()) {
    problems->add(node.where(), "makes a sequence of which only a run can tell how long it is, which is unsupported");
    return std::nullopt;
  }
  int64_t part = given->empty() ? 0 : given->front(), rest = size.number();
  if (part > 0 && rest / part >= kMostTensors) {
    problems->add(node.where(), "makes a sequence of more than " + llvm::Twine(kMostTensors) + " tensors");
    return std::nullopt;
  }
  SmallVector<int64_t> parts;
  for (; part > 0 && rest > 0; rest -= part) {
    parts.push_back(std::min(part, rest));
  }
  if (part <= 0) {
    problems->add(node.where(), "splits into parts of " + llvm::Twine(part));
    return std::nullopt;
  }
  return parts;
}

std::optional<Importer::Values> Importer::splitSequence(const Node &node) {
  Value x = value(node.inputs.front());
  auto type = x ? onnx::ranked(x) : RankedTensorType();
  if (!type) {
    return std::nullopt;
  }
  auto axis = onnx::normalAxis(attributeOf(node, "axis", 0), type.getRank());
  if (!axis) {
    problems->add(node.where(), "has an axis outside of its input");
    return std::nullopt;
  }
  std::optional<SmallVector<int64_t>> parts = partsOf(node, x, *axis);
  if (!parts) {
    return std::nullopt;
  }
  bool isSplit = node.inputs.size() > 1 && !node.inputs[1].empty();
  onnx::Formula f(builder, locationOf(node));
  onnx::Size size = onnx::sizesOf(type)[*axis];
  if (size.isNumber() && std::accumulate(parts->begin(), parts->end(), int64_t(0)) != size.number()) {
    problems->add(node.where(), "splits into parts that do not add up to the " + llvm::Twine(size.number()) +
                                    " of axis " + llvm::Twine(*axis));
    return std::nullopt;
  }
  Values items;
  int64_t begin = 0;
  for (int64_t part : *parts) {
    auto list = [&](int64_t v) { return onnx::makeIntegers(builder, f.loc, {v}); };
    items.push_back(f.op("Slice", {x, list(begin), list(begin + part), list(*axis), list(1)}));
    begin += part;
    if (!isSplit && attributeOf(node, "keepdims", 1) == 0) {
      items.back() = f.op("Squeeze", {items.back(), list(*axis)});
    }
  }
  return items;
}

void Importer::concatenate(const Node &node, Values items) {
  if (items.empty()) {
    problems->add(node.where(), "concatenates an empty sequence");
    return;
  }
  onnx::Formula f(builder, locationOf(node));
  int64_t axis = attributeOf(node, "axis", 0);
  if (attributeOf(node, "new_axis", 0)) {
    for (Value &item : items) {
      item = f.op("Unsqueeze", {item, onnx::makeIntegers(builder, f.loc, {axis})});
    }
  }
  Value all = f.op("Concat", items, {f.integer("axis", axis)});
  if (onnx::ranked(all)) { // else it has been reported
    values[node.outputs.front()] = all;
  }
}

/// What a name stands for in the n-th turn of a SequenceMap: the n-th tensor of a sequence, or a tensor.
std::optional<Importer::Values> Importer::turnOf(const Node &node, int64_t turn) {
  Values all;
  for (const std::string &input : node.inputs) {
    auto sequence = sequences.find(input);
    bool isTensor = sequence == sequences.end();
    if (!isTensor && turn >= int64_t(sequence->second.size())) {
      problems->add(node.where(), "has sequences of lengths that differ");
      return std::nullopt;
    }
    if (isTensor && input.empty()) {
      problems->add(node.where(), "leaves out an input");
      return std::nullopt;
    }
    all.push_back(isTensor ? value(input) : sequence->second[turn]);
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
  SmallVector<Values> made(node.outputs.size());
  for (int64_t turn = 0, count = first->second.size(); turn < count; ++turn) {
    std::optional<Values> inputs = mayTurn(node) ? turnOf(node, turn) : std::nullopt;
    std::optional<Values> outputs = inputs ? subgraph(*body, *inputs) : std::nullopt;
    if (!outputs) {
      return;
    }
    for (auto [all, output] : llvm::zip(made, *outputs)) {
      all.push_back(output);
    }
  }
  for (auto [name, all] : llvm::zip(node.outputs, made)) {
    if (!name.empty()) {
      sequences[name] = all;
    }
  }
}

// A Loop that carries sequences.

/// What the names of a subgraph's outputs stand for is what other names stand for from here on.
bool Importer::hand(llvm::StringRef from, llvm::StringRef to) {
  if (auto found = sequences.find(from); found != sequences.end()) {
    Values items = found->second;
    sequences[to] = std::move(items);
    return true;
  }
  sequences.erase(to);
  weights.erase(to);
  Value v = value(from.str());
  values[to] = v;
  return bool(v);
}

void Importer::unrolledLoop(const Node &node) {
  const Subgraph *body = subgraphOf(node, "body", std::max<size_t>(node.inputs.size(), 2));
  if (!body) {
    return;
  }
  size_t carried = body->inputs.size() - 2;
  auto isThere = [&](size_t i) { return i < node.inputs.size() && !node.inputs[i].empty(); };
  std::optional<int64_t> trips = numberOf(isThere(0) ? value(node.inputs[0]) : Value());
  std::optional<bool> go = isThere(1) ? truthOf(value(node.inputs[1])) : true;
  if (!trips || !go) {
    problems->add(node.where(),
                  "carries a sequence through a number of iterations that only a run can tell, which is unsupported");
    return;
  }
  if (body->outputs.size() < carried + 1 || node.outputs.size() > body->outputs.size() - 1) {
    problems->add(node.where(), "has inputs and outputs that do not fit its body");
    return;
  }
  for (size_t i = 0; i < carried; ++i) {
    if (!names(node, i + 2) || !hand(node.inputs[i + 2], body->inputs[i + 2])) {
      return;
    }
  }
  SmallVector<Values> slices(body->outputs.size() - 1 - carried);
  for (int64_t turn = 0; turn < *trips && *go; ++turn) {
    if (!mayTurn(node) || !oneTurn(node, *body, turn, slices)) {
      return;
    }
    go = truthOf(value(body->outputs.front()));
    if (!go) {
      problems->add(node.where(), "carries a sequence as long as a condition holds, which is unsupported");
      return;
    }
  }
  for (auto [i, name] : llvm::enumerate(node.outputs)) {
    if (name.empty()) {
      continue;
    }
    if (i < carried) {
      (void)hand(body->inputs[i + 2], name);
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

} // namespace ingot::importer
