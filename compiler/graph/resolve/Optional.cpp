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

Value Resolver::sourceOf(Value v) {
  while (v && v.getDefiningOp<onnx::IdentityOp>()) {
    v = v.getDefiningOp()->getOperand(0);
  }
  return v;
}

bool Resolver::mayBeAbsent(Value v) { return !onnx::present(v) || onnx::optionalInput(sourceOf(v)); }

Value Resolver::truth(Location loc, bool v) {
  auto type = onnx::tensorOf({}, builder.getI1Type());
  return onnx::makeConstant(builder, loc, onnx::constantFromIntegers(type, {v}));
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
