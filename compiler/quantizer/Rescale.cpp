#include "compiler/quantizer/Rescale.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace ingot::quantizer {
namespace {

/// How a positive factor of a result goes through an operator.
enum class Way {
  No,
  Through,   ///< from the first operand
  Pooled,    ///< from the first operand, where the channels lie along the second axis
  Weights,   ///< into weights and bias
  Normalize, ///< into scale and bias, the operands behind the first one
  Sum,       ///< into both operands
  Product,   ///< into either operand
};

Way wayOf(const pb::NodeProto &node) {
  if (!importer::plainDomain(node.domain()).empty()) {
    return Way::No;
  }
  return llvm::StringSwitch<Way>(node.op_type())
      .Cases({"Relu", "LeakyRelu", "Identity", "PRelu"}, Way::Through)
      .Cases({"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"}, Way::Pooled)
      .Cases({"Conv", "Gemm", "MatMul"}, Way::Weights)
      .Case("LayerNormalization", Way::Normalize)
      .Case("Add", Way::Sum)
      .Case("Mul", Way::Product)
      .Default(Way::No);
}

class Search {
public:
  Search(const Index &index, const pb::GraphProto &graph, const Scaled &scaled)
      : index(index), graph(graph), fromEnd(scaled.fromEnd), isSecond(scaled.isSecond), channels(scaled.channels),
        products(scaled.products) {}

  bool visit(const std::string &value, size_t readers) {
    int number = index.producer(value);
    if (number < 0 || index.isOutput(value) || index.uses(value).size() != readers ||
        llvm::any_of(index.uses(value), [](const Index::Use &use) { return use.operand < 0; })) {
      return false;
    }
    const pb::NodeProto &node = graph.node(number);
    if (node.output_size() != 1 && node.op_type() != "LayerNormalization") {
      return false;
    }
    places.values.push_back(value);
    switch (wayOf(node)) {
    case Way::No:
      return false;
    case Way::Through:
      return visit(node.input(0), 1);
    case Way::Pooled: // along all axes but the first two
      return isSecond && fromEnd > 1 && visit(node.input(0), 1);
    case Way::Weights:
      return weights(number, node);
    case Way::Normalize:
      return fromEnd == 1 && node.output(0) == value && normalization(number, node);
    case Way::Sum:
      return operand(number, node, 0) && operand(number, node, 1);
    case Way::Product:
      return product(number, node);
    }
    return false;
  }

  ScalePlaces places;

private:
  /// Takes a constant that has a value for each channel along `axis`.
  bool take(int number, const pb::NodeProto &node, int operand, int axis) {
    const pb::TensorProto *tensor = index.weight(node.input(operand));
    if (!tensor || axis < 0 || axis >= tensor->dims_size() || tensor->dims(axis) != channels) {
      return false;
    }
    places.operands.push_back({number, operand, axis});
    return true;
  }

  bool weights(int number, const pb::NodeProto &node) {
    bool isConv = node.op_type() == "Conv", isTransposed = node.op_type() == "Gemm" && intOf(node, "transB", 0) != 0;
    const pb::TensorProto *weight = products.count(number) ? index.weight(node.input(1)) : nullptr;
    if (!weight || (isConv ? !isSecond : fromEnd != 1 || weight->dims_size() != 2) ||
        !take(number, node, 1, isConv || isTransposed ? 0 : 1)) {
      return false;
    }
    bool hasBias = node.input_size() > 2 && !node.input(2).empty();
    const pb::TensorProto *bias = hasBias ? index.weight(node.input(2)) : nullptr;
    return !hasBias || (bias && take(number, node, 2, bias->dims_size() - 1));
  }

  bool normalization(int number, const pb::NodeProto &node) {
    for (int output = 1; output < node.output_size(); ++output) {
      if (!node.output(output).empty() &&
          (index.isOutput(node.output(output)) || !index.uses(node.output(output)).empty())) {
        return false;
      }
    }
    bool hasBias = node.input_size() > 2 && !node.input(2).empty();
    return take(number, node, 1, 0) && (!hasBias || take(number, node, 2, 0));
  }

  bool operand(int number, const pb::NodeProto &node, int operand) {
    const pb::TensorProto *constant = index.weight(node.input(operand));
    return constant ? take(number, node, operand, constant->dims_size() - fromEnd) : visit(node.input(operand), 1);
  }

  bool product(int number, const pb::NodeProto &node) {
    for (int operand : {0, 1}) {
      // A constant of fewer channels than there are cannot have the factor, which then goes into the other operand.
      ScalePlaces before = places;
      if (node.input(0) != node.input(1) && this->operand(number, node, operand)) {
        return true;
      }
      places = std::move(before);
    }
    return false;
  }

  const Index &index;
  const pb::GraphProto &graph;
  int fromEnd; ///< the number of the channels' axis from the end, from 1 on
  bool isSecond;
  int64_t channels;
  const std::set<int> &products;
};

} // namespace

std::optional<ScalePlaces> placesOf(const Index &index, const pb::GraphProto &graph, const Scaled &scaled) {
  Search search(index, graph, scaled);
  return search.visit(scaled.value, scaled.readers) ? std::optional(std::move(search.places)) : std::nullopt;
}

void replaceOperand(Model &model, Names &names, const Index &index, int number, int operand,
                    llvm::ArrayRef<float> values) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  pb::NodeProto &node = *graph.mutable_node(number);
  pb::TensorProto &tensor = *index.weight(node.input(operand));
  if (index.uses(tensor.name()).size() == 1 && !index.isOutput(tensor.name())) {
    // A copy would stay beside it until all is done, and large models have no memory for that.
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    return;
  }
  std::string name = names.fresh(tensor.name() + "_smoothed");
  pb::TensorProto copy = tensorOf<float>(name, importer::kFloat, dimsOf(tensor), values);
  *graph.add_initializer() = std::move(copy);
  node.set_input(operand, name);
}

void multiply(Model &model, Names &names, const Index &index, ScaledOperand place, llvm::ArrayRef<float> by) {
  const pb::TensorProto &tensor = *index.weight(model.proto.graph().node(place.node).input(place.operand));
  std::vector<float> values(floatsOf(tensor));
  AxisPlaces channels(dimsOf(tensor), place.axis);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] *= by[channels.place(i)];
  }
  replaceOperand(model, names, index, place.node, place.operand, values);
}

} // namespace ingot::quantizer
