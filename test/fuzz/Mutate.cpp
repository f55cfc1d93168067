// Changes of a model that keep it a model: what a user could have written, or an exporter with a bug. Most results are
// invalid in one place, which is where checks are missing; a good part is valid and unusual.
#include "compiler/onnx/Onnx.h"
#include "mlir/IR/MLIRContext.h"
#include "test/fuzz/Fuzz.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

namespace ingot::fuzz {

namespace {

/// Sizes 0 to 3, primes, vector lengths and their neighbours, and what overflows when it is multiplied.
constexpr int64_t kNumbers[] = {
    0,  1,  2,   3,   4,   5,    7,         8,         9,         13,        15, 16, 17, 31, 32, 33,        63,
    64, 65, 100, 255, 256, 1000, INT32_MAX, 1LL << 31, 1LL << 40, INT64_MAX, -1, -2, -3, -4, -8, INT32_MIN, INT64_MIN};
constexpr float kFloats[] = {0, 1, -1, 0.5F, 2, 1e-6F, 1e30F, -0.0F, INFINITY, NAN};
constexpr const char *kSymbols[] = {"n", "m", "batch", ""};
constexpr int kTypes[] = {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 16, 8};
constexpr size_t kLargestConstant = 1 << 12, kMostNodes = 40;

template <typename T> const auto &any(const T &range, Random &random) {
  return *(std::begin(range) + random() % std::size(range));
}

int64_t number(Random &random) {
  constexpr size_t usual = 12; // the first of the list: larger ones mostly end in the same message
  return kNumbers[random() % (random() % 4 ? usual : std::size(kNumbers))];
}

/// Names of all operators, from the dialect.
const std::vector<std::string> &operators() {
  static const std::vector<std::string> all = [] {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.getOrLoadDialect<onnx::OnnxDialect>();
    std::vector<std::string> names = {"If", "Loop", "Scan", "Constant"};
    for (mlir::RegisteredOperationName op : context.getRegisteredOperationsByDialect("onnx")) {
      if (op.hasInterface<onnx::Importable>()) {
        names.push_back(op.stripDialect().str());
      }
    }
    return names;
  }();
  return all;
}

/// Names of the attributes that change what most operators mean.
constexpr const char *kAttributes[] = {"axis",
                                       "axes",
                                       "perm",
                                       "pads",
                                       "strides",
                                       "dilations",
                                       "kernel_shape",
                                       "group",
                                       "keepdims",
                                       "ceil_mode",
                                       "auto_pad",
                                       "mode",
                                       "to",
                                       "alpha",
                                       "epsilon",
                                       "transA",
                                       "transB",
                                       "direction",
                                       "value",
                                       "starts",
                                       "ends",
                                       "exclusive",
                                       "reverse",
                                       "batch_dims",
                                       "largest",
                                       "sorted",
                                       "k",
                                       "allowzero",
                                       "storage_order",
                                       "output_shape",
                                       "output_padding",
                                       "noop_with_empty_axes"};

class Mutator {
public:
  Mutator(pb::ModelProto &model, Random &random) : model(model), random(random) {}

  void once() {
    pb::GraphProto &graph = this->graph(*model.mutable_graph());
    constexpr void (Mutator::*changes[])(pb::GraphProto &) = {
        &Mutator::inputDim,     &Mutator::inputDim,    &Mutator::inputType,      &Mutator::attribute,
        &Mutator::attribute,    &Mutator::attribute,   &Mutator::changeOperator, &Mutator::rewire,
        &Mutator::rewire,       &Mutator::insertNode,  &Mutator::copyNode,       &Mutator::dropNode,
        &Mutator::constant,     &Mutator::constant,    &Mutator::toInput,        &Mutator::toConstant,
        &Mutator::changeOutput, &Mutator::changeOpset, &Mutator::operandCount,   &Mutator::openAll};
    (this->*any(changes, random))(graph);
  }

private:
  pb::ModelProto &model;
  Random &random;

  bool chance(unsigned one) { return random() % one == 0; }
  template <typename T> auto *element(T *repeated) {
    return repeated->empty() ? nullptr : repeated->Mutable(int(random() % uint64_t(repeated->size())));
  }

  /// Returns the graph itself or, now and then, one inside of it.
  pb::GraphProto &graph(pb::GraphProto &outer) {
    std::vector<pb::GraphProto *> inner;
    for (pb::NodeProto &node : *outer.mutable_node()) {
      for (pb::AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) {
          inner.push_back(attribute.mutable_g());
        }
      }
    }
    return inner.empty() || chance(2) ? outer : graph(*any(inner, random));
  }

  std::vector<std::string> values(const pb::GraphProto &graph) {
    std::vector<std::string> names;
    for (const auto &input : graph.input()) {
      names.push_back(input.name());
    }
    for (const auto &tensor : graph.initializer()) {
      names.push_back(tensor.name());
    }
    for (const auto &node : graph.node()) {
      names.insert(names.end(), node.output().begin(), node.output().end());
    }
    return names;
  }

  std::string fresh() { return "v" + std::to_string(random() % 100000); }

  pb::TensorShapeProto::Dimension *dim(pb::ValueInfoProto *value) {
    return value && value->type().has_tensor_type()
               ? element(value->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
               : nullptr;
  }

  void inputDim(pb::GraphProto &graph) {
    pb::ValueInfoProto *input = element(graph.mutable_input());
    if (auto *d = dim(input)) {
      chance(3) ? d->set_dim_param(any(kSymbols, random)) : d->set_dim_value(number(random));
    }
    if (input && input->type().has_tensor_type() && chance(8)) {
      auto *shape = input->mutable_type()->mutable_tensor_type()->mutable_shape();
      chance(2) && shape->dim_size() ? shape->mutable_dim()->RemoveLast()
                                     : shape->add_dim()->set_dim_value(number(random));
    }
  }

  /// Every axis of every input becomes a symbol; equal sizes the same one, or each its own.
  void openAll(pb::GraphProto &graph) {
    bool shared = chance(2);
    for (auto [i, input] : llvm::enumerate(*graph.mutable_input())) {
      if (!input.type().has_tensor_type()) {
        continue;
      }
      for (auto [k, d] :
           llvm::enumerate(*input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())) {
        if (d.has_dim_value()) {
          d.set_dim_param(shared ? "s" + std::to_string(d.dim_value())
                                 : "s" + std::to_string(i) + "_" + std::to_string(k));
        }
      }
    }
  }

  void inputType(pb::GraphProto &graph) {
    if (pb::ValueInfoProto *input = element(graph.mutable_input()); input && input->type().has_tensor_type()) {
      input->mutable_type()->mutable_tensor_type()->set_elem_type(any(kTypes, random));
    }
  }

  void changeValue(pb::AttributeProto &attribute) {
    switch (attribute.type()) {
    case pb::AttributeProto::INT:
      return attribute.set_i(chance(2) ? number(random) : int64_t(uint64_t(attribute.i()) + random() % 3 - 1));
    case pb::AttributeProto::FLOAT:
      return attribute.set_f(any(kFloats, random));
    case pb::AttributeProto::INTS:
      if (chance(4)) {
        return attribute.add_ints(number(random));
      }
      if (chance(6) && attribute.ints_size()) {
        return (void)attribute.mutable_ints()->RemoveLast();
      }
      if (attribute.ints_size()) {
        attribute.set_ints(int(random() % uint64_t(attribute.ints_size())), number(random));
      }
      return;
    case pb::AttributeProto::STRING: {
      constexpr const char *texts[] = {"SAME_UPPER", "SAME_LOWER",    "VALID",  "NOTSET", "constant", "reflect",
                                       "edge",       "wrap",          "linear", "cubic",  "nearest",  "forward",
                                       "reverse",    "bidirectional", "add",    "mul",    "max",      "sum",
                                       "mean",       "none",          "DCR",    "CRD",    ""};
      return attribute.set_s(any(texts, random));
    }
    case pb::AttributeProto::TENSOR:
      return changeTensor(*attribute.mutable_t());
    default:
      return;
    }
  }

  void attribute(pb::GraphProto &graph) {
    pb::NodeProto *node = element(graph.mutable_node());
    if (!node) {
      return;
    }
    if (pb::AttributeProto *old = element(node->mutable_attribute()); old && !chance(4)) {
      chance(8) ? node->mutable_attribute()->RemoveLast() : changeValue(*old);
      return;
    }
    pb::AttributeProto *added = node->add_attribute();
    added->set_name(any(kAttributes, random));
    constexpr pb::AttributeProto::AttributeType types[] = {pb::AttributeProto::INT, pb::AttributeProto::INTS,
                                                           pb::AttributeProto::FLOAT, pb::AttributeProto::STRING};
    added->set_type(any(types, random));
    for (unsigned i = 0; i < 1 + random() % 4; ++i) {
      changeValue(*added);
    }
  }

  static void setOperator(pb::NodeProto &node, llvm::StringRef name) {
    auto [domain, op] = name.contains('.') ? name.rsplit('.') : std::pair(llvm::StringRef(), name);
    node.set_domain(domain.str());
    node.set_op_type(op.str());
  }

  void changeOperator(pb::GraphProto &graph) {
    if (pb::NodeProto *node = element(graph.mutable_node())) {
      setOperator(*node, any(operators(), random));
    }
  }

  void rewire(pb::GraphProto &graph) {
    std::vector<std::string> names = values(graph);
    pb::NodeProto *node = element(graph.mutable_node());
    if (node && node->input_size() && !names.empty()) {
      *element(node->mutable_input()) = chance(8) ? "" : any(names, random);
    }
  }

  void operandCount(pb::GraphProto &graph) {
    std::vector<std::string> names = values(graph);
    if (pb::NodeProto *node = element(graph.mutable_node())) {
      chance(2) && node->input_size() ? node->mutable_input()->RemoveLast()
                                      : node->add_input(names.empty() ? "" : any(names, random));
    }
  }

  /// A node in front of a node's input, or behind everything.
  void insertNode(pb::GraphProto &graph) {
    pb::NodeProto *user = element(graph.mutable_node());
    if (!user || !user->input_size() || graph.node_size() >= int(kMostNodes)) {
      return;
    }
    constexpr const char *plain[] = {"Relu", "Identity", "Transpose", "Shape",   "Softmax",
                                     "Neg",  "Sigmoid",  "Flatten",   "NonZero", "Size"};
    std::string *input = element(user->mutable_input());
    pb::NodeProto added;
    setOperator(added, chance(2) ? any(plain, random) : any(operators(), random));
    added.add_input(*input);
    if (std::vector<std::string> names = values(graph); chance(2) && !names.empty()) {
      added.add_input(any(names, random));
    }
    *added.add_output() = fresh();
    *input = added.output(0);
    *graph.add_node() = std::move(added);
    for (int i = graph.node_size() - 1; i > 0; --i) { // nodes stand in the order in which they run
      graph.mutable_node()->SwapElements(i, i - 1);
    }
  }

  void copyNode(pb::GraphProto &graph) {
    pb::NodeProto *node = element(graph.mutable_node());
    if (!node || graph.node_size() >= int(kMostNodes)) {
      return;
    }
    pb::NodeProto copy = *node;
    for (std::string &output : *copy.mutable_output()) {
      if (std::string *input = element(copy.mutable_input()); input && chance(2)) {
        *input = output; // the copy runs behind the node
      }
      output = fresh();
    }
    for (auto &output : *graph.mutable_output()) {
      if (chance(2) && copy.output_size()) {
        output.set_name(copy.output(0));
      }
    }
    *graph.add_node() = std::move(copy);
  }

  void dropNode(pb::GraphProto &graph) {
    if (graph.node_size() > 1) {
      graph.mutable_node()->DeleteSubrange(int(random() % uint64_t(graph.node_size())), 1);
    }
  }

  void changeTensor(pb::TensorProto &tensor) {
    if (chance(6)) {
      tensor.set_data_type(any(kTypes, random));
    }
    if (chance(4)) {
      chance(3) || !tensor.dims_size() ? tensor.add_dims(number(random))
                                       : tensor.set_dims(int(random() % uint64_t(tensor.dims_size())), number(random));
      if (chance(4)) {
        return; // without the data for it
      }
      resize(tensor);
    }
    std::string *raw = tensor.mutable_raw_data();
    if (tensor.data_type() == pb::TensorProto::INT64 && raw->size() >= 8) {
      int64_t value = number(random);
      std::memcpy(raw->data() + random() % (raw->size() / 8) * 8, &value, 8);
    } else if (tensor.data_type() == pb::TensorProto::FLOAT && raw->size() >= 4) {
      float value = any(kFloats, random);
      std::memcpy(raw->data() + random() % (raw->size() / 4) * 4, &value, 4);
    } else if (tensor.int64_data_size()) {
      *element(tensor.mutable_int64_data()) = number(random);
    } else if (!raw->empty()) {
      (*raw)[random() % raw->size()] = char(random());
    }
  }

  /// Data of as many bytes as the dims say, where that is little.
  static void resize(pb::TensorProto &tensor) {
    size_t bytes = tensor.data_type() == pb::TensorProto::INT64 || tensor.data_type() == pb::TensorProto::DOUBLE  ? 8
                   : tensor.data_type() == pb::TensorProto::FLOAT || tensor.data_type() == pb::TensorProto::INT32 ? 4
                                                                                                                  : 1;
    for (int64_t dim : tensor.dims()) {
      bytes *= dim < 0 || size_t(dim) > kLargestConstant ? kLargestConstant + 1 : size_t(dim);
      if (bytes > kLargestConstant) {
        return;
      }
    }
    tensor.clear_float_data(), tensor.clear_int64_data(), tensor.clear_int32_data();
    tensor.mutable_raw_data()->resize(bytes, '\1');
  }

  void constant(pb::GraphProto &graph) {
    if (pb::TensorProto *tensor = element(graph.mutable_initializer())) {
      changeTensor(*tensor);
    }
  }

  /// A constant becomes an input: what was known is now in data.
  void toInput(pb::GraphProto &graph) {
    if (!graph.initializer_size()) {
      return;
    }
    int at = int(random() % uint64_t(graph.initializer_size()));
    const pb::TensorProto &tensor = graph.initializer(at);
    pb::ValueInfoProto *input = graph.add_input();
    input->set_name(tensor.name());
    auto *type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    type->mutable_shape();
    for (int64_t dim : tensor.dims()) {
      type->mutable_shape()->add_dim()->set_dim_value(dim);
    }
    graph.mutable_initializer()->DeleteSubrange(at, 1);
  }

  /// An input becomes a constant: shapes, axes and indices that most models write so.
  void toConstant(pb::GraphProto &graph) {
    if (!graph.input_size()) {
      return;
    }
    int at = int(random() % uint64_t(graph.input_size()));
    const pb::ValueInfoProto &input = graph.input(at);
    if (!input.type().has_tensor_type()) {
      return;
    }
    pb::TensorProto tensor;
    tensor.set_name(input.name());
    tensor.set_data_type(input.type().tensor_type().elem_type());
    for (const auto &dim : input.type().tensor_type().shape().dim()) {
      tensor.add_dims(dim.has_dim_value() ? dim.dim_value() : 2);
    }
    resize(tensor);
    *graph.add_initializer() = tensor;
    changeTensor(*graph.mutable_initializer(graph.initializer_size() - 1));
    graph.mutable_input()->DeleteSubrange(at, 1);
  }

  void changeOutput(pb::GraphProto &graph) {
    std::vector<std::string> names = values(graph);
    if (!names.empty() && chance(2) && graph.output_size()) {
      element(graph.mutable_output())->set_name(any(names, random));
    } else if (!names.empty()) {
      graph.add_output()->set_name(any(names, random));
    }
  }

  void changeOpset(pb::GraphProto &) {
    if (model.opset_import_size()) {
      element(model.mutable_opset_import())->set_version(int64_t(1 + random() % 28));
    }
  }
};

} // namespace

void mutate(pb::ModelProto &model, Random &random) {
  Mutator mutator(model, random);
  for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i) {
    mutator.once();
  }
}

void append(pb::ModelProto &model, pb::ModelProto other, Random &random) {
  pb::GraphProto &graph = *model.mutable_graph(), &more = *other.mutable_graph();
  if (size_t(graph.node_size() + more.node_size()) > kMostNodes) {
    return;
  }
  std::vector<std::string> ends;
  for (const auto &output : graph.output()) {
    ends.push_back(output.name());
  }
  std::string prefix = "o" + std::to_string(random() % 1000) + "_";
  auto renamed = [&](const std::string &name) { return name.empty() ? name : prefix + name; };
  std::string replaced = more.input_size() && !ends.empty() ? renamed(more.input(0).name()) : "";
  for (pb::NodeProto &node : *more.mutable_node()) {
    for (std::string &input : *node.mutable_input()) {
      input = renamed(input);
      if (!replaced.empty() && input == replaced) {
        input = any(ends, random);
      }
    }
    for (std::string &output : *node.mutable_output()) {
      output = renamed(output);
    }
    *graph.add_node() = node;
  }
  for (pb::TensorProto &tensor : *more.mutable_initializer()) {
    tensor.set_name(renamed(tensor.name()));
    *graph.add_initializer() = tensor;
  }
  for (pb::ValueInfoProto &input : *more.mutable_input()) {
    input.set_name(renamed(input.name()));
    if (input.name() != replaced) {
      *graph.add_input() = input;
    }
  }
  for (pb::ValueInfoProto &output : *more.mutable_output()) {
    output.set_name(renamed(output.name()));
    *graph.add_output() = output;
  }
}

} // namespace ingot::fuzz
