// Resolves sequences. Everything about a model is known here that does not depend on numbers, and so is how many
// tensors a sequence has. It is no value of its own: it is its tensors, each of which is an input, an output or a value
// of the graph like any other. Nodes that make, change and take apart sequences leave nothing behind but copies (slices
// of SplitToSequence, a Concat for ConcatFromSequence); a SequenceMap, or a Loop that carries sequences, becomes its
// body once for each iteration.
//
// The user has to say how long sequences are that are inputs (--sequence; `run` and `verify` look into the data). Where
// only a run can tell how many tensors a sequence has, or which of them a node means, it is packed into two tensors
// (Sequence.h) from there on.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/constants/Constants.h"

using namespace mlir;

namespace ingot::graph {

bool Resolver::takesSequence(const Node &node) const {
  return llvm::any_of(node.inputs, [&](Value input) { return isSequence(input); });
}

std::optional<int64_t> numberOf(Value v) {
  onnx::Size size = v ? onnx::numberIn(v) : onnx::Size::unknown();
  return size.isNumber() ? std::optional(size.number()) : std::nullopt;
}

bool Resolver::names(const Node &node, size_t index) {
  bool there = node.hasInput(index);
  if (!there) {
    fail(node, "has too few inputs: input " + llvm::Twine(index) + " is missing");
  }
  return there;
}

bool Resolver::hasOneOutput(const Node &node) {
  bool hasOne = node.outputs.size() == 1;
  if (!hasOne) {
    fail(node, "needs one output");
  }
  return hasOne;
}

/// Without a limit, loops in loops would fill any memory.
bool Resolver::mayUnroll(const Node &node) {
  constexpr int64_t most = 10'000;
  if (unrolledIterations == most) {
    fail(node, "takes the bodies of loops over sequences to more than " + llvm::Twine(most) + " iterations");
  }
  return unrolledIterations++ < most;
}

std::optional<Sequence> Resolver::sequenceIn(const Node &node) {
  if (!names(node, 0)) {
    return std::nullopt;
  }
  ResolvedValue resolved = resolvedValue(node.inputs.front());
  if (!resolved.sequence && resolved.tensor) { // else a problem of its node has been reported
    fail(node, "takes a tensor, where a sequence was expected");
  }
  return resolved.sequence;
}

Rule givesSequence(std::optional<Sequence> (*make)(Resolver &, const Node &)) {
  return [make](Resolver &r, const Node &node) {
    std::optional<Sequence> made = r.hasOneOutput(node) ? make(r, node) : std::nullopt;
    if (made && r.areTensors(node, made->items)) {
      r.bind(node.outputs.front(), {{}, *made});
    }
  };
}

Rule givesTensor(Value (*make)(Resolver &, const Node &, const Sequence &)) {
  return [make](Resolver &r, const Node &node) {
    std::optional<Sequence> resolved = r.hasOneOutput(node) ? r.sequenceIn(node) : std::nullopt;
    if (resolved) {
      r.bind(node.outputs.front(), {make(r, node, SequenceFormula(r.builder, node.loc).required(*resolved))});
    }
  };
}

} // namespace ingot::graph
