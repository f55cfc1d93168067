// Resolves optional values. All of them come from the graph's optional inputs or from Optional nodes, and nothing but
// these nodes takes one. So it is known here whether a value is there, except for an input, which each run gives or
// not. An optional tensor that is there is the tensor; one that is not there is no value.
#include "compiler/onnx/Optional.h"
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Optional.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the value from which Identity ops make `v`.
static Value sourceOf(Value v) {
  while (v && v.getDefiningOp<onnx::IdentityOp>()) {
    v = v.getDefiningOp()->getOperand(0);
  }
  return v;
}

bool Resolver::mayBeAbsent(Value v) { return !onnx::present(v) || onnx::optionalInput(sourceOf(v)); }

Resolver::Value Resolver::hasElement(const Node &node, Value from) {
  Location loc = node.loc;
  if (onnx::optionalInput(from)) {
    return onnx::make<onnx::OptionalHasElementOp>(builder, loc, {from});
  }
  return truth(loc, onnx::present(from));
}

Resolver::Value Resolver::truth(Location loc, bool v) {
  auto type = onnx::tensorOf({}, builder.getI1Type());
  return onnx::makeConstant(builder, loc, onnx::constantFromIntegers(type, {v}));
}

Resolver::Value Resolver::elementOf(const Node &node, Value from) {
  if (!onnx::present(from)) {
    problems->add(node.where(), "takes the element of an optional value that is never there");
    return {};
  }
  return onnx::optionalInput(from) ? onnx::make<onnx::OptionalGetElementOp>(builder, node.loc, {from}) : from;
}

void Resolver::optional(const Node &node) {
  auto inputs = inputsOf(node);
  if (!inputs) {
    return;
  }
  if (inputs->size() > 1 || node.outputs.size() != 1 || (inputs->empty() && node.kind == "OptionalGetElement")) {
    problems->add(node.where(), "needs one output and at most one input");
    return;
  }
  for (NamedAttribute attribute : node.attributes) {
    if (node.kind != "Optional" || attribute.getName() != "type") {
      problems->add(node.where(), "has the unknown attribute " + quoted(attribute.getName().getValue()));
      return;
    }
    if (auto element = dyn_cast<ArrayAttr>(attribute.getValue()); element && inputs->empty()) {
      if (element.empty()) {
        problems->add(node.where(), "is of a sequence of tensors of an element type that is unsupported");
        return;
      }
      Sequence s;
      s.element = getElementTypeOrSelf(cast<TypeAttr>(element[0]).getValue());
      s.present = truth(node.loc, false);
      sequences[node.outputs[0]] = s;
      return;
    }
  }
  Value from = inputs->empty() ? Value() : sourceOf(inputs->front());
  values[node.outputs[0]] = node.kind == "OptionalHasElement"   ? hasElement(node, from)
                            : node.kind == "OptionalGetElement" ? elementOf(node, from)
                            : from                              ? from
                                                                : onnx::makeNone(builder, node.loc);
}

/// Adds problems for nodes that take an optional input as if it were a tensor, or hand it on.
void Resolver::optionalUses() {
  for (BlockArgument argument : function.getArguments()) {
    SmallVector<Value> same;
    if (onnx::optionalInput(argument)) {
      same.push_back(argument);
    }
    while (!same.empty()) {
      for (Operation *user : same.pop_back_val().getUsers()) {
        if (isa<onnx::IdentityOp>(user)) {
          same.push_back(user->getResult(0));
        } else if (!isa<onnx::NodeOp, onnx::OptionalHasElementOp, onnx::OptionalGetElementOp>(user)) {
          Operation *named = isa<onnx::YieldOp>(user) ? user->getParentOp() : user;
          problems->add({onnx::nodeOf(named->getLoc()), named->getName().stripDialect().str(), 0},
                        "takes an optional input of the model, which only OptionalHasElement and OptionalGetElement "
                        "can do here");
        }
      }
    }
  }
}

} // namespace ingot::graph
