// Resolves nodes that make optional values and take the tensor or sequence out of them, and Identity of a sequence.
#include "compiler/onnx/Optional.h"
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/expanded/Construct.h"
#include "compiler/onnx/ops/Optional.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;

namespace ingot::graph {

static Value hasElement(Resolver &r, const Node &node, Value from) {
  Location loc = node.loc;
  if (onnx::optionalInput(from)) {
    return onnx::make<onnx::OptionalHasElementOp>(r.builder, loc, {from});
  }
  return r.truth(loc, onnx::present(from));
}

static Value elementOf(Resolver &r, const Node &node, Value from) {
  if (!onnx::present(from)) {
    r.fail(node, "takes the element of an optional value that is never there");
    return {};
  }
  return onnx::optionalInput(from) ? onnx::make<onnx::OptionalGetElementOp>(r.builder, node.loc, {from}) : from;
}

static void optional(Resolver &r, const Node &node) {
  auto inputs = r.inputsOf(node);
  if (!inputs) {
    return;
  }
  if (inputs->size() > 1 || node.outputs.size() != 1 || (inputs->empty() && node.kind == "OptionalGetElement")) {
    r.fail(node, "needs one output and at most one input");
    return;
  }
  for (NamedAttribute attribute : node.attributes) {
    if (node.kind != "Optional" || attribute.getName() != "type") {
      r.fail(node, "has the unknown attribute " + quoted(attribute.getName().getValue()));
      return;
    }
    if (auto element = dyn_cast<ArrayAttr>(attribute.getValue()); element && inputs->empty()) {
      if (element.empty()) {
        r.fail(node, "is of a sequence of tensors of an element type that is unsupported");
        return;
      }
      Sequence s;
      s.element = getElementTypeOrSelf(cast<TypeAttr>(element[0]).getValue());
      s.present = r.truth(node.loc, false);
      r.bind(node.outputs.front(), {{}, s});
      return;
    }
  }
  Value from = inputs->empty() ? Value() : Resolver::sourceOf(inputs->front());
  Value element = node.kind == "OptionalHasElement"   ? hasElement(r, node, from)
                  : node.kind == "OptionalGetElement" ? elementOf(r, node, from)
                  : from                              ? from
                                                      : onnx::makeNone(r.builder, node.loc);
  r.bind(node.outputs.front(), {element});
}

static void hasSequence(Resolver &r, const Node &node) {
  if (std::optional<Sequence> s = r.hasOneOutput(node) ? r.sequenceIn(node) : std::nullopt) {
    r.bind(node.outputs.front(), {s->present ? s->present : r.truth(node.loc, true)});
  }
}

/// Binds other names of a sequence, and optional values around it, to it.
static std::optional<Sequence> forwardedSequence(Resolver &r, const Node &node) {
  std::optional<Sequence> s = r.sequenceIn(node);
  return s && node.kind == "OptionalGetElement" ? SequenceFormula(r.builder, node.loc).required(*s) : s;
}

void addOptional(Rules &rules) {
  rules.add<onnx::OptionalOp>(optional);
  rules.add<onnx::OptionalHasElementOp>(optional);
  rules.add<onnx::OptionalGetElementOp>(optional);
  rules.addOfSequences<onnx::OptionalOp>(givesSequence(forwardedSequence));
  rules.addOfSequences<onnx::OptionalHasElementOp>(hasSequence);
  rules.addOfSequences<onnx::OptionalGetElementOp>(givesSequence(forwardedSequence));
  rules.addOfSequences<onnx::IdentityOp>(givesSequence(forwardedSequence));
}

} // namespace ingot::graph
