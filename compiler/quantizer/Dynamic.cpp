#include "compiler/quantizer/Dynamic.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::quantizer {
namespace {

std::vector<int8_t> transposed(llvm::ArrayRef<int8_t> values, size_t rows, size_t columns) {
  std::vector<int8_t> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    result[i % columns * rows + i / columns] = values[i];
  }
  return result;
}

/// Writes the layers of one graph.
class Writer {
public:
  Writer(Model &model, pb::GraphProto &graph, WeightOptions options)
      : graph(graph), names(model.proto), index(model, graph), edits(graph), options(options) {}
  void write(const Layer &layer);
  void writeRecurrent(const Layer &layer);

private:
  struct Activation {
    std::string values, scale, zero;
  };
  /// Returns the quantized value, which is one for all layers that read the value.
  const Activation &activation(const std::string &value);
  std::string addConstant(pb::TensorProto tensor, const std::string &stem) {
    tensor.set_name(names.fresh(stem));
    *graph.add_initializer() = tensor;
    return tensor.name();
  }
  /// Adds a node in the layer's place with one result, whose name is returned; empty `result`: a new name.
  std::string add(int place, llvm::StringRef op, std::initializer_list<std::string> inputs, const std::string &stem,
                  const std::string &result = "");

  pb::GraphProto &graph;
  Names names;
  Index index;
  Edits edits;
  WeightOptions options;
  std::map<std::string, Activation> activations;
};

const Writer::Activation &Writer::activation(const std::string &value) {
  Activation &own = activations[value];
  if (own.values.empty()) {
    own = {names.fresh(value + "_quantized"), names.fresh(value + "_scale"), names.fresh(value + "_zero_point")};
    makeNode(edits.after(index.producer(value)), "DynamicQuantizeLinear", names.fresh(value + "_DynamicQuantizeLinear"),
             {value}, {own.values, own.scale, own.zero});
  }
  return own;
}

std::string Writer::add(int place, llvm::StringRef op, std::initializer_list<std::string> inputs,
                        const std::string &stem, const std::string &result) {
  std::string name = result.empty() ? names.fresh(stem) : result;
  makeNode(edits.before(place), op, names.fresh(name + "_" + op.str()), inputs, {name});
  return name;
}

void Writer::write(const Layer &layer) {
  const pb::NodeProto node = graph.node(layer.node); // what is added may move it
  bool isConv = layer.op == "Conv";
  ByteWeights weights = quantizeWeights(floatsOf(*index.weight(layer.weight)), layer, options);
  std::vector<int64_t> dims = layer.dims;
  if (!isConv && layer.axis == 0) { // MatMulInteger does not transpose
    weights.values = transposed(weights.values, size_t(dims[0]), size_t(dims[1]));
    std::swap(dims[0], dims[1]);
  }
  std::string w = addConstant(tensorOf<int8_t>("", importer::kInt8, dims, weights.values), layer.weight + "_quantized");
  // Along the channels of the result, which are followed by the axes of an image.
  std::vector<int64_t> along(isConv ? dims.size() - 1 : 1, 1);
  along[0] = options.perTensor ? 1 : layer.dims[size_t(layer.axis)];
  std::string wScale =
      addConstant(tensorOf<float>("", importer::kFloat, along, weights.scales), layer.weight + "_scale");
  const Activation &x = activation(layer.x);
  bool hasBias = node.input_size() > 2 && !node.input(2).empty();
  std::string sums = names.fresh(layer.y + "_sums");
  pb::NodeProto &product = makeNode(edits.before(layer.node), isConv ? "ConvInteger" : "MatMulInteger", node.name(),
                                    {x.values, w, x.zero}, {sums});
  if (isConv) {
    *product.mutable_attribute() = node.attribute();
  }
  std::string whole = names.fresh(sums + "_float");
  setInt(makeNode(edits.before(layer.node), "Cast", names.fresh(whole + "_Cast"), {sums}, {whole}), "to",
         importer::kFloat);
  std::string factor = add(layer.node, "Mul", {x.scale, wScale}, layer.y + "_factor");
  std::string product_ = add(layer.node, "Mul", {whole, factor}, layer.y + "_scaled", hasBias ? "" : layer.y);
  if (hasBias) {
    std::string bias = node.input(2);
    if (isConv) {
      along[0] = layer.dims[0];
      const pb::TensorProto *own = index.weight(bias);
      if (own) {
        bias = addConstant(tensorOf<float>("", importer::kFloat, along, floatsOf(*own)), bias + "_along");
      } else {
        std::string shape =
            addConstant(tensorOf<int64_t>("", importer::kInt64, int64_t(along.size()), along), layer.y + "_bias_shape");
        bias = add(layer.node, "Reshape", {bias, shape}, bias + "_along");
      }
    }
    add(layer.node, "Add", {product_, bias}, "", layer.y);
  }
  edits.drop(layer.node);
}

/// What is quantized is dequantized in front of the node: there is no operator that takes the sums of its first
/// product.
void Writer::writeRecurrent(const Layer &layer) {
  const Activation &x = activation(layer.x);
  pb::NodeProto &node = *graph.mutable_node(layer.node);
  node.set_input(0, add(layer.node, "DequantizeLinear", {x.values, x.scale, x.zero}, layer.x + "_dequantized"));
  for (const auto &[operand, own] : weightsOf(layer)) {
    ByteWeights weights = quantizeWeights(floatsOf(*index.weight(own.weight)), own, options);
    std::vector<int64_t> along(options.perTensor ? 0 : 1, own.dims[size_t(own.axis)]);
    std::string w =
        addConstant(tensorOf<int8_t>("", importer::kInt8, own.dims, weights.values), own.weight + "_quantized");
    std::string scale =
        addConstant(tensorOf<float>("", importer::kFloat, along, weights.scales), own.weight + "_scale");
    std::string result = names.fresh(own.weight + "_dequantized");
    pb::NodeProto &dequantize = makeNode(edits.before(layer.node), "DequantizeLinear",
                                         names.fresh(result + "_DequantizeLinear"), {w, scale}, {result});
    if (!options.perTensor) {
      setInt(dequantize, "axis", own.axis);
    }
    node.set_input(operand, result);
  }
}

} // namespace

void writeDynamic(Model &model, llvm::ArrayRef<Layer> layers, WeightOptions options) {
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    Writer writer(model, *graph, options);
    for (const Layer &layer : layers) {
      if (layer.graph == int(number)) {
        layer.isRecurrent() ? writer.writeRecurrent(layer) : writer.write(layer);
      }
    }
  }
  model.dropUnused();
}

} // namespace ingot::quantizer
