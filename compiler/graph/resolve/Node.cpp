#include "compiler/graph/resolve/Node.h"

using namespace mlir;

namespace ingot::graph {

int Subgraph::numberRank() const {
  auto type = inputTypes.empty() ? RankedTensorType() : dyn_cast_or_null<RankedTensorType>(inputTypes.front());
  return type && type.getRank() == 1 ? 1 : 0;
}

static Subgraph subgraphOf(DictionaryAttr described, Block &block) {
  auto names = [&](StringRef attribute) {
    return llvm::map_to_vector<6>(described.getAs<ArrayAttr>(attribute).getAsRange<StringAttr>(),
                                  [](StringAttr name) { return name.getValue(); });
  };
  auto types = [&](StringRef attribute) {
    return llvm::map_to_vector<6>(described.getAs<ArrayAttr>(attribute).getAsRange<TypeAttr>(), [](TypeAttr type) {
      return isa<NoneType>(type.getValue()) ? Type() : type.getValue();
    });
  };
  Subgraph graph{described.getAs<StringAttr>("name").getValue(), &block, {}, {}, {}, {}, {}, {}};
  llvm::append_range(graph.inputNames, names("inputs"));
  llvm::append_range(graph.outputNames, names("outputs"));
  llvm::append_range(graph.inputTypes, types("input_types"));
  llvm::append_range(graph.outputTypes, types("output_types"));
  llvm::append_range(graph.inputs, block.getArguments());
  llvm::append_range(graph.outputs, block.getTerminator()->getOperands());
  return graph;
}

Node::Node(onnx::NodeOp op)
    : written(op), loc(op.getLoc()), kind(op.getKind()), domain(op.getDomain()),
      opset(static_cast<int64_t>(op.getOpset())), outputs(op->getResults()), attributes(op.getGiven()),
      inputNames(op.getInputNames()), outputNames(op.getOutputNames()) {
  OperandRange operands = op->getOperands();
  for (auto name : inputNames.getAsRange<StringAttr>()) {
    bool isThere = !name.getValue().empty();
    inputs.push_back(isThere ? operands.front() : Value());
    operands = operands.drop_front(isThere);
  }
  for (auto [described, region] : llvm::zip_equal(op.getSubgraphs().getAsRange<DictionaryAttr>(), op->getRegions())) {
    subgraphs.push_back(subgraphOf(described, region.front()));
  }
}

int64_t Node::integer(StringRef attribute, int64_t otherwise) const {
  auto number = attributes.getAs<IntegerAttr>(attribute);
  return number ? number.getInt() : otherwise;
}

Where Node::where() const {
  auto named = dyn_cast<NameLoc>(loc); // else the text was written by hand
  std::string op = (domain + (domain.empty() ? "" : ".") + kind).str();
  return {named ? named.getName().str() : nameOf(outputNames, 0).str(), op, opset};
}

} // namespace ingot::graph
