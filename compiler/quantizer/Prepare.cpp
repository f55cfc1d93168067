// Folds on the file, not on the compiler's IR, because a file is what is written in the end. Only a few patterns are
// folded; constants that are computed otherwise stay computed, and products with them are products of two activations.
#include "compiler/quantizer/Prepare.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <optional>

namespace ingot::quantizer {
namespace {

/// Returns the tensor that a Constant node stands for, where it is one of numbers.
std::optional<pb::TensorProto> constantOf(const pb::NodeProto &node) {
  if (!importer::isConstant(node) || node.attribute_size() != 1) {
    return std::nullopt;
  }
  const pb::AttributeProto &value = node.attribute(0);
  const std::string &name = node.output(0);
  auto count = [&](int values) { return std::vector<int64_t>{values}; };
  if (value.name() == "value" && value.t().data_type() != importer::kString) {
    pb::TensorProto tensor = value.t();
    tensor.set_name(name);
    return tensor;
  }
  if (value.name() == "value_float") {
    return tensorOf<float>(name, importer::kFloat, {}, value.f());
  }
  if (value.name() == "value_int") {
    return tensorOf<int64_t>(name, importer::kInt64, {}, value.i());
  }
  if (value.name() == "value_floats") {
    return tensorOf<float>(name, importer::kFloat, count(value.floats_size()),
                           {value.floats().data(), size_t(value.floats_size())});
  }
  if (value.name() == "value_ints") {
    return tensorOf<int64_t>(name, importer::kInt64, count(value.ints_size()),
                             {value.ints().data(), size_t(value.ints_size())});
  }
  return std::nullopt;
}

void makeInitializers(Model &model, pb::GraphProto &graph) {
  Index index(model, graph);
  Edits edits(graph);
  for (auto [number, node] : llvm::enumerate(*graph.mutable_node())) {
    if (std::optional<pb::TensorProto> tensor = constantOf(node); tensor && !index.isOutput(node.output(0))) {
      *graph.add_initializer() = std::move(*tensor);
      edits.drop(int(number));
    }
  }
}

/// Makes readers of an Identity of a constant read the constant, since exporters name one weight several times that
/// way.
void passIdentities(Model &model, pb::GraphProto &graph) {
  Index index(model, graph);
  for (pb::NodeProto &node : *graph.mutable_node()) {
    if (node.op_type() != "Identity" || !index.constant(node.input(0)) || index.isOutput(node.output(0))) {
      continue;
    }
    for (const Index::Use &use : index.uses(node.output(0))) {
      if (use.operand >= 0) {
        graph.mutable_node(use.node)->set_input(use.operand, node.input(0));
      }
    }
  }
}

/// Adds a constant, and returns its name.
std::string addFloats(pb::GraphProto &graph, Names &names, const std::string &stem, llvm::ArrayRef<int64_t> dims,
                      llvm::ArrayRef<float> values) {
  std::string name = names.fresh(stem);
  *graph.add_initializer() = tensorOf<float>(name, importer::kFloat, dims, values);
  return name;
}

/// Transposes matrices in the file that are transposed in front of products.
void foldTransposes(Model &model, pb::GraphProto &graph) {
  Names names(model.proto);
  Index index(model, graph);
  Edits edits(graph);
  for (auto [number, node] : llvm::enumerate(*graph.mutable_node())) {
    bool isTranspose = node.op_type() == "Transpose" && importer::plainDomain(node.domain()).empty();
    const pb::TensorProto *weight = isTranspose ? index.weight(node.input(0)) : nullptr;
    const pb::AttributeProto *perm = attributeOf(node, "perm");
    if (!weight || weight->dims_size() != 2 || (perm && perm->ints(0) == 0) || index.isOutput(node.output(0)) ||
        !llvm::all_of(index.uses(node.output(0)), [&](const Index::Use &use) {
          return use.operand == 1 &&
                 (graph.node(use.node).op_type() == "MatMul" || graph.node(use.node).op_type() == "Gemm");
        })) {
      continue;
    }
    llvm::ArrayRef<float> values = floatsOf(*weight);
    size_t rows = size_t(weight->dims(0)), columns = size_t(weight->dims(1));
    std::vector<float> transposed(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      transposed[i % columns * rows + i / columns] = values[i];
    }
    int64_t dims[] = {int64_t(columns), int64_t(rows)};
    std::string name = addFloats(graph, names, weight->name() + "_transposed", dims, transposed);
    for (const Index::Use &use : index.uses(node.output(0))) {
      graph.mutable_node(use.node)->set_input(1, name);
    }
    edits.drop(int(number));
  }
}

/// Returns the constant indices of a use of a table that is a Gather of its rows; null: it is none.
const pb::TensorProto *gatheredRows(const pb::GraphProto &graph, const Index &index, const Index::Use &use) {
  if (use.operand != 0) {
    return nullptr;
  }
  const pb::NodeProto &node = graph.node(use.node);
  bool isGather = node.op_type() == "Gather" && importer::plainDomain(node.domain()).empty() && !intOf(node, "axis", 0);
  const pb::TensorProto *indices = isGather ? index.constant(node.input(1)) : nullptr;
  return indices && indices->data_type() == importer::kInt64 ? indices : nullptr;
}

/// Returns the rows that indices name, counted from the first one; -1: there is no such row.
std::vector<int64_t> rowsOf(const pb::TensorProto &indices, int64_t rows) {
  const std::string &raw = indices.raw_data();
  llvm::ArrayRef values(reinterpret_cast<const int64_t *>(raw.data()), raw.size() / sizeof(int64_t));
  std::vector<int64_t> numbers;
  for (int64_t value : values) {
    int64_t row = value < 0 ? value + rows : value;
    numbers.push_back(row >= 0 && row < rows ? row : -1);
  }
  return numbers;
}

/// Takes rows out of tables that nobody reads, where all readers are Gathers by constant indices: beside the numbers of
/// the positions of a fixed length exporters keep positions for the longest text.
void dropUnreadRows(Model &model, pb::GraphProto &graph) {
  Names names(model.proto);
  Index index(model, graph);
  for (int i = 0, count = graph.initializer_size(); i < count; ++i) {
    const pb::TensorProto &table = graph.initializer(i);
    llvm::ArrayRef<Index::Use> uses = index.uses(table.name());
    if (table.data_type() != importer::kFloat || table.dims_size() != 2 || uses.empty() ||
        index.isOutput(table.name()) ||
        !llvm::all_of(uses, [&](const Index::Use &use) { return gatheredRows(graph, index, use); })) {
      continue;
    }
    int64_t rows = table.dims(0), columns = table.dims(1);
    std::map<int64_t, int64_t> kept; // the new number of each row that is read
    for (const Index::Use &use : uses) {
      for (int64_t row : rowsOf(*gatheredRows(graph, index, use), rows)) {
        kept[row];
      }
    }
    if (kept.empty() || kept.count(-1) || int64_t(kept.size()) == rows) {
      continue;
    }
    std::vector<float> values;
    for (auto [number, entry] : llvm::enumerate(kept)) {
      entry.second = int64_t(number);
      llvm::append_range(values, floatsOf(table).slice(size_t(entry.first * columns), size_t(columns)));
    }
    std::string name = addFloats(graph, names, table.name() + "_read", {int64_t(kept.size()), columns}, values);
    for (const Index::Use &use : uses) {
      const pb::TensorProto &indices = *gatheredRows(graph, index, use);
      std::vector<int64_t> numbers = rowsOf(indices, rows);
      llvm::for_each(numbers, [&](int64_t &row) { row = kept.at(row); });
      pb::TensorProto own =
          tensorOf<int64_t>(names.fresh(indices.name() + "_read"), importer::kInt64, dimsOf(indices), numbers);
      pb::NodeProto &node = *graph.mutable_node(use.node);
      node.set_input(0, name), node.set_input(1, own.name());
      *graph.add_initializer() = std::move(own);
    }
  }
}

/// Adds a constant times a number, and returns its name.
std::string timesFactor(pb::GraphProto &graph, Names &names, const pb::TensorProto &tensor, float factor) {
  std::vector<float> values(floatsOf(tensor));
  llvm::for_each(values, [&](float &value) { value *= factor; });
  return addFloats(graph, names, tensor.name() + "_scaled", dimsOf(tensor), values);
}

/// Makes a Gemm with constant weights A B + C: its factors are put into the constants, and A is transposed in front of
/// it.
void makeGemmsPlain(Model &model, pb::GraphProto &graph) {
  Names names(model.proto);
  Index index(model, graph);
  Edits edits(graph);
  for (auto [number, node] : llvm::enumerate(*graph.mutable_node())) {
    bool isGemm = node.op_type() == "Gemm" && importer::plainDomain(node.domain()).empty();
    const pb::TensorProto *weight = isGemm ? index.weight(node.input(1)) : nullptr;
    float alpha = floatOf(node, "alpha", 1), beta = floatOf(node, "beta", 1);
    bool isPlain = alpha == 1 && beta == 1 && !intOf(node, "transA", 0);
    if (!weight || floatsOf(*weight).empty() || isPlain) {
      continue;
    }
    if (alpha != 1) {
      node.set_input(1, timesFactor(graph, names, *weight, alpha));
    }
    bool hasBias = node.input_size() > 2 && !node.input(2).empty();
    if (hasBias && beta == 0) {
      node.mutable_input()->RemoveLast();
    } else if (const pb::TensorProto *bias = hasBias && beta != 1 ? index.weight(node.input(2)) : nullptr) {
      node.set_input(2, timesFactor(graph, names, *bias, beta));
    } else if (hasBias && beta != 1) {
      std::string factor = addFloats(graph, names, nameOf(node) + "_beta", {}, beta);
      std::string scaled = names.fresh(node.input(2) + "_scaled");
      makeNode(edits.before(int(number)), "Mul", names.fresh(scaled + "_Mul"), {node.input(2), factor}, {scaled});
      node.set_input(2, scaled);
    }
    if (intOf(node, "transA", 0)) {
      std::string transposed = names.fresh(node.input(0) + "_transposed");
      setInts(makeNode(edits.before(int(number)), "Transpose", names.fresh(transposed + "_Transpose"), {node.input(0)},
                       {transposed}),
              "perm", {1, 0});
      node.set_input(0, transposed);
    }
    for (llvm::StringRef name : {"alpha", "beta", "transA"}) {
      dropAttribute(node, name);
    }
  }
}

/// A normalization as a factor and a summand for each channel.
struct Affine {
  std::vector<float> factor, summand;
};

std::optional<Affine> affineOf(const Index &index, const pb::NodeProto &node, size_t channels) {
  llvm::ArrayRef<float> parts[4]; // the scale, bias, mean and variance
  for (int i = 0; i < 4; ++i) {
    const pb::TensorProto *tensor = node.input_size() == 5 ? index.weight(node.input(i + 1)) : nullptr;
    if (!tensor || floatsOf(*tensor).size() != channels) {
      return std::nullopt;
    }
    parts[i] = floatsOf(*tensor);
  }
  Affine affine;
  double epsilon = floatOf(node, "epsilon", 1e-5f);
  for (size_t c = 0; c < channels; ++c) {
    double factor = parts[0][c] / std::sqrt(double(parts[3][c]) + epsilon);
    affine.factor.push_back(float(factor));
    affine.summand.push_back(float(parts[1][c] - parts[2][c] * factor));
  }
  return affine;
}

/// Puts a normalization into the weights of the convolution that makes its operand, if nothing else reads that.
bool foldNormalization(pb::GraphProto &graph, const Index &index, Names &names, const pb::NodeProto &node) {
  if (node.op_type() != "BatchNormalization" || node.output_size() != 1 || intOf(node, "training_mode", 0)) {
    return false;
  }
  const std::string &x = node.input(0);
  int number = index.producer(x);
  if (number < 0 || index.uses(x).size() != 1 || index.isOutput(x)) {
    return false;
  }
  pb::NodeProto &conv = *graph.mutable_node(number);
  const pb::TensorProto *w = conv.op_type() == "Conv" ? index.weight(conv.input(1)) : nullptr;
  const bool hasBias = conv.input_size() > 2 && !conv.input(2).empty();
  const pb::TensorProto *b = hasBias ? index.weight(conv.input(2)) : nullptr;
  if (!w || w->dims_size() < 3 || (hasBias && !b)) {
    return false;
  }
  size_t channels = size_t(w->dims(0));
  std::optional<Affine> affine = affineOf(index, node, channels);
  if (!affine || channels == 0) {
    return false;
  }
  std::vector<float> weights(floatsOf(*w)), bias = b ? std::vector<float>(floatsOf(*b)) : std::vector<float>(channels);
  size_t each = weights.size() / channels;
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] *= affine->factor[i / each];
  }
  for (size_t c = 0; c < channels; ++c) {
    bias[c] = bias[c] * affine->factor[c] + affine->summand[c];
  }
  std::vector<int64_t> dims(dimsOf(*w));
  std::string weightName = addFloats(graph, names, w->name() + "_folded", dims, weights);
  std::string biasName = addFloats(graph, names, nameOf(conv) + "_bias", dims[0], bias);
  conv.set_input(1, weightName);
  conv.mutable_input()->DeleteSubrange(2, conv.input_size() - 2);
  conv.add_input(biasName);
  conv.set_output(0, node.output(0));
  return true;
}

} // namespace

void prepare(Model &model, bool forProducts) {
  for (pb::GraphProto *graph : model.graphs()) {
    makeInitializers(model, *graph);
    passIdentities(model, *graph);
    if (forProducts) {
      dropUnreadRows(model, *graph);
      foldTransposes(model, *graph);
      makeGemmsPlain(model, *graph);
    }
    Names names(model.proto);
    Index index(model, *graph);
    Edits edits(*graph);
    for (int number = 0; number < graph->node_size(); ++number) {
      if (foldNormalization(*graph, index, names, graph->node(number))) {
        edits.drop(number);
      }
    }
  }
  model.dropUnused();
}

const pb::NodeProto *quantizedNode(Model &model) {
  for (pb::GraphProto *graph : model.graphs()) {
    for (const pb::NodeProto &node : graph->node()) {
      llvm::StringRef op = node.op_type();
      if (op.contains("QuantizeLinear") || op.starts_with("QLinear") || op == "MatMulInteger" || op == "ConvInteger" ||
          op == "MatMulNBits" || op == "QGemm" || op == "QAttention") {
        return &node;
      }
    }
  }
  return nullptr;
}

} // namespace ingot::quantizer
