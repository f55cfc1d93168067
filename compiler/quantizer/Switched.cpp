#include "compiler/quantizer/Switched.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::quantizer {
namespace {

class Writer {
public:
  explicit Writer(Model &model) : graph(*model.proto.mutable_graph()), names(model.proto), edits(graph) {}

  void addSwitch(const Layer &layer, const Rounded &rounded);

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
  Edits edits;
};

void Writer::addSwitch(const Layer &layer, const Rounded &rounded) {
  pb::ValueInfoProto &input = *graph.add_input();
  input.set_name(names.fresh("quantized_" + std::to_string(layer.node)));
  input.mutable_type()->mutable_tensor_type()->set_elem_type(importer::kBool);
  input.mutable_type()->mutable_tensor_type()->mutable_shape();

  if (rounded.input) {
    const Encoding &encoding = *rounded.input;
    std::string scale = add(tensorOf<float>("", importer::kFloat, {}, encoding.scale), layer.x + "_scale");
    int32_t type = encoding.isSigned ? importer::kInt8 : importer::kUInt8;
    std::string zero = add(tensorOf<uint8_t>("", type, {}, uint8_t(encoding.zero)), layer.x + "_zero_point");
    std::string quantized = names.fresh(layer.x + "_quantized"), value = names.fresh(layer.x + "_dequantized");
    makeNode(edits.before(layer.node), "QuantizeLinear", names.fresh(quantized), {layer.x, scale, zero}, {quantized});
    makeNode(edits.before(layer.node), "DequantizeLinear", names.fresh(value), {quantized, scale, zero}, {value});
    choose(layer, 0, input.name(), value);
  }
  for (const auto &[weight, values] : llvm::zip(weightsOf(layer), rounded.weights)) {
    const auto &[operand, own] = weight;
    choose(layer, operand, input.name(),
           add(tensorOf<float>("", importer::kFloat, own.dims, values), own.weight + "_rounded"));
  }
}

} // namespace

void addSwitches(Model &model, llvm::ArrayRef<Layer> layers,
                 llvm::function_ref<Rounded(const Index &index, const Layer &layer)> round) {
  Index index(model, *model.proto.mutable_graph());
  Writer writer(model);
  for (const Layer &layer : layers) {
    writer.addSwitch(layer, round(index, layer));
  }
}

} // namespace ingot::quantizer
