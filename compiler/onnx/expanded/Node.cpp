// Verifies onnx.Node, a node as the file has it: one name for each input and output, and for each subgraph a region
// whose arguments and yields have the names and types that the attributes list.
#include "compiler/onnx/expanded/Node.h"
#include "compiler/onnx/Family.h"
#define GET_OP_CLASSES
#include "compiler/onnx/expanded/Node.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Whether a region has what is said of the subgraph.
static bool isDescribed(Region *region, Attribute said) {
  auto graph = dyn_cast<DictionaryAttr>(said);
  auto size = [&](StringRef list) {
    auto array = graph.getAs<ArrayAttr>(list);
    return array ? static_cast<int64_t>(array.size()) : -1;
  };
  Block &block = region->front();
  auto end = block.mightHaveTerminator() ? dyn_cast<NodeYieldOp>(block.getTerminator()) : NodeYieldOp();
  return end && graph && graph.getAs<StringAttr>("name") && size("inputs") == block.getNumArguments() &&
         size("input_types") == block.getNumArguments() && size("outputs") == end->getNumOperands() &&
         size("output_types") == end->getNumOperands();
}

LogicalResult NodeOp::verifyRegions() {
  auto isGiven = [](Attribute name) { return !cast<StringAttr>(name).getValue().empty(); };
  if (llvm::count_if(getInputNames(), isGiven) != getNumOperands() || getOutputNames().size() != getNumResults()) {
    return emitOpError("needs a name for each input and output");
  }
  bool hasAll = llvm::all_of_zip(getRegions(), getSubgraphs(), isDescribed);
  return hasAll ? success() : emitOpError("needs names and types of each subgraph's inputs and outputs");
}

void registerNode(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/expanded/Node.cpp.inc"
      >();
}

} // namespace ingot::onnx
