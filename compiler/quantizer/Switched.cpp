#include "compiler/quantizer/Switched.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Weights.h"

namespace ingot::quantizer {
namespace {

class Writer {
public:
  explicit Writer(Model &model)
      : graph(*model.proto.mutable_graph()), names(model.proto), index(model, graph), edits(graph) {}

  void addSwitch(const Layer &layer, const Encoding &encoding, WeightOptions options);

private:
  std::string add(pb::TensorProto tensor, const std::string &stem) {
    tensor.set_name(names.fresh(stem));
    *graph.add_initializer() = tensor;
    return tensor.name();
  }
  /// Makes the layer read `rounded` where the switch is on, else its own operand.
  void choose(const Layer &layer, int operand, const std::string &on, const std::string &rounded) {
    pb::NodeProto &node = *graph.mutable_node(layer.node);
    std::string chosen = names.fresh(rounded + "_chosen");
    makeNode(edits.before(layer.node), "Where", names.fresh(chosen + "_Where"), {on, rounded, node.input(operand)},
             {chosen});
    node.set_input(operand, chosen);
  }

  pb::GraphProto &graph;
  Names names;
  Index index;
  Edits edits;
};

void Writer::addSwitch(const Layer &layer, const Encoding &encoding, WeightOptions options) {
  pb::ValueInfoProto &input = *graph.add_input();
  input.set_name(names.fresh("quantized_" + std::to_string(layer.node)));
  input.mutable_type()->mutable_tensor_type()->set_elem_type(importer::kBool);
  input.mutable_type()->mutable_tensor_type()->mutable_shape();

  std::string scale = add(tensorOf<float>("", importer::kFloat, {}, encoding.scale), layer.x + "_scale");
  int32_t type = encoding.isSigned ? importer::kInt8 : importer::kUInt8;
  std::string zero = add(tensorOf<uint8_t>("", type, {}, uint8_t(encoding.zero)), layer.x + "_zero_point");
  std::string quantized = names.fresh(layer.x + "_quantized"), rounded = names.fresh(layer.x + "_dequantized");
  makeNode(edits.before(layer.node), "QuantizeLinear", names.fresh(quantized), {layer.x, scale, zero}, {quantized});
  makeNode(edits.before(layer.node), "DequantizeLinear", names.fresh(rounded), {quantized, scale, zero}, {rounded});
  choose(layer, 0, input.name(), rounded);

  for (const auto &[operand, own] : weightsOf(layer)) {
    Int8Weights weights = quantizeWeights(floatsOf(*index.weight(own.weight)), own, options);
    AxisPlaces strides(own.dims, own.axis);
    std::vector<float> values(weights.values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = float(weights.values[i]) * weights.scales[options.perTensor ? 0 : strides.place(i)];
    }
    choose(layer, operand, input.name(),
           add(tensorOf<float>("", importer::kFloat, own.dims, values), own.weight + "_rounded"));
  }
}

} // namespace

void addSwitches(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Encoding> &encodings,
                 WeightOptions options) {
  Writer writer(model);
  for (const Layer &layer : layers) {
    writer.addSwitch(layer, encodings.at(layer.x), options);
  }
}

} // namespace ingot::quantizer
