// Resolves nodes that make a tensor of a whole sequence: ConcatFromSequence and SequenceLength.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/expanded/Construct.h"

using namespace mlir;

namespace ingot::graph {

static Value length(Resolver &r, const Node &node, const Sequence &s) {
  return SequenceFormula(r.builder, node.loc).count(s);
}

static Value concatenate(Resolver &r, const Node &node, const Sequence &s) {
  int64_t axis = node.integer("axis", 0);
  bool isNew = node.integer("new_axis", 0) != 0;
  if (s.isEmpty()) {
    r.fail(node, "concatenates an empty sequence");
    return {};
  }
  if (s.isPacked()) {
    auto normal = onnx::normalAxis(axis, s.rank() + isNew);
    if (!normal || s.mixesRanks) {
      r.fail(node, normal ? "joins tensors of which only a run can tell how many axes they have"
                          : "has an axis outside of its tensors");
      return {};
    }
    SequenceFormula f(r.builder, node.loc);
    return isNew ? f.stacked(s, *normal) : f.joined(s, *normal);
  }
  Values items = s.items;
  size_t before = r.problems->additionCount();
  onnx::Formula f(r.builder, node.loc);
  if (isNew) {
    for (Value &item : items) {
      item = f.op("Unsqueeze", {item, onnx::makeIntegers(r.builder, f.loc, {axis})});
    }
  }
  Value all = f.op("Concat", items, {f.integer("axis", axis)});
  return r.problems->additionCount() == before ? all : Value();
}

void addConcatFromSequence(Rules &rules) {
  rules.add<onnx::ConcatFromSequenceOp>(givesTensor(concatenate));
  rules.add<onnx::SequenceLengthOp>(givesTensor(length));
}

} // namespace ingot::graph
