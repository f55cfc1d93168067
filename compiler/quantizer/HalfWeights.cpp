#include "compiler/quantizer/HalfWeights.h"
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::quantizer {
namespace {

/// Writes the weights of one graph. Those that several layers read are written once.
class Writer {
public:
  Writer(Model &model, pb::GraphProto &graph) : graph(graph), names(model.proto), index(model, graph), edits(graph) {}

  void write(const Layer &layer, int operand, const std::string &weight) {
    auto [known, isNew] = widened.try_emplace(weight);
    if (isNew) {
      std::string half = addHalf(*index.weight(weight));
      known->second = names.fresh(weight + "_float");
      setInt(makeNode(edits.before(0), "Cast", names.fresh(weight + "_Cast"), {half}, {known->second}), "to",
             importer::kFloat);
    }
    graph.mutable_node(layer.node)->set_input(operand, known->second);
  }

private:
  std::string addHalf(const pb::TensorProto &tensor) {
    const support::FloatFormat &format = support::elementType(importer::kFloat16).format;
    std::vector<uint16_t> codes;
    for (float value : floatsOf(tensor)) {
      codes.push_back(uint16_t(format.encode(value)));
    }
    std::string name = names.fresh(tensor.name() + "_fp16");
    std::vector<int64_t> dims(dimsOf(tensor));
    *graph.add_initializer() = tensorOf<uint16_t>(name, importer::kFloat16, dims, codes);
    return name;
  }

  pb::GraphProto &graph;
  Names names;
  Index index;
  Edits edits;
  std::map<std::string, std::string> widened; ///< for each weight the result of its Cast
};

} // namespace

void writeHalfWeights(Model &model, llvm::ArrayRef<Layer> layers) {
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    Writer writer(model, *graph);
    for (const Layer &layer : layers) {
      if (layer.graph != int(number)) {
        continue;
      }
      for (const auto &[operand, own] : weightsOf(layer)) {
        writer.write(layer, operand, own.weight);
      }
    }
  }
  model.dropUnused();
}

} // namespace ingot::quantizer
