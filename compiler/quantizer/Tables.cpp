#include "compiler/quantizer/Tables.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::quantizer {
namespace {

/// Writes the tables of one graph. Those that several nodes read are written once.
class Writer {
public:
  Writer(Model &model, pb::GraphProto &graph) : graph(graph), names(model.proto), index(model, graph), edits(graph) {}

  void write(const Layer &layer) {
    const Table &table = tableOf(layer);
    pb::NodeProto &node = *graph.mutable_node(layer.node);
    std::string result = node.output(0), gathered = names.fresh(result + "_quantized");
    node.set_input(0, table.values);
    node.set_output(0, gathered);
    pb::NodeProto &dequantize = makeNode(edits.after(layer.node), "DequantizeLinear",
                                         names.fresh(result + "_DequantizeLinear"), {gathered, table.scale}, {result});
    setInt(dequantize, "axis", -1);
  }

private:
  struct Table {
    std::string values, scale;
  };

  const Table &tableOf(const Layer &layer) {
    auto [entry, isNew] = tables.try_emplace(layer.weight);
    if (!isNew) {
      return entry->second;
    }
    ByteWeights weights = quantizeWeights(floatsOf(*index.weight(layer.weight)), scaledBy(layer), {});
    entry->second = {names.fresh(layer.weight + "_quantized"), names.fresh(layer.weight + "_scale")};
    *graph.add_initializer() = tensorOf<int8_t>(entry->second.values, importer::kInt8, layer.dims, weights.values);
    *graph.add_initializer() =
        tensorOf<float>(entry->second.scale, importer::kFloat, int64_t(weights.scales.size()), weights.scales);
    return entry->second;
  }

  pb::GraphProto &graph;
  Names names;
  Index index;
  Edits edits;
  std::map<std::string, Table> tables;
};

} // namespace

void writeTables(Model &model, llvm::ArrayRef<Layer> tables) {
  std::vector<Layer> found = tablesOf(model, kLeastOfByteTable); // nodes have other numbers by now
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    Writer writer(model, *graph);
    for (const Layer &layer : found) {
      bool isWanted = llvm::any_of(tables, [&](const Layer &other) { return other.name == layer.name; });
      if (layer.graph == int(number) && isWanted) {
        writer.write(layer);
      }
    }
  }
  model.dropUnused();
}

} // namespace ingot::quantizer
