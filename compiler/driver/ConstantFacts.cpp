// Lists the constants of a model file: initializers and the tensors of Constant nodes, those of subgraphs and of the
// model's own functions included. A name means the value of the innermost graph that has it.
#include "compiler/driver/ConstantFacts.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "llvm/ADT/StringMap.h"

namespace ingot::driver {
namespace {

class ConstantList {
public:
  /// The constants that a node can read, by name: their numbers in `constants`.
  using Scope = llvm::StringMap<size_t>;

  std::vector<ConstantFacts> constants;

  void addGraph(const onnx::GraphProto &graph, Scope scope, int depth) {
    for (const onnx::ValueInfoProto &input : graph.input()) {
      scope.erase(input.name());
    }
    for (const onnx::TensorProto &tensor : graph.initializer()) {
      addTensor(tensor.name(), tensor, scope);
    }
    for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
      addSparse(tensor.values().name(), tensor, scope);
    }
    addNodes(graph.node(), scope, depth);
    for (const onnx::ValueInfoProto &output : graph.output()) {
      addReader(output.name(), "output " + plainName(output.name()), scope);
    }
  }

  /// Adds the constants among the nodes of a graph, and then all reads of constants: nodes may be in any order.
  void addNodes(const importer::NodeList &nodes, Scope &scope, int depth) {
    for (const onnx::NodeProto &node : nodes) {
      for (const std::string &output : node.output()) {
        scope.erase(output);
      }
      addConstantOf(node, scope);
    }
    for (const onnx::NodeProto &node : nodes) {
      for (const std::string &input : node.input()) {
        addReader(input, textOf(node), scope);
      }
      for (const onnx::GraphProto *graph : importer::subgraphs(node)) {
        if (depth < kMostNesting) {
          addGraph(*graph, scope, depth + 1);
        }
      }
    }
  }

private:
  /// Returns a node as reports of the compiler name it.
  static std::string textOf(const onnx::NodeProto &node) {
    const std::string &name = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
    return plainName(name) + " (" + plainName(node.op_type()) + ")";
  }

  /// Adds a constant whose file has `stored` elements: fewer than its shape where it is sparse.
  void addConstant(const std::string &name, int32_t type, std::optional<int64_t> stored, llvm::ArrayRef<int64_t> shape,
                   Scope &scope) {
    std::optional<int64_t> bytes = stored ? importer::byteCount(type, *stored) : std::nullopt;
    ConstantFacts constant;
    constant.value.name = name;
    constant.value.type = type;
    constant.value.shape.emplace();
    for (int64_t size : shape) {
      constant.value.shape->push_back({size, ""});
    }
    constant.bytes = bytes.value_or(0);
    scope[name] = constants.size();
    constants.push_back(std::move(constant));
  }
  void addTensor(const std::string &name, const onnx::TensorProto &tensor, Scope &scope) {
    std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    addConstant(name, tensor.data_type(), importer::elementCount(dims), dims, scope);
  }
  void addSparse(const std::string &name, const onnx::SparseTensorProto &tensor, Scope &scope) {
    std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    std::vector<int64_t> stored(tensor.values().dims().begin(), tensor.values().dims().end());
    addConstant(name, tensor.values().data_type(), importer::elementCount(stored), dims, scope);
  }

  /// Adds what a Constant node holds. Its numbers outside of tensors are of interest where they are a list.
  void addConstantOf(const onnx::NodeProto &node, Scope &scope) {
    if (node.op_type() != "Constant" || !importer::plainDomain(node.domain()).empty() || node.output_size() != 1) {
      return;
    }
    const std::string &name = node.output(0);
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_t()) {
        addTensor(name, attribute.t(), scope);
      } else if (attribute.has_sparse_tensor()) {
        addSparse(name, attribute.sparse_tensor(), scope);
      } else if (int64_t count = attribute.floats_size()) {
        addConstant(name, importer::kFloat, count, {count}, scope);
      } else if (int64_t count = attribute.ints_size()) {
        addConstant(name, importer::kInt64, count, {count}, scope);
      }
    }
  }

  void addReader(const std::string &name, std::string reader, const Scope &scope) {
    auto constant = scope.find(name);
    if (constant != scope.end() && !llvm::is_contained(constants[constant->second].readers, reader)) {
      constants[constant->second].readers.push_back(std::move(reader));
    }
  }
};

} // namespace

std::vector<ConstantFacts> constantsOf(const onnx::ModelProto &model) {
  ConstantList list;
  list.addGraph(model.graph(), {}, 0);
  for (const onnx::FunctionProto &function : model.functions()) {
    ConstantList::Scope scope;
    list.addNodes(function.node(), scope, 0);
  }
  std::vector<std::pair<int64_t, size_t>> order; // by bytes, then as in the file
  for (auto [number, constant] : llvm::enumerate(list.constants)) {
    order.push_back({-constant.bytes, number});
  }
  llvm::sort(order);
  std::vector<ConstantFacts> sorted;
  sorted.reserve(order.size());
  for (const auto &[bytes, number] : order) {
    sorted.push_back(std::move(list.constants[number]));
  }
  return sorted;
}

} // namespace ingot::driver
