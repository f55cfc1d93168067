#include "compiler/quantizer/NarrowWeights.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Tables.h"
#include "compiler/quantizer/Weights.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace ingot::quantizer {
namespace {

/// Writes the weights of one graph. Those that several layers read alike are written once.
class Writer {
public:
  Writer(Model &model, pb::GraphProto &graph) : graph(graph), names(model.proto), index(model, graph), edits(graph) {}

  void writeHalf(const Layer &layer) {
    for (const auto &[operand, own] : weightsOf(layer)) {
      std::string &wide = widened[{own.weight, 0}];
      if (wide.empty()) {
        wide = names.fresh(own.weight + "_float");
        std::string half = names.fresh(own.weight + "_fp16");
        *graph.add_initializer() = halfOf(*index.weight(own.weight), half);
        setInt(makeNode(edits.before(0), "Cast", names.fresh(own.weight + "_Cast"), {half}, {wide}), "to",
               importer::kFloat);
      }
      graph.mutable_node(layer.node)->set_input(operand, wide);
    }
  }

  void writeFloat8(const Layer &layer) {
    for (const auto &[operand, own] : weightsOf(layer)) {
      Layer scaled = scaledBy(own);
      std::string &wide = widened[{own.weight, scaled.axis}];
      if (wide.empty()) {
        ByteWeights weights = float8Weights(floatsOf(*index.weight(own.weight)), scaled);
        std::string values = names.fresh(own.weight + "_fp8"), scale = names.fresh(own.weight + "_scale");
        wide = names.fresh(own.weight + "_dequantized");
        *graph.add_initializer() = tensorOf<int8_t>(values, importer::kFloat8E4M3FN, own.dims, weights.values);
        *graph.add_initializer() =
            tensorOf<float>(scale, importer::kFloat, int64_t(weights.scales.size()), weights.scales);
        setInt(makeNode(edits.before(0), "DequantizeLinear", names.fresh(own.weight + "_DequantizeLinear"),
                        {values, scale}, {wide}),
               "axis", scaled.axis);
      }
      graph.mutable_node(layer.node)->set_input(operand, wide);
    }
  }

private:
  pb::GraphProto &graph;
  Names names;
  Index index;
  Edits edits;
  std::map<std::pair<std::string, int>, std::string> widened; ///< floats by the weight and the axis of its scales
};

void writeAll(Model &model, llvm::ArrayRef<Layer> layers, void (Writer::*write)(const Layer &)) {
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    Writer writer(model, *graph);
    for (const Layer &layer : layers) {
      if (layer.graph == int(number)) {
        (writer.*write)(layer);
      }
    }
  }
  model.dropUnused();
}

} // namespace

pb::TensorProto halfOf(const pb::TensorProto &tensor, const std::string &name) {
  const support::FloatFormat &format = support::elementType(importer::kFloat16).format;
  std::vector<uint16_t> codes;
  for (float value : floatsOf(tensor)) {
    codes.push_back(uint16_t(format.encode(value)));
  }
  return tensorOf<uint16_t>(name, importer::kFloat16, dimsOf(tensor), codes);
}

double errorOfHalf(float value) {
  const support::FloatFormat &format = support::elementType(importer::kFloat16).format;
  return std::fabs(format.decode(format.encode(value)) - double(value));
}

void writeHalfWeights(Model &model, llvm::ArrayRef<Layer> layers) { writeAll(model, layers, &Writer::writeHalf); }
void writeFloat8Weights(Model &model, llvm::ArrayRef<Layer> layers) { writeAll(model, layers, &Writer::writeFloat8); }

} // namespace ingot::quantizer
