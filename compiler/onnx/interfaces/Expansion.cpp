// Copies subgraphs of nodes that become loops (GreedySearch and its kin). A copy finds sizes of its own, so that it
// loses the symbols that its model had for them and gets new ones when types are inferred.
#include "compiler/onnx/interfaces/Expansion.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"

#include "compiler/onnx/interfaces/Expansion.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

std::string inputsAttribute(StringRef name) { return ("onnx.inputs." + name).str(); }

std::string inputName(SubgraphHolder op, unsigned region, unsigned input) {
  auto names = op->getAttrOfType<ArrayAttr>(inputsAttribute(op.subgraphNames()[region]));
  return names && input < names.size() ? cast<StringAttr>(names[input]).str() : "";
}

FailureOr<SmallVector<Value>> copySubgraph(OpBuilder &b, Region &region, ValueRange arguments) {
  Block &block = region.front();
  IRMapping map;
  map.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    Operation *copy = b.clone(op, map);
    copy->walk([](Operation *inner) {
      for (StringRef name : {dataDependentSizeName, choicesName, growsName}) {
        inner->removeAttr(name);
      }
    });
    if (failed(updateTypes(copy))) {
      return failure();
    }
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value v) { return map.lookupOrDefault(v); });
}

} // namespace ingot::onnx
