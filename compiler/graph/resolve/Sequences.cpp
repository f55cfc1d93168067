// Resolves sequences. Everything about a model is known here that does not depend on numbers, and so is how many
// tensors a sequence has. It is no value of its own: it is its tensors, each of which is an input, an output or a value
// of the graph like any other. Nodes that make, change and take apart sequences leave nothing behind but copies (slices
// of SplitToSequence, a Concat for ConcatFromSequence); a SequenceMap, or a Loop that carries sequences, becomes its
// body once for each iteration.
//
// The user has to say how long sequences are that are inputs (--sequence; `run` and `verify` look into the data). Where
// only a run can tell how many tensors a sequence has, or which of them a node means, it is packed into two tensors
// (Sequence.h) from there on.
#include "compiler/support/Sequences.h"
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ingot::graph {

bool Resolver::takesSequence(const Node &node) const {
  return llvm::any_of(node.inputs, [&](Value input) { return isSequence(input); });
}

static std::optional<int64_t> numberOf(Value v) {
  onnx::Size size = v ? onnx::numberIn(v) : onnx::Size::unknown();
  return size.isNumber() ? std::optional(size.number()) : std::nullopt;
}

/// The place where a node puts, takes or erases a tensor: a number that is known, or what a run tells (null: at the
/// end).
struct Resolver::Place {
  std::optional<int64_t> known;
  Value told;
};

/// Returns the place that the node's input `index` gives in a sequence, where negative ones count from its end. Without
/// the input it is the last place, or the one behind it.
std::optional<Resolver::Place> Resolver::placeIn(const Node &node, size_t index, const Sequence &s, bool behind) {
  bool isGiven = node.hasInput(index);
  int64_t count = s.items.size(), last = count - !behind;
  Value position = isGiven ? value(node.inputs[index]) : Value();
  if (isGiven && !position) {
    return std::nullopt;
  }
  std::optional<int64_t> place = isGiven ? numberOf(position) : last;
  if (s.isEmpty() && !behind) {
    problems->add(node.where(), "takes a tensor out of an empty sequence");
    return std::nullopt;
  }
  if (s.isPacked() || !place) {
    return Place{std::nullopt, position};
  }
  int64_t normal = *place < 0 ? *place + count : *place;
  if (normal < 0 || normal > last) {
    problems->add(node.where(), "takes place " + llvm::Twine(*place) + " of a sequence of " + llvm::Twine(count));
    return std::nullopt;
  }
  return Place{normal, position};
}

/// Whether the node names its input `index`; else this has been reported.
bool Resolver::names(const Node &node, size_t index) {
  bool there = node.hasInput(index);
  if (!there) {
    problems->add(node.where(), "has too few inputs: input " + llvm::Twine(index) + " is missing");
  }
  return there;
}

void Resolver::sequence(const Node &node) {
  if (node.kind != "SequenceMap" && node.outputs.size() != 1) {
    problems->add(node.where(), "needs one output");
    return;
  }
  bool isList = node.kind == "SequenceConstruct" || node.kind == "SequenceEmpty";
  for (size_t i = 0, end = isList ? node.inputs.size() : 1; i < end; ++i) {
    if (!names(node, i)) {
      return;
    }
  }
  using Rule = std::optional<Sequence> (Resolver::*)(const Node &);
  Rule rule = llvm::StringSwitch<Rule>(node.kind)
                  .Cases({"SequenceConstruct", "SequenceEmpty"}, &Resolver::listedSequence)
                  .Cases({"SequenceInsert", "SequenceErase"}, &Resolver::changedSequence)
                  .Case("SplitToSequence", &Resolver::splitSequence)
                  .Cases({"Identity", "Optional", "OptionalGetElement"}, &Resolver::forwardedSequence)
                  .Default(nullptr);
  if (node.kind == "SequenceMap") {
    return mapSequence(node);
  }
  if (rule) {
    if (std::optional<Sequence> made = (this->*rule)(node); made && areTensors(node, made->items)) {
      sequences[node.outputs.front()] = std::move(*made);
    }
    return;
  }
  std::optional<Sequence> resolved = sequenceIn(node);
  if (!resolved) {
    return;
  }
  SequenceFormula f(builder, node.loc);
  if (node.kind == "OptionalHasElement") {
    values[node.outputs.front()] = resolved->present ? resolved->present : truth(node.loc, true);
    return;
  }
  Sequence s = f.required(*resolved);
  if (node.kind == "SequenceLength") {
    values[node.outputs.front()] = f.count(s);
  } else if (node.kind == "SequenceAt") {
    if (Value element = names(node, 1) ? elementAt(node, s) : Value()) {
      values[node.outputs.front()] = element;
    }
  } else if (node.kind == "ConcatFromSequence") {
    concatenate(node, s);
  } else {
    problems->add(node.where(), "takes a sequence, where a tensor was expected");
  }
}

/// Returns the sequence that is the node's first input.
std::optional<Sequence> Resolver::sequenceIn(const Node &node) {
  ResolvedValue resolved = resolvedValue(node.inputs.front());
  if (!resolved.sequence && resolved.tensor) { // else a problem of its node has been reported
    problems->add(node.where(), "takes a tensor, where a sequence was expected");
  }
  return resolved.sequence;
}

/// Binds other names of a sequence, and optional values around it, to it.
std::optional<Sequence> Resolver::forwardedSequence(const Node &node) {
  std::optional<Sequence> s = sequenceIn(node);
  return s && node.kind == "OptionalGetElement" ? SequenceFormula(builder, node.loc).required(*s) : s;
}

std::optional<Sequence> Resolver::listedSequence(const Node &node) {
  std::optional<Values> items = inputsOf(node);
  if (!items) {
    return std::nullopt;
  }
  Sequence s;
  s.items = std::move(*items);
  int64_t number = node.integer("dtype", 1);
  s.element =
      s.items.empty() ? onnx::elementOfNumber(static_cast<int32_t>(number), context) : onnx::elementOf(s.items.front());
  if (!s.element) {
    problems->add(node.where(), "makes a sequence of element type " + llvm::Twine(number) + ", which is unsupported");
    return std::nullopt;
  }
  if (llvm::any_of(s.items, [&](Value item) { return onnx::elementOf(item) != s.element; })) {
    problems->add(node.where(), "makes a sequence of tensors of several element types");
    return std::nullopt;
  }
  return s;
}

std::optional<Sequence> Resolver::changedSequence(const Node &node) {
  std::optional<Sequence> resolved = sequenceIn(node);
  if (!resolved) {
    return std::nullopt;
  }
  SequenceFormula f(builder, node.loc);
  Sequence s = f.required(*resolved);
  bool isErased = node.kind == "SequenceErase";
  Value tensor = !isErased && names(node, 1) ? value(node.inputs[1]) : Value();
  std::optional<Place> place = isErased || tensor ? placeIn(node, isErased ? 1 : 2, s, !isErased) : std::nullopt;
  if (!place) {
    return std::nullopt;
  }
  if (tensor && s.element && onnx::elementOf(tensor) != s.element) {
    problems->add(node.where(), "puts a tensor into a sequence of another element type");
    return std::nullopt;
  }
  if (place->known && isErased) {
    s.items.erase(s.items.begin() + *place->known);
  } else if (place->known) {
    s.items.insert(s.items.begin() + *place->known, tensor);
    s.element = onnx::elementOf(tensor);
  } else if (!s.isRanked() || (tensor && !onnx::ranked(tensor))) {
    problems->add(node.where(), "takes a tensor of an unknown number of axes, and a place that only a run can tell");
    return std::nullopt;
  } else {
    s = isErased ? f.erased(f.packed(s), place->told) : f.inserted(f.packed(s), tensor, place->told);
  }
  return s;
}

Value Resolver::elementAt(const Node &node, const Sequence &s) {
  std::optional<Place> place = placeIn(node, 1, s, /*behind=*/false);
  if (!place) {
    return {};
  }
  if (place->known) {
    return s.items[*place->known];
  }
  SequenceFormula f(builder, node.loc);
  Sequence packed = s.isRanked() ? f.packed(s) : s;
  if (!packed.isPacked() || packed.mixesRanks) {
    problems->add(node.where(), "takes a tensor out of a sequence of which only a run can tell how many axes it has, "
                                "which is unsupported");
    return {};
  }
  return f.at(packed, place->told);
}

static bool isList(Value split) { return split && onnx::ranked(split) && onnx::ranked(split).getRank() == 1; }

/// Returns how long the parts of SplitToSequence are, where that is known.
std::optional<SmallVector<int64_t>> Resolver::partsOf(const Node &node, Value x, int64_t axis) {
  onnx::Size size = onnx::sizesOf(onnx::ranked(x))[axis];
  Value split = node.hasInput(1) ? value(node.inputs[1]) : Value();
  std::optional<SmallVector<int64_t>> sizes = split ? onnx::integersOf(split) : SmallVector<int64_t>{1};
  if (sizes && isList(split)) {
    if (llvm::none_of(*sizes, [](int64_t part) { return part < 0; })) {
      return sizes;
    }
    problems->add(node.where(), "splits into a part of a negative length");
    return std::nullopt;
  }
  int64_t part = sizes->empty() ? 0 : sizes->front(), rest = size.number();
  if (part > 0 && rest / part >= support::kMostTensors) {
    problems->add(node.where(), "makes a sequence of more than " + llvm::Twine(support::kMostTensors) + " tensors");
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

std::optional<Sequence> Resolver::splitSequence(const Node &node) {
  Value x = value(node.inputs.front());
  auto type = x ? onnx::ranked(x) : RankedTensorType();
  if (!type) {
    if (x) {
      problems->add(node.where(), "splits a tensor of an unknown number of axes");
    }
    return std::nullopt;
  }
  auto axis = onnx::normalAxis(node.integer("axis", 0), type.getRank());
  if (!axis) {
    problems->add(node.where(), "has an axis outside of its input");
    return std::nullopt;
  }
  bool isSplit = node.hasInput(1);
  Value split = isSplit ? value(node.inputs[1]) : Value();
  if (isSplit && (!split || !onnx::elementOf(split).isInteger())) {
    if (split) {
      problems->add(node.where(), "needs integers for what it splits into");
    }
    return std::nullopt;
  }
  onnx::Size size = onnx::sizesOf(type)[*axis];
  bool keepsAxis = isSplit || node.integer("keepdims", 1) != 0;
  if ((split && !onnx::integersOf(split)) || (!isList(split) && !size.isNumber())) {
    return SequenceFormula(builder, node.loc).split(x, *axis, split, isList(split), keepsAxis);
  }
  std::optional<SmallVector<int64_t>> parts = partsOf(node, x, *axis);
  if (!parts) {
    return std::nullopt;
  }
  onnx::Formula f(builder, node.loc);
  if (size.isNumber() && std::accumulate(parts->begin(), parts->end(), int64_t(0)) != size.number()) {
    problems->add(node.where(), "splits into parts that do not add up to the " + llvm::Twine(size.number()) +
                                    " of axis " + llvm::Twine(*axis));
    return std::nullopt;
  }
  Sequence s;
  s.element = onnx::elementOf(x);
  Values &items = s.items;
  int64_t begin = 0;
  for (int64_t part : *parts) {
    auto list = [&](int64_t v) { return onnx::makeIntegers(builder, f.loc, {v}); };
    items.push_back(f.op("Slice", {x, list(begin), list(begin + part), list(*axis), list(1)}));
    begin += part;
    if (!keepsAxis) {
      items.back() = f.op("Squeeze", {items.back(), list(*axis)});
    }
  }
  return s;
}

void Resolver::concatenate(const Node &node, const Sequence &s) {
  int64_t axis = node.integer("axis", 0);
  bool isNew = node.integer("new_axis", 0) != 0;
  if (s.isEmpty()) {
    problems->add(node.where(), "concatenates an empty sequence");
    return;
  }
  if (s.isPacked()) {
    auto normal = onnx::normalAxis(axis, s.rank() + isNew);
    if (!normal || s.mixesRanks) {
      problems->add(node.where(), normal ? "joins tensors of which only a run can tell how many axes they have"
                                         : "has an axis outside of its tensors");
      return;
    }
    SequenceFormula f(builder, node.loc);
    values[node.outputs.front()] = isNew ? f.stacked(s, *normal) : f.joined(s, *normal);
    return;
  }
  Values items = s.items;
  size_t before = problems->additionCount();
  onnx::Formula f(builder, node.loc);
  if (isNew) {
    for (Value &item : items) {
      item = f.op("Unsqueeze", {item, onnx::makeIntegers(builder, f.loc, {axis})});
    }
  }
  Value all = f.op("Concat", items, {f.integer("axis", axis)});
  if (problems->additionCount() == before) {
    values[node.outputs.front()] = all;
  }
}

} // namespace ingot::graph
