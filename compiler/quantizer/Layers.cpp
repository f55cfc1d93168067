#include "compiler/quantizer/Layers.h"
#include "compiler/importer/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <numeric>
#include <optional>

namespace ingot::quantizer {
namespace {

struct Rule {
  llvm::StringLiteral op;
  Role role;
};

/// ONNX Runtime's quantizer has nearly the same list. It differs in what a product's kernel does to its sums while they
/// are in registers (bias, activation, residual sum): that stays in float here, since a rounding between would cost
/// time and accuracy.
const Rule kRules[] = {
    {"Conv", Role::Product},      {"Gemm", Role::Product},
    {"MatMul", Role::Product},    {"GRU", Role::Recurrent},
    {"LSTM", Role::Recurrent},    {"RNN", Role::Recurrent},
    {"Concat", Role::Carries},    {"DepthToSpace", Role::Carries},
    {"Flatten", Role::Carries},   {"Identity", Role::Carries},
    {"MaxPool", Role::Carries},   {"Reshape", Role::Carries},
    {"Slice", Role::Carries},     {"SpaceToDepth", Role::Carries},
    {"Split", Role::Carries},     {"Squeeze", Role::Carries},
    {"Transpose", Role::Carries}, {"Unsqueeze", Role::Carries},
    {"Add", Role::Reads},         {"AveragePool", Role::Reads},
    {"Clip", Role::Reads},        {"Div", Role::Reads},
    {"Elu", Role::Reads},         {"Erf", Role::Reads},
    {"Gelu", Role::Reads},        {"GlobalAveragePool", Role::Reads},
    {"HardSigmoid", Role::Reads}, {"HardSwish", Role::Reads},
    {"LeakyRelu", Role::Reads},   {"Mul", Role::Reads},
    {"PRelu", Role::Reads},       {"Relu", Role::Reads},
    {"Resize", Role::Reads},      {"Sigmoid", Role::Reads},
    {"Sub", Role::Reads},         {"Tanh", Role::Reads},
};

/// Returns the layer of a node that multiplies by constant weights which kernels of integers can take.
std::optional<Layer> layerOf(const Index &index, const pb::NodeProto &node) {
  if (roleOf(node) != Role::Product || node.input_size() < 2 || node.input(0).empty() ||
      index.constant(node.input(0))) {
    return std::nullopt;
  }
  const pb::TensorProto *weight = index.weight(node.input(1));
  bool isConv = node.op_type() == "Conv", isGemm = node.op_type() == "Gemm";
  if (!weight || floatsOf(*weight).empty() || weight->dims_size() < (isConv ? 3 : 2) ||
      (isGemm && weight->dims_size() != 2)) {
    return std::nullopt;
  }
  Layer layer;
  layer.name = nameOf(node), layer.op = node.op_type();
  layer.x = node.input(0), layer.weight = node.input(1), layer.y = node.output(0);
  layer.axis = isConv || (isGemm && intOf(node, "transB", 0)) ? 0 : weight->dims_size() - 1;
  layer.groups = isConv ? intOf(node, "group", 1) : 1;
  layer.dims.assign(weight->dims().begin(), weight->dims().end());
  const pb::TensorProto *bias = node.input_size() > 2 ? index.weight(node.input(2)) : nullptr;
  if (bias && bias->dims_size() == 1 && bias->dims(0) == layer.dims[size_t(layer.axis)]) {
    layer.bias = node.input(2);
  }
  return layer;
}

/// Returns the layer of a recurrent node both of whose weights are constant. Its directions share the scales of their
/// rows, since axis 1 of W and R has a scale for each place.
std::optional<Layer> recurrentOf(const Index &index, const pb::NodeProto &node) {
  if (roleOf(node) != Role::Recurrent || node.input_size() < 3 || node.input(0).empty() ||
      index.constant(node.input(0))) {
    return std::nullopt;
  }
  const pb::TensorProto *w = index.weight(node.input(1)), *r = index.weight(node.input(2));
  auto result = llvm::find_if(node.output(), [](const std::string &name) { return !name.empty(); });
  if (!w || !r || w->dims_size() != 3 || r->dims_size() != 3 || floatsOf(*w).empty() || floatsOf(*r).empty() ||
      result == node.output().end()) {
    return std::nullopt;
  }
  Layer layer;
  layer.name = nameOf(node), layer.op = node.op_type();
  layer.x = node.input(0), layer.weight = node.input(1), layer.recurrent = node.input(2), layer.y = *result;
  layer.axis = 1;
  layer.dims.assign(w->dims().begin(), w->dims().end());
  layer.recurrentDims.assign(r->dims().begin(), r->dims().end());
  return layer;
}

std::optional<Layer> tableOf(const Index &index, const pb::NodeProto &node, int64_t least) {
  bool isGather = node.op_type() == "Gather" && importer::plainDomain(node.domain()).empty();
  const pb::TensorProto *weight = isGather ? index.weight(node.input(0)) : nullptr;
  if (!weight || weight->dims_size() != 2 || intOf(node, "axis", 0) != 0) {
    return std::nullopt;
  }
  Layer layer;
  layer.name = nameOf(node), layer.op = node.op_type();
  layer.weight = node.input(0), layer.y = node.output(0);
  layer.dims.assign(weight->dims().begin(), weight->dims().end());
  return layer.values() >= least ? std::optional(layer) : std::nullopt;
}

} // namespace

Role roleOf(const pb::NodeProto &node) {
  const auto *rule = llvm::find_if(kRules, [&](const Rule &rule) { return rule.op == node.op_type(); });
  return rule == std::end(kRules) || !importer::plainDomain(node.domain()).empty() ? Role::None : rule->role;
}

static int64_t valuesOf(llvm::ArrayRef<int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<int64_t>());
}

int64_t Layer::values() const { return valuesOf(dims) + (isRecurrent() ? valuesOf(recurrentDims) : 0); }

std::vector<std::pair<int, Layer>> weightsOf(const Layer &layer) {
  std::vector<std::pair<int, Layer>> weights{{isTable(layer) ? 0 : 1, layer}};
  if (layer.isRecurrent()) {
    Layer &r = weights.emplace_back(2, layer).second;
    r.weight = layer.recurrent, r.dims = layer.recurrentDims;
  }
  return weights;
}

static std::vector<Layer>
layersBy(Model &model, llvm::function_ref<std::optional<Layer>(const Index &, const pb::NodeProto &)> layerOf) {
  std::vector<Layer> layers;
  for (auto [number, graph] : llvm::enumerate(model.graphs())) {
    Index index(model, *graph);
    for (auto [place, node] : llvm::enumerate(graph->node())) {
      if (std::optional<Layer> layer = layerOf(index, node)) {
        layer->graph = int(number), layer->node = int(place);
        layers.push_back(std::move(*layer));
      }
    }
  }
  return layers;
}

std::vector<Layer> layersOf(Model &model) {
  return layersBy(model, [](const Index &index, const pb::NodeProto &node) {
    std::optional<Layer> product = layerOf(index, node);
    return product ? product : recurrentOf(index, node);
  });
}
std::vector<Layer> tablesOf(Model &model, int64_t least) {
  return layersBy(model, [&](const Index &index, const pb::NodeProto &node) { return tableOf(index, node, least); });
}

} // namespace ingot::quantizer
