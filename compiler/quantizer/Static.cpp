#include "compiler/quantizer/Static.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/NarrowWeights.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {
namespace {

/// Returns the activations that a node moves; none if one of them is a constant, whose elements have a range of their
/// own.
std::vector<std::string> carried(const Index &index, const pb::NodeProto &node) {
  if (roleOf(node) != Role::Carries) {
    return {};
  }
  int count = node.op_type() == "Concat" ? node.input_size() : 1;
  std::vector<std::string> values(node.input().begin(), node.input().begin() + count);
  return llvm::any_of(values, [&](const std::string &value) { return index.constant(value); })
             ? std::vector<std::string>()
             : values;
}

/// Writes the nodes of one model.
class Writer {
public:
  Writer(Model &model, WeightOptions options)
      : graph(*model.proto.mutable_graph()), names(model.proto), index(model, graph), edits(graph), options(options) {}

  void quantizeValue(const std::string &value, const Encoding &encoding, llvm::ArrayRef<Layer> layers);
  void quantizeWeights(const Layer &layer, const Encoding &x);
  /// Quantizes the weights alone.
  void quantizeWeights(const Layer &layer);
  void roundToFloat8(const Layer &layer);
  /// Makes the bias float16, where one is added behind a product and that is nothing beside what rounding `x` does.
  void narrowBias(const Layer &layer, const Encoding &x);

private:
  std::string addScale(const std::string &stem, llvm::ArrayRef<float> scales);
  std::string addZero(const std::string &stem, const Encoding &encoding);
  /// Puts DequantizeLinear of a new constant in front of the layer's operand.
  void dequantize(const Layer &layer, int operand, pb::TensorProto quantized, llvm::ArrayRef<float> scales, int axis);

  pb::GraphProto &graph;
  Names names;
  Index index;
  Edits edits;
  WeightOptions options;
};

std::string Writer::addScale(const std::string &stem, llvm::ArrayRef<float> scales) {
  std::string name = names.fresh(stem + "_scale");
  std::vector<int64_t> dims(scales.size() == 1 ? 0 : 1, int64_t(scales.size()));
  *graph.add_initializer() = tensorOf<float>(name, importer::kFloat, dims, scales);
  return name;
}

std::string Writer::addZero(const std::string &stem, const Encoding &encoding) {
  std::string name = names.fresh(stem + "_zero_point");
  auto zero = uint8_t(encoding.zero);
  int32_t type = encoding.isFloat8 ? importer::kFloat8E4M3FN : encoding.isSigned ? importer::kInt8 : importer::kUInt8;
  *graph.add_initializer() = tensorOf<uint8_t>(name, type, {}, zero);
  return name;
}

void Writer::quantizeValue(const std::string &value, const Encoding &encoding, llvm::ArrayRef<Layer> layers) {
  std::string scale = addScale(value, encoding.scale), zero = addZero(value, encoding);
  std::string quantized = names.fresh(value + "_quantized"), result = names.fresh(value + "_dequantized");
  int producer = index.producer(value);
  makeNode(edits.after(producer), "QuantizeLinear", names.fresh(value + "_QuantizeLinear"), {value, scale, zero},
           {quantized});
  makeNode(edits.after(producer), "DequantizeLinear", names.fresh(value + "_DequantizeLinear"),
           {quantized, scale, zero}, {result});
  for (const Index::Use &use : index.uses(value)) {
    if (use.operand < 0) {
      continue;
    }
    pb::NodeProto &node = *graph.mutable_node(use.node);
    bool isLayer = llvm::any_of(layers, [&](const Layer &layer) { return layer.node == use.node; });
    // Operators that move or compute with integers beside a product have no forms of narrow floats.
    Role role = encoding.isFloat8 ? Role::None : roleOf(node);
    if ((isLayer && use.operand == 0) || role == Role::Carries || role == Role::Reads) {
      node.set_input(use.operand, result);
    }
  }
}

void Writer::dequantize(const Layer &layer, int operand, pb::TensorProto quantized, llvm::ArrayRef<float> scales,
                        int axis) {
  pb::NodeProto &node = *graph.mutable_node(layer.node);
  std::string value = node.input(operand), scale = addScale(value, scales);
  std::string result = names.fresh(value + "_dequantized");
  quantized.set_name(names.fresh(value + "_quantized"));
  pb::NodeProto &dequantize = makeNode(edits.before(layer.node), "DequantizeLinear",
                                       names.fresh(value + "_DequantizeLinear"), {quantized.name(), scale}, {result});
  if (scales.size() > 1) {
    setInt(dequantize, "axis", axis);
  }
  *graph.add_initializer() = std::move(quantized);
  node.set_input(operand, result);
}

void Writer::quantizeWeights(const Layer &layer) {
  for (const auto &[operand, own] : weightsOf(layer)) {
    ByteWeights weights = quantizer::quantizeWeights(floatsOf(*index.weight(own.weight)), own, options);
    dequantize(layer, operand, tensorOf<int8_t>("", importer::kInt8, own.dims, weights.values), weights.scales,
               layer.axis);
  }
}

void Writer::roundToFloat8(const Layer &layer) {
  for (const auto &[operand, own] : weightsOf(layer)) {
    ByteWeights weights = float8Weights(floatsOf(*index.weight(own.weight)), own);
    dequantize(layer, operand, tensorOf<int8_t>("", importer::kFloat8E4M3FN, own.dims, weights.values), weights.scales,
               layer.axis);
  }
}

void Writer::quantizeWeights(const Layer &layer, const Encoding &x) {
  if (x.isFloat8) { // there is no sum of products to which a bias could be added before it is scaled
    roundToFloat8(layer);
    return;
  }
  if (layer.isRecurrent()) { // the bias of a recurrent layer is added to floats
    quantizeWeights(layer);
    return;
  }
  llvm::ArrayRef<float> values = floatsOf(*index.weight(layer.weight)), bias;
  if (!layer.bias.empty()) {
    bias = floatsOf(*index.weight(layer.bias));
  }
  constexpr double kMostBias = 2e9; // a bias has this many steps at most, a little less than 2^31
  std::vector<float> least(options.perTensor ? 1 : size_t(layer.dims[layer.axis]));
  for (auto [c, value] : llvm::enumerate(bias)) {
    float &own = least[options.perTensor ? 0 : c];
    own = std::max(own, float(std::fabs(value) / kMostBias / x.scale));
  }
  ByteWeights weights = quantizer::quantizeWeights(values, layer, options, least);
  dequantize(layer, 1, tensorOf<int8_t>("", importer::kInt8, layer.dims, weights.values), weights.scales, layer.axis);
  if (bias.empty()) {
    narrowBias(layer, x);
    return;
  }
  std::vector<int32_t> steps;
  std::vector<float> scales(weights.scales);
  for (float &scale : scales) {
    scale *= x.scale;
  }
  for (auto [c, value] : llvm::enumerate(bias)) {
    steps.push_back(int32_t(std::nearbyint(double(value) / scales[options.perTensor ? 0 : c])));
  }
  dequantize(layer, 2, tensorOf<int32_t>("", importer::kInt32, layer.dims[layer.axis], steps), scales, 0);
}

/// Returns for each column of a matrix the deviation of its products where the errors of x are as likely anywhere
/// within half a step.
static std::vector<double> noiseOf(llvm::ArrayRef<float> weights, const Layer &layer, float step) {
  std::vector<double> noise(size_t(layer.dims[size_t(layer.axis)]));
  PlaceWalk walk(AxisPlaces(layer.dims, layer.axis));
  for (float weight : weights) {
    noise[walk.place()] += double(weight) * double(weight);
    walk.next();
  }
  for (double &own : noise) {
    own = double(step) * std::sqrt(own / 12);
  }
  return noise;
}

void Writer::narrowBias(const Layer &layer, const Encoding &x) {
  constexpr int64_t kLeast = 256;    // with fewer values a Cast takes as much of the file as it saves
  constexpr double kPart = 1.0 / 16; // the same in all runs, so it has to be less than an error that differs
  llvm::ArrayRef<Index::Use> uses = index.uses(layer.y);
  int64_t columns = layer.dims[size_t(layer.axis)];
  if (layer.op == "Conv" || layer.hasMatrices() || columns < kLeast || uses.size() != 1 || uses[0].operand < 0) {
    return;
  }
  pb::NodeProto &add = *graph.mutable_node(uses[0].node);
  int other = 1 - uses[0].operand;
  const pb::TensorProto *bias = add.op_type() == "Add" ? index.weight(add.input(other)) : nullptr;
  if (!bias || int64_t(floatsOf(*bias).size()) != columns || bias->dims(bias->dims_size() - 1) != columns ||
      index.uses(bias->name()).size() != 1) {
    return;
  }
  std::vector<double> noise = noiseOf(floatsOf(*index.weight(layer.weight)), layer, x.scale);
  for (auto [value, own] : llvm::zip(floatsOf(*bias), noise)) {
    if (!(errorOfHalf(value) <= own * kPart)) {
      return;
    }
  }
  std::string half = names.fresh(bias->name() + "_fp16"), wide = names.fresh(bias->name() + "_float");
  setInt(makeNode(edits.before(uses[0].node), "Cast", names.fresh(bias->name() + "_Cast"), {half}, {wide}), "to",
         importer::kFloat);
  *graph.add_initializer() = halfOf(*bias, half);
  add.set_input(other, wide);
}

} // namespace

Wanted wantedBy(Model &model, llvm::ArrayRef<Layer> layers) {
  pb::GraphProto &graph = *model.proto.mutable_graph();
  Index index(model, graph);
  Wanted wanted;
  llvm::SmallVector<std::string> todo;
  auto want = [&](const std::string &value) {
    if (wanted.try_emplace(value).second) {
      todo.push_back(value);
    }
  };
  for (const Layer &layer : layers) {
    want(layer.x);
  }
  while (!todo.empty()) {
    std::string value = todo.pop_back_val();
    if (int producer = index.producer(value); producer >= 0) {
      for (const std::string &from : carried(index, graph.node(producer))) {
        want(from);
        wanted[value].push_back(from);
      }
    }
  }
  return wanted;
}

std::map<std::string, Encoding> encodingsOf(const Wanted &wanted, const std::map<std::string, FloatRange> &ranges,
                                            bool isSigned) {
  constexpr double kMostRatio = 4;
  std::map<std::string, FloatRange> shared;
  for (const auto &[value, parts] : wanted) {
    if (auto found = ranges.find(value); found != ranges.end()) {
      shared.insert(*found);
    }
  }
  auto width = [](FloatRange range) { return std::max(range.high - range.low, 1e-30); };
  // A range grows with each value that joins it, so joining goes on until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto &[value, parts] : wanted) {
      for (const std::string &part : parts) {
        if (!shared.count(value) || !shared.count(part)) {
          continue;
        }
        FloatRange &a = shared[value], &b = shared[part];
        FloatRange both{std::min(a.low, b.low), std::max(a.high, b.high)};
        bool alike = width(both) <= kMostRatio * std::min(width(ranges.at(value)), width(ranges.at(part)));
        if (alike && (width(both) > width(a) || width(both) > width(b))) {
          a = b = both, changed = true;
        }
      }
    }
  }
  std::map<std::string, Encoding> encodings;
  for (const auto &[value, range] : shared) {
    encodings[value] = encodingOf(range, isSigned);
  }
  return encodings;
}

void writeStatic(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Encoding> &encodings,
                 WeightOptions options) {
  {
    Writer writer(model, options);
    for (const auto &[value, encoding] : encodings) {
      writer.quantizeValue(value, encoding, layers);
    }
    for (const Layer &layer : layers) {
      writer.quantizeWeights(layer, encodings.at(layer.x));
    }
  }
  model.dropUnused();
}

void writeByteWeights(Model &model, llvm::ArrayRef<Layer> layers, WeightOptions options) {
  {
    Writer writer(model, options);
    for (const Layer &layer : layers) {
      writer.quantizeWeights(layer);
    }
  }
  model.dropUnused();
}

} // namespace ingot::quantizer
