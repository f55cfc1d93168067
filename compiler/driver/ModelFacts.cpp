#include "compiler/driver/ModelFacts.h"
#include "compiler/driver/ConstantFacts.h"
#include "compiler/driver/Driver.h"
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "compiler/importer/ModelFile.h"
#include "compiler/importer/Types.h"
#include "llvm/ADT/StringSet.h"

namespace ingot::driver {
namespace {

ValueFacts valueFacts(const onnx::ValueInfoProto &value) {
  ValueFacts facts;
  facts.name = value.name();
  const onnx::TypeProto::Sequence *sequence = importer::sequenceTypeOf(value.type());
  facts.isMap = value.type().has_map_type();
  facts.areMaps = sequence && sequence->elem_type().has_map_type();
  facts.isSequence = sequence && !facts.areMaps;
  const onnx::TypeProto::Tensor *type = importer::tensorTypeOf(sequence ? sequence->elem_type() : value.type());
  if (!type) {
    return facts;
  }
  facts.isOptional = value.type().has_optional_type();
  const onnx::TypeProto::Tensor &tensor = *type;
  facts.type = tensor.elem_type();
  if (tensor.has_shape()) {
    facts.shape.emplace();
    for (const onnx::TensorShapeProto::Dimension &dim : tensor.shape().dim()) {
      bool known = dim.has_dim_value() && dim.dim_value() >= 0;
      facts.shape->push_back({known ? dim.dim_value() : -1, dim.dim_param()});
    }
  }
  return facts;
}

std::string nameWith(llvm::StringRef domain, const std::string &op) {
  llvm::StringRef plain = importer::plainDomain(domain);
  return (plain + (plain.empty() ? "" : ".") + op).str();
}

void countNodes(const importer::NodeList &nodes, ModelFacts &facts, int depth) {
  for (const onnx::NodeProto &node : nodes) {
    ++facts.nodes;
    ++facts.ops[nameWith(node.domain(), node.op_type())];
    if (depth < kMostNesting) {
      for (const onnx::GraphProto *graph : importer::subgraphs(node)) {
        countNodes(graph->node(), facts, depth + 1);
      }
    }
  }
}

/// Adds the names that a graph's nodes and outputs read, and those that its subgraphs read. A subgraph's own names are
/// among them, so a value around it that has the same name counts as read.
void addReads(const onnx::GraphProto &graph, llvm::StringSet<> &reads, int depth) {
  for (const onnx::ValueInfoProto &output : graph.output()) {
    reads.insert(output.name());
  }
  for (const onnx::NodeProto &node : graph.node()) {
    reads.insert(node.input().begin(), node.input().end());
    if (depth < kMostNesting) {
      for (const onnx::GraphProto *inner : importer::subgraphs(node)) {
        addReads(*inner, reads, depth + 1);
      }
    }
  }
}

void countParameters(const onnx::TensorProto &tensor, const llvm::StringSet<> &reads, ModelFacts &facts) {
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  std::optional<int64_t> elements = importer::elementCount(dims);
  std::optional<int64_t> bytes = elements ? importer::byteCount(tensor.data_type(), *elements) : std::nullopt;
  ++facts.parameterTensors;
  facts.parameters += elements.value_or(0);
  facts.parameterBytes += bytes.value_or(0);
  if (!reads.contains(tensor.name())) {
    facts.unreadParameters.push_back({tensor.name(), bytes.value_or(0)});
  }
}

} // namespace

std::string plainName(const std::string &name) {
  std::string quoted = support::quoted(name);
  return quoted.substr(1, quoted.size() - 2);
}

std::string ValueFacts::text() const {
  llvm::StringRef element = importer::elementName(type);
  std::string text = isOptional ? "optional " : "";
  text += isSequence ? "sequence of " : "";
  text += isMap             ? "map"
          : areMaps         ? "sequence of maps"
          : type == 0       ? "not a tensor"
          : element.empty() ? "type " + std::to_string(type)
                            : element.str();
  if (!shape) {
    return type == 0 ? text : text + "[...]";
  }
  std::string dims;
  for (const Dim &dim : *shape) {
    dims += dims.empty() ? "" : ",";
    dims += dim.size >= 0 ? std::to_string(dim.size) : dim.symbol.empty() ? "?" : plainName(dim.symbol);
  }
  return text + "[" + dims + "]";
}

llvm::Expected<ModelFacts> readModelFacts(const std::string &path) {
  support::Problems problems(path);
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(path, problems);
  if (!file) {
    return llvm::make_error<ExitError>(1, llvm::StringRef(problems.text()).rtrim().str());
  }
  const onnx::ModelProto &model = file->model();
  ModelFacts facts;
  facts.producer = model.producer_name() + (model.producer_version().empty() ? "" : " " + model.producer_version());
  facts.irVersion = model.ir_version();
  llvm::StringSet<> initializers, reads;
  addReads(model.graph(), reads, 0);
  for (const onnx::TensorProto &tensor : model.graph().initializer()) {
    initializers.insert(tensor.name());
    countParameters(tensor, reads, facts);
  }
  for (const onnx::SparseTensorProto &tensor : model.graph().sparse_initializer()) {
    initializers.insert(tensor.values().name());
    countParameters(tensor.values(), reads, facts);
  }
  facts.constants = constantsOf(model);
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    if (!initializers.contains(input.name())) {
      facts.inputs.push_back(valueFacts(input));
      if (!reads.contains(input.name())) {
        facts.unreadInputs.push_back(input.name());
      }
    }
  }
  for (const onnx::ValueInfoProto &output : model.graph().output()) {
    facts.outputs.push_back(valueFacts(output));
  }
  countNodes(model.graph().node(), facts, 0);
  for (const onnx::NodeProto &node : model.graph().node()) {
    for (const std::string &output : node.output()) {
      facts.makers[output] =
          support::quoted(node.name().empty() ? output : node.name()) + " (" + plainName(node.op_type()) + ")";
    }
  }
  for (const onnx::FunctionProto &function : model.functions()) {
    countNodes(function.node(), facts, 0);
    facts.functions.insert(nameWith(function.domain(), function.name()));
  }
  for (const onnx::OperatorSetIdProto &opset : model.opset_import()) {
    std::string domain = importer::plainDomain(opset.domain()).str();
    if (domain.empty() || facts.ops.lower_bound(domain + ".") != facts.ops.lower_bound(domain + "/")) {
      facts.opsets[domain] = opset.version();
    }
  }
  return facts;
}

} // namespace ingot::driver
