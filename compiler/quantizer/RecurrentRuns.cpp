// Weights go to 63 only, so that no machine cuts the sums of their products in ONNX Runtime (docs/using/quantizing.md).
// They are signed, since OpenVINO takes zero points of rows for something else.
#include "compiler/quantizer/RecurrentRuns.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Weights.h"

namespace ingot::quantizer {

bool hasRunForm(const Model &model, const Layer &layer) {
  return layer.graph == 0 && layer.op == "LSTM" && intOf(model.proto.graph().node(layer.node), "layout", 0) == 0;
}

/// Turns the last two axes of weights.
static std::vector<int8_t> turned(llvm::ArrayRef<int8_t> values, llvm::ArrayRef<int64_t> dims) {
  auto rows = size_t(dims[1]), columns = size_t(dims[2]);
  std::vector<int8_t> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    size_t matrix = i / (rows * columns), row = i / columns % rows, column = i % columns;
    result[(matrix * columns + column) * rows + row] = values[i];
  }
  return result;
}

/// Quantizes weights to integers of seven bits.
static ByteWeights sevenBits(llvm::ArrayRef<float> values, const Layer &layer) {
  constexpr float kWider = 127.0F / 63;
  std::vector<float> least = quantizeWeights(values, layer, {}).scales;
  for (float &scale : least) {
    scale *= kWider;
  }
  return quantizeWeights(values, layer, {}, least);
}

void writeRunForms(Model &model, llvm::ArrayRef<Layer> layers) {
  constexpr int kFirstScale = 8; // of the operands: a scale and a zero point of W, and those of R
  pb::GraphProto &graph = *model.proto.mutable_graph();
  Names names(model.proto);
  for (const Layer &layer : layers) {
    pb::NodeProto &node = *graph.mutable_node(layer.node);
    node.set_op_type("DynamicQuantizeLSTM"), node.set_domain("com.microsoft");
    auto *attributes = node.mutable_attribute();
    attributes->erase(std::remove_if(attributes->begin(), attributes->end(),
                                     [](const pb::AttributeProto &each) { return each.name() == "layout"; }),
                      attributes->end()); // it is 0, and this operator has no other
    while (node.input_size() < kFirstScale + 4) {
      node.add_input("");
    }
    for (const auto &[operand, own] : weightsOf(layer)) {
      Index index(model, graph);
      ByteWeights weights = sevenBits(floatsOf(*index.weight(own.weight)), own);
      std::vector<float> scales; // directions share those of their rows
      for (int64_t direction = 0; direction < own.dims[0]; ++direction) {
        scales.insert(scales.end(), weights.scales.begin(), weights.scales.end());
      }
      std::vector<int64_t> dims{own.dims[0], own.dims[2], own.dims[1]}, rows{own.dims[0], own.dims[1]};
      int scale = kFirstScale + 2 * (operand - 1);
      node.set_input(operand, names.fresh(own.weight + "_quantized"));
      node.set_input(scale, names.fresh(own.weight + "_scale"));
      node.set_input(scale + 1, names.fresh(own.weight + "_zero_point"));
      *graph.add_initializer() =
          tensorOf<int8_t>(node.input(operand), importer::kInt8, dims, turned(weights.values, own.dims));
      *graph.add_initializer() = tensorOf<float>(node.input(scale), importer::kFloat, rows, scales);
      *graph.add_initializer() =
          tensorOf<int8_t>(node.input(scale + 1), importer::kInt8, rows, std::vector<int8_t>(scales.size()));
    }
  }
  if (!layers.empty()) {
    model.setOpset("com.microsoft", 1);
    model.dropUnused();
  }
}

} // namespace ingot::quantizer
