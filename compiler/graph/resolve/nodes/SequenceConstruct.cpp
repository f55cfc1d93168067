// Resolves nodes that make a sequence of tensors that are there: SequenceConstruct and SequenceEmpty.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/expanded/Construct.h"

using namespace mlir;

namespace ingot::graph {

static std::optional<Sequence> listedSequence(Resolver &r, const Node &node) {
  bool areNamed = llvm::all_of(llvm::seq(node.inputs.size()), [&](size_t i) { return r.names(node, i); });
  std::optional<Values> items = areNamed ? r.inputsOf(node) : std::nullopt;
  if (!items) {
    return std::nullopt;
  }
  Sequence s;
  s.items = std::move(*items);
  int64_t number = node.integer("dtype", 1);
  s.element = s.items.empty() ? onnx::elementOfNumber(static_cast<int32_t>(number), r.builder.getContext())
                              : onnx::elementOf(s.items.front());
  if (!s.element) {
    r.fail(node, "makes a sequence of element type " + llvm::Twine(number) + ", which is unsupported");
    return std::nullopt;
  }
  if (llvm::any_of(s.items, [&](Value item) { return onnx::elementOf(item) != s.element; })) {
    r.fail(node, "makes a sequence of tensors of several element types");
    return std::nullopt;
  }
  return s;
}

void addSequenceConstruct(Rules &rules) {
  rules.add<onnx::SequenceConstructOp>(givesSequence(listedSequence));
  rules.add<onnx::SequenceEmptyOp>(givesSequence(listedSequence));
}

} // namespace ingot::graph
