// Optional values. All of them come from the graph's optional inputs or from Optional nodes, and nothing but these
// nodes takes one: whether it is there is known here, except for an input, of which each run decides. An optional
// tensor that is there is the tensor; one that is not is none.
#include "compiler/onnx/Optional.h"
#include "compiler/importer/Importer.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Optional.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;

namespace ingot::importer {

/// The value behind identities.
static Value sourceOf(Value v) {
  while (v && v.getDefiningOp<onnx::IdentityOp>()) {
    v = v.getDefiningOp()->getOperand(0);
  }
  return v;
}

bool Importer::mayBeAbsent(Value v) { return !onnx::present(v) || onnx::optionalInput(sourceOf(v)); }

Importer::Value Importer::hasElement(const Node &node, Value from) {
  Location loc = locationOf(node);
  if (onnx::optionalInput(from)) {
    return onnx::make<onnx::OptionalHasElementOp>(builder, loc, {from});
  }
  return truth(loc, onnx::present(from));
}

Importer::Value Importer::truth(Location loc, bool v) {
  auto type = onnx::tensorOf({}, builder.getI1Type());
  return onnx::makeConstant(builder, loc, onnx::constantFromIntegers(type, {v}));
}

Importer::Value Importer::elementOf(const Node &node, Value from) {
  if (!onnx::present(from)) {
    problems->add(node.where(), "takes the element of an optional value that is never there");
    return {};
  }
  return onnx::optionalInput(from) ? onnx::make<onnx::OptionalGetElementOp>(builder, locationOf(node), {from}) : from;
}

void Importer::optional(const Node &node) {
  auto inputs = inputsOf(node);
  if (!inputs) {
    return;
  }
  if (inputs->size() > 1 || node.outputs.size() != 1 || (inputs->empty() && node.op == "OptionalGetElement")) {
    problems->add(node.where(), "needs one output and at most one input");
    return;
  }
  for (const auto &[name, proto] : node.attributes) {
    if (node.op != "Optional" || name != "type") {
      problems->add(node.where(), "has the unknown attribute " + quoted(name));
      return;
    }
    if (inputs->empty() && proto->tp().has_sequence_type()) {
      Sequence s;
      s.element = elementType(context, proto->tp().sequence_type().elem_type().tensor_type().elem_type());
      s.present = truth(locationOf(node), false);
      if (s.element) {
        sequences[node.outputs[0]] = s;
      } else {
        problems->add(node.where(), "is of a sequence of tensors of an element type that is unsupported");
      }
      return;
    }
  }
  Value from = inputs->empty() ? Value() : sourceOf(inputs->front());
  values[node.outputs[0]] = node.op == "OptionalHasElement"   ? hasElement(node, from)
                            : node.op == "OptionalGetElement" ? elementOf(node, from)
                            : from                            ? from
                                                              : onnx::makeNone(builder, locationOf(node));
}

/// Complains about nodes that take an optional input as if it were a tensor, or hand it on.
void Importer::optionalUses(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    SmallVector<Value> same;
    if (onnx::optionalInput(argument)) {
      same.push_back(argument);
    }
    while (!same.empty()) {
      for (Operation *user : same.pop_back_val().getUsers()) {
        if (isa<onnx::IdentityOp>(user)) {
          same.push_back(user->getResult(0));
        } else if (!isa<onnx::OptionalHasElementOp, onnx::OptionalGetElementOp>(user)) {
          Operation *named = isa<onnx::YieldOp>(user) ? user->getParentOp() : user;
          problems->add({onnx::nodeOf(named->getLoc()), named->getName().stripDialect().str(), 0},
                        "takes an optional input of the model, which only OptionalHasElement and OptionalGetElement "
                        "can do here");
        }
      }
    }
  }
}

} // namespace ingot::importer
