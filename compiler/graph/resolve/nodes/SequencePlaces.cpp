// Resolves nodes that put a tensor into a sequence, and take one out: SequenceInsert, SequenceErase and SequenceAt.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/expanded/Construct.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// The place where a node puts, takes or erases a tensor: a number that is known, or what a run determines (null: at
/// the end).
struct Place {
  std::optional<int64_t> known;
  Value computed;
};
} // namespace

/// Returns the place that the node's input `index` gives in a sequence, where negative ones count from its end. Without
/// the input it is the last place, or the one behind it.
static std::optional<Place> placeIn(Resolver &r, const Node &node, size_t index, const Sequence &s, bool behind) {
  bool isGiven = node.hasInput(index);
  int64_t count = s.items.size(), last = count - !behind;
  Value position = isGiven ? r.value(node.inputs[index]) : Value();
  if (isGiven && !position) {
    return std::nullopt;
  }
  std::optional<int64_t> place = isGiven ? numberOf(position) : last;
  if (s.isEmpty() && !behind) {
    r.fail(node, "takes a tensor out of an empty sequence");
    return std::nullopt;
  }
  if (s.isPacked() || !place) {
    return Place{std::nullopt, position};
  }
  int64_t normal = *place < 0 ? *place + count : *place;
  if (normal < 0 || normal > last) {
    r.fail(node, "takes place " + llvm::Twine(*place) + " of a sequence of " + llvm::Twine(count));
    return std::nullopt;
  }
  return Place{normal, position};
}

static std::optional<Sequence> changedSequence(Resolver &r, const Node &node) {
  std::optional<Sequence> resolved = r.sequenceIn(node);
  if (!resolved) {
    return std::nullopt;
  }
  SequenceFormula f(r.builder, node.loc);
  Sequence s = f.required(*resolved);
  bool isErased = node.kind == "SequenceErase";
  Value tensor = !isErased && r.names(node, 1) ? r.value(node.inputs[1]) : Value();
  std::optional<Place> place = isErased || tensor ? placeIn(r, node, isErased ? 1 : 2, s, !isErased) : std::nullopt;
  if (!place) {
    return std::nullopt;
  }
  if (tensor && s.element && onnx::elementOf(tensor) != s.element) {
    r.fail(node, "puts a tensor into a sequence of another element type");
    return std::nullopt;
  }
  if (place->known && isErased) {
    s.items.erase(s.items.begin() + *place->known);
  } else if (place->known) {
    s.items.insert(s.items.begin() + *place->known, tensor);
    s.element = onnx::elementOf(tensor);
  } else if (!s.isRanked() || (tensor && !onnx::ranked(tensor))) {
    r.fail(node, "takes a tensor of an unknown number of axes, and a place that only a run can tell");
    return std::nullopt;
  } else {
    s = isErased ? f.erased(f.packed(s), place->computed) : f.inserted(f.packed(s), tensor, place->computed);
  }
  return s;
}

static Value elementAt(Resolver &r, const Node &node, const Sequence &s) {
  std::optional<Place> place = r.names(node, 1) ? placeIn(r, node, 1, s, /*behind=*/false) : std::nullopt;
  if (!place) {
    return {};
  }
  if (place->known) {
    return s.items[*place->known];
  }
  SequenceFormula f(r.builder, node.loc);
  Sequence packed = s.isRanked() ? f.packed(s) : s;
  if (!packed.isPacked() || packed.mixesRanks) {
    r.fail(node, "takes a tensor out of a sequence of which only a run can tell how many axes it has, "
                 "which is unsupported");
    return {};
  }
  return f.at(packed, place->computed);
}

void addSequencePlaces(Rules &rules) {
  rules.add<onnx::SequenceInsertOp>(givesSequence(changedSequence));
  rules.add<onnx::SequenceEraseOp>(givesSequence(changedSequence));
  rules.add<onnx::SequenceAtOp>(givesTensor(elementAt));
}

} // namespace ingot::graph
