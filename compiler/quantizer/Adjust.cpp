#include "compiler/quantizer/Adjust.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {
namespace {

/// Returns the largest weight of each input channel of products of matrices that share an operand.
std::vector<float> largestWeights(const Index &index, llvm::ArrayRef<const Layer *> layers, size_t channels) {
  std::vector<float> largest(channels);
  for (const Layer *layer : layers) {
    AxisPlaces strides(layer->dims, 1 - layer->axis);
    for (auto [i, value] : llvm::enumerate(floatsOf(*index.weight(layer->weight)))) {
      float &own = largest[strides.place(i)];
      own = std::max(own, std::fabs(value));
    }
  }
  return largest;
}

std::vector<float> factors(llvm::ArrayRef<float> activations, llvm::ArrayRef<float> weights, double strength) {
  std::vector<float> result;
  for (auto [a, w] : llvm::zip(activations, weights)) {
    constexpr float kMost = 1e18F; // weights stay below this when they are multiplied
    double factor = a > 0 && w > 0 ? std::pow(double(a), strength) / std::pow(double(w), 1 - strength) : 1;
    result.push_back(float(std::clamp(factor, 1e-4, w * 1e4F < kMost ? 1e4 : 1.0)));
  }
  return result;
}

/// Divides a value by factors along its last axis.
class Division {
public:
  Division(Model &model, Names &names, Edits &edits) : model(model), names(names), edits(edits) {}

  /// Returns the name by which the layers read the divided value.
  std::string divide(const Index &index, const std::string &value, llvm::ArrayRef<const Layer *> layers,
                     llvm::ArrayRef<float> by) {
    pb::GraphProto &graph = *model.proto.mutable_graph();
    std::vector<float> inverse(by);
    for (float &factor : inverse) {
      factor = 1 / factor;
    }
    int producer = index.producer(value);
    bool alone = index.uses(value).size() == layers.size() && !index.isOutput(value);
    if (alone && producer >= 0 && intoNormalization(index, *graph.mutable_node(producer), inverse)) {
      return value;
    }
    std::string factor = names.fresh(value + "_smoothing"), result = names.fresh(value + "_smoothed");
    *graph.add_initializer() = tensorOf<float>(factor, importer::kFloat, int64_t(inverse.size()), inverse);
    makeNode(edits.after(producer), "Mul", names.fresh(value + "_Smoothing"), {value, factor}, {result});
    return result;
  }

private:
  bool intoNormalization(const Index &index, pb::NodeProto &node, llvm::ArrayRef<float> inverse) {
    if (node.op_type() != "LayerNormalization") {
      return false;
    }
    for (int operand = 1; operand < node.input_size(); ++operand) {
      const pb::TensorProto *tensor = index.weight(node.input(operand));
      if (!tensor || floatsOf(*tensor).size() != inverse.size()) {
        return false;
      }
    }
    for (int operand = 1; operand < node.input_size(); ++operand) {
      const pb::TensorProto &tensor = *index.weight(node.input(operand));
      std::vector<float> values(floatsOf(tensor));
      for (auto [value, factor] : llvm::zip(values, inverse)) {
        value *= factor;
      }
      std::string name = names.fresh(tensor.name() + "_smoothed");
      *model.proto.mutable_graph()->add_initializer() = tensorOf<float>(name, importer::kFloat, dimsOf(tensor), values);
      node.set_input(operand, name);
    }
    return true;
  }

  Model &model;
  Names &names;
  Edits &edits;
};

void multiplyWeights(Model &model, Names &names, const Index &index, const Layer &layer, const std::string &x,
                     llvm::ArrayRef<float> by) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  std::vector<float> weights(floatsOf(*index.weight(layer.weight)));
  AxisPlaces strides(layer.dims, 1 - layer.axis);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] *= by[strides.place(i)];
  }
  std::string name = names.fresh(layer.weight + "_smoothed");
  *graph.add_initializer() = tensorOf<float>(name, importer::kFloat, layer.dims, weights);
  graph.mutable_node(layer.node)->set_input(0, x);
  graph.mutable_node(layer.node)->set_input(1, name);
}

} // namespace

int smooth(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Channels> &channels,
           double strength) {
  int changed = 0;
  {
    pb::GraphProto &graph = *model.proto.mutable_graph();
    Names names(model.proto);
    Index index(model, graph);
    Edits edits(graph);
    std::map<std::string, llvm::SmallVector<const Layer *>> readers;
    for (const Layer &layer : layers) {
      if (layer.op != "Conv" && !layer.isRecurrent() && layer.graph == 0) {
        readers[layer.x].push_back(&layer);
      }
    }
    for (const auto &[value, own] : readers) {
      auto found = channels.find(value);
      size_t count = size_t(own.front()->dims[size_t(1 - own.front()->axis)]);
      if (found == channels.end() || found->second.largest().size() != count) {
        continue;
      }
      std::vector<float> by = factors(found->second.largest(), largestWeights(index, own, count), strength);
      std::string divided = Division(model, names, edits).divide(index, value, own, by);
      for (const Layer *layer : own) {
        multiplyWeights(model, names, index, *layer, divided, by);
      }
      ++changed;
    }
  }
  model.dropUnused();
  return changed;
}

int correctBias(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Channels> &channels,
                WeightOptions options) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  Names names(model.proto);
  Index index(model, graph);
  int changed = 0;
  for (const Layer &layer : layers) {
    auto found = channels.find(layer.x);
    if (layer.bias.empty() || found == channels.end() || layer.graph != 0) {
      continue;
    }
    llvm::ArrayRef<float> values = floatsOf(*index.weight(layer.weight));
    Int8Weights weights = quantizeWeights(values, layer, options);
    std::vector<float> bias(floatsOf(*index.weight(layer.bias))), means = found->second.means();
    // The weights of an output channel of a convolution belong to the input channels of its group alone.
    AxisPlaces to(layer.dims, layer.axis), from(layer.dims, 1 - layer.axis);
    size_t groups = layer.op == "Conv" ? size_t(intOf(graph.node(layer.node), "group", 1)) : 1;
    if (means.size() != size_t(from.count) * groups) {
      continue;
    }
    std::vector<double> added(bias.size());
    for (size_t i = 0; i < values.size(); ++i) {
      size_t channel = to.place(i), group = channel * groups / added.size();
      double step = weights.scales[options.perTensor ? 0 : channel];
      added[channel] +=
          (double(weights.values[i]) * step - values[i]) * means[group * size_t(from.count) + from.place(i)];
    }
    for (auto [own, much] : llvm::zip(bias, added)) {
      own -= float(much);
    }
    std::string name = names.fresh(layer.bias + "_corrected");
    *graph.add_initializer() = tensorOf<float>(name, importer::kFloat, int64_t(bias.size()), bias);
    graph.mutable_node(layer.node)->set_input(2, name);
    ++changed;
  }
  model.dropUnused();
  return changed;
}

} // namespace ingot::quantizer
