#include "compiler/quantizer/Adjust.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Rescale.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {
namespace {

std::vector<float> factors(llvm::ArrayRef<float> activations, llvm::ArrayRef<float> weights,
                           llvm::ArrayRef<float> largest, double strength) {
  std::vector<float> result;
  for (auto [a, w, most] : llvm::zip(activations, weights, largest)) {
    constexpr float kMost = 1e18F; // weights stay below this when they are multiplied
    double factor = a > 0 && w > 0 ? std::pow(double(a), strength) / std::pow(double(w), 1 - strength) : 1;
    result.push_back(float(std::clamp(factor, 1e-4, most * 1e4F < kMost ? 1e4 : 1.0)));
  }
  return result;
}

void multiplyWeights(Model &model, Names &names, const Index &index, const Layer &layer, const std::string &x,
                     llvm::ArrayRef<float> by) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  pb::NodeProto &node = *graph.mutable_node(layer.node);
  // The operand may have been multiplied already, as what makes the value of another layer.
  pb::TensorProto &tensor = *index.weight(node.input(1));
  std::vector<float> weights(floatsOf(tensor));
  WeightChannels channels(layer);
  channels.forEach(weights.size(), [&](size_t i, size_t in, size_t) { weights[i] *= by[in]; });
  node.set_input(0, x);
  replaceOperand(model, names, index, layer.node, 1, weights);
}

} // namespace

std::map<std::string, Readers> readersOf(llvm::ArrayRef<Layer> layers) {
  std::map<std::string, Readers> readers;
  for (const Layer &layer : layers) {
    if (layer.graph == 0) {
      readers[layer.x].push_back(&layer);
    }
  }
  // A value has channels along one axis for those who multiply its channels.
  for (auto entry = readers.begin(); entry != readers.end();) {
    bool isConv = entry->second.front()->op == "Conv";
    size_t channels = WeightChannels(*entry->second.front()).inputCount();
    bool fits = llvm::all_of(entry->second, [&](const Layer *layer) {
      return !layer->isRecurrent() && (layer->op == "Conv") == isConv &&
             WeightChannels(*layer).inputCount() == channels;
    });
    entry = fits ? std::next(entry) : readers.erase(entry);
  }
  return readers;
}

int channelAxis(const Layer &layer) { return layer.op == "Conv" ? 1 : -1; }

/// Returns what has to be multiplied in front of layers. A convolution's operand has as many axes as its weights.
static Scaled scaledBy(const std::string &value, const Readers &readers, llvm::ArrayRef<Layer> layers) {
  std::set<int> products;
  for (const Layer &other : layers) {
    if (other.graph == 0) {
      products.insert(other.node);
    }
  }
  const Layer &layer = *readers.front();
  auto channels = int64_t(WeightChannels(layer).inputCount());
  return layer.op == "Conv" ? Scaled{value, int(layer.dims.size()) - 1, true, channels, readers.size(), products}
                            : Scaled{value, 1, false, channels, readers.size(), products};
}

bool isFree(Model &model, llvm::ArrayRef<Layer> layers, const std::string &value, const Readers &readers) {
  Index index(model, *model.proto.mutable_graph());
  return placesOf(index, model.proto.graph(), scaledBy(value, readers, layers)).has_value();
}

LargestWeights::LargestWeights(Model &model, const Readers &readers, size_t channels)
    : absolute(channels), relative(channels) {
  Index index(model, *model.proto.mutable_graph());
  for (const Layer *layer : readers) {
    WeightChannels places(*layer);
    llvm::ArrayRef<float> values = floatsOf(*index.weight(layer->weight));
    std::vector<float> unit(places.outputCount());
    places.forEach(values.size(),
                   [&](size_t i, size_t, size_t out) { unit[out] = std::max(unit[out], std::fabs(values[i])); });
    for (float &most : unit) {
      most = most > 0 ? most : 1;
    }
    places.forEach(values.size(), [&](size_t i, size_t in, size_t out) {
      float value = std::fabs(values[i]);
      absolute[in] = std::max(absolute[in], value), relative[in] = std::max(relative[in], value / unit[out]);
    });
  }
}

std::vector<float> smoothingOf(const LargestWeights &weights, const Channels &channels, double strength,
                               bool isRelative) {
  return factors(channels.largest(), isRelative ? weights.relative : weights.absolute, weights.absolute, strength);
}

std::map<std::string, Divided> smooth(Model &model, llvm::ArrayRef<Layer> layers,
                                      const std::map<std::string, std::vector<float>> &factors) {
  std::map<std::string, Divided> divided;
  {
    pb::GraphProto &graph = *model.proto.mutable_graph();
    Names names(model.proto);
    Edits edits(graph);
    std::map<std::string, Readers> readers = readersOf(layers);
    for (const auto &[value, by] : factors) {
      const Readers &own = readers.at(value);
      Index index(model, graph); // the constants of this moment
      std::vector<float> inverse(by);
      for (float &factor : inverse) {
        factor = 1 / factor;
      }
      std::string read = value;
      Scaled scaled = scaledBy(value, own, layers);
      if (auto places = placesOf(index, graph, scaled)) {
        for (const ScaledOperand &place : places->operands) {
          multiply(model, names, Index(model, graph), place, inverse);
        }
        for (const std::string &changed : places->values) {
          divided[changed] = {changed, scaled.fromEnd, by};
        }
      } else {
        std::string factor = names.fresh(value + "_smoothing");
        read = names.fresh(value + "_smoothed");
        divided[read] = {value, scaled.fromEnd, by};
        *graph.add_initializer() = tensorOf<float>(factor, importer::kFloat, int64_t(inverse.size()), inverse);
        makeNode(edits.after(index.producer(value)), "Mul", names.fresh(value + "_Smoothing"), {value, factor}, {read});
      }
      for (const Layer *layer : own) {
        multiplyWeights(model, names, Index(model, graph), *layer, read, by);
      }
    }
  }
  model.dropUnused();
  return divided;
}

} // namespace ingot::quantizer
