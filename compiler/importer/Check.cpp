// Finds what is wrong with the graph as it is written (names, cycles, operator sets, operators, dims of inputs and
// outputs) before any of it is built, in one walk over the graph, its subgraphs and the functions, and reports it
// together. Attributes, types and shapes are checked node by node in compiler/graph/resolve/Resolve.cpp. Scopes are a
// chain: a subgraph sees the names around it, a function body sees only its own.
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace ingot::importer {

static constexpr int64_t kOldestIr = 3, kNewestIr = 14;

llvm::StringRef plainDomain(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

Opsets readOpsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto> &imports) {
  Opsets opsets;
  for (const pb::OperatorSetIdProto &import : imports) {
    opsets[plainDomain(import.domain()).str()] = import.version();
  }
  return opsets;
}

std::optional<int64_t> versionIn(const Opsets &opsets, llvm::StringRef domain) {
  if (auto opset = opsets.find(domain); opset != opsets.end()) {
    return opset->second;
  }
  // ONNX Runtime knows its own domain without an import, and so do models that were only run by it.
  return domain == "com.microsoft" ? std::optional<int64_t>(1) : std::nullopt;
}

static std::string opName(llvm::StringRef domain, llvm::StringRef op) {
  return domain.empty() ? op.str() : (domain + "." + op).str();
}

Where Node::where() const { return {name, opName(domain, op), opset}; }

Where whereIs(const pb::NodeProto &node, const Opsets &opsets) {
  std::string name = node.name();
  auto output = llvm::find_if(node.output(), [](const std::string &value) { return !value.empty(); });
  if (name.empty() && output != node.output().end()) {
    name = *output;
  }
  llvm::StringRef domain = plainDomain(node.domain());
  return {name, opName(domain, node.op_type()), versionIn(opsets, domain).value_or(0)};
}

namespace {

struct Scope {
  const Scope *outer = nullptr;
  llvm::StringSet<> names;

  bool knows(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer) {
      if (scope->names.contains(name)) {
        return true;
      }
    }
    return false;
  }
};

class Checker {
public:
  Checker(const pb::ModelProto &model, OpQuestion question, Problems &problems)
      : model(model), functions(model), question(question), problems(problems) {}

  void run();
  size_t tolerable = 0; ///< problems after which the rest of the model still makes sense

private:
  void versions(const Opsets &opsets, llvm::StringRef owner);
  void graph(const pb::GraphProto &graph, const Opsets &opsets, const Scope *outer);
  void valueType(const pb::ValueInfoProto &value, llvm::StringRef role);
  void nodes(const NodeList &nodes, const Opsets &opsets, Scope &scope, llvm::StringRef owner);
  void node(const pb::NodeProto &node, const Opsets &opsets, const Scope &scope);
  void op(const pb::NodeProto &node, const Where &where, const Opsets &opsets);
  void functionBodies();

  const pb::ModelProto &model;
  FunctionTable functions;
  OpQuestion question;
  Problems &problems;
  /// Bodies that are reachable, which become more while they are checked.
  llvm::SetVector<const pb::FunctionProto *> called;
};

} // namespace

void Checker::versions(const Opsets &opsets, llvm::StringRef owner) {
  if (opsets.empty()) {
    problems.add(owner + " imports no operator set");
  }
  auto standard = opsets.find("");
  if (standard != opsets.end() && standard->second < 1) {
    problems.add(owner + " imports operator set " + llvm::Twine(standard->second) + " of ai.onnx; the first is 1");
  }
}

void Checker::run() {
  if (model.ir_version() < kOldestIr || model.ir_version() > kNewestIr) {
    problems.add("has IR version " + llvm::Twine(model.ir_version()) + "; supported are " + llvm::Twine(kOldestIr) +
                 " to " + llvm::Twine(kNewestIr));
    ++tolerable;
  }
  Opsets opsets = readOpsets(model.opset_import());
  versions(opsets, "the model");
  for (const std::string &name : functions.duplicates()) {
    problems.add("function " + quoted(name) + " is defined twice");
  }
  for (const pb::ValueInfoProto &input : model.graph().input()) {
    valueType(input, "input ");
  }
  for (const pb::ValueInfoProto &output : model.graph().output()) {
    valueType(output, "output ");
  }
  if (model.graph().output().empty()) {
    problems.add("the graph has no outputs");
  }
  graph(model.graph(), opsets, nullptr);
  functionBodies();
}

void Checker::valueType(const pb::ValueInfoProto &value, llvm::StringRef role) {
  const pb::TypeProto::Tensor &type = value.type().tensor_type();
  if (!value.type().has_tensor_type() || !type.has_shape()) {
    return;
  }
  llvm::SmallVector<int64_t> dims;
  for (const pb::TensorShapeProto::Dimension &dim : type.shape().dim()) {
    dims.push_back(dim.has_dim_value() ? std::max<int64_t>(dim.dim_value(), 1) : 1);
  }
  std::optional<int64_t> elements = elementCount(dims);
  std::optional<int64_t> bytes =
      elements && elementBits(type.elem_type()) ? byteCount(type.elem_type(), *elements) : elements;
  if (!bytes || *bytes > kLargestTensor) {
    problems.add(role + quoted(value.name()) + " has impossible dims " + dimsText(dims));
  }
}

void Checker::graph(const pb::GraphProto &graph, const Opsets &opsets, const Scope *outer) {
  Scope scope;
  scope.outer = outer;
  llvm::StringSet<> inputs;
  for (const pb::ValueInfoProto &input : graph.input()) {
    if (!inputs.insert(input.name()).second) {
      problems.add("input " + quoted(input.name()) + " is defined twice");
    }
  }
  auto initializer = [&](const std::string &name) {
    if (!scope.names.insert(name).second) {
      problems.add("initializer " + quoted(name) + " is defined twice");
    }
  };
  for (const pb::TensorProto &tensor : graph.initializer()) {
    initializer(tensor.name());
  }
  for (const pb::SparseTensorProto &tensor : graph.sparse_initializer()) {
    initializer(tensor.values().name());
  }
  for (const auto &input : inputs) {
    scope.names.insert(input.getKey()); // an input's initializer is its default, not a second definition
  }
  nodes(graph.node(), opsets, scope, "the graph");
  for (const pb::ValueInfoProto &output : graph.output()) {
    if (!scope.knows(output.name())) {
      problems.add("output " + quoted(output.name()) + " is not defined by any node, initializer or input");
    }
  }
}

void Checker::nodes(const NodeList &list, const Opsets &opsets, Scope &scope, llvm::StringRef owner) {
  llvm::StringSet<> constants;
  for (const pb::NodeProto &node : list) {
    for (const std::string &output : node.output()) {
      // Some exporters define a constant twice; the last one counts.
      bool again = isConstant(node) && !constants.insert(output).second;
      if (!output.empty() && !scope.names.insert(output).second && !again) {
        problems.add(whereIs(node, opsets),
                     "defines the value " + quoted(output) + ", which is defined elsewhere, too");
      }
    }
  }
  for (const pb::NodeProto &next : list) {
    node(next, opsets, scope);
  }
  std::vector<int> cycle;
  orderNodes(list, cycle);
  if (!cycle.empty()) {
    std::string text;
    for (int index : llvm::ArrayRef(cycle).take_front(6)) {
      text += quoted(whereIs(list[index], opsets).node) + " -> ";
    }
    problems.add(whereIs(list[cycle.front()], opsets),
                 owner + " has a cycle of " + llvm::Twine(cycle.size()) + " nodes: " + text +
                     (cycle.size() > 6 ? "..." : quoted(whereIs(list[cycle.front()], opsets).node)));
  }
}

void Checker::node(const pb::NodeProto &node, const Opsets &opsets, const Scope &scope) {
  Where where = whereIs(node, opsets);
  if (node.op_type().empty()) {
    problems.add(where, "has no operator");
    return;
  }
  for (int i = 0; i < node.input_size(); ++i) {
    if (!node.input(i).empty() && !scope.knows(node.input(i))) {
      problems.add(where, "input " + llvm::Twine(i) + ", " + quoted(node.input(i)) +
                              ", is not defined by any node, initializer or input");
    }
  }
  llvm::StringSet<> attributes;
  for (const pb::AttributeProto &attribute : node.attribute()) {
    if (!attributes.insert(attribute.name()).second) {
      problems.add(where, "attribute " + quoted(attribute.name()) + " is given twice");
    }
  }
  op(node, where, opsets);
  for (const pb::GraphProto *inner : subgraphs(node)) {
    graph(*inner, opsets, &scope);
  }
}

void Checker::op(const pb::NodeProto &node, const Where &where, const Opsets &opsets) {
  if (const pb::FunctionProto *function = functions.find(node)) {
    if (node.input_size() > function->input_size() || node.output_size() > function->output_size()) {
      problems.add(where, "has more inputs or outputs than the function that it calls");
    }
    called.insert(function);
    return;
  }
  std::optional<int64_t> opset = versionIn(opsets, plainDomain(node.domain()));
  if (!opset) {
    problems.add(where, "uses the domain " + quoted(node.domain().empty() ? "ai.onnx" : node.domain()) +
                            ", of which no operator set is imported");
    return;
  }
  std::string reason = question(plainDomain(node.domain()), node.op_type(), *opset);
  if (!reason.empty()) {
    problems.add(where, reason);
    ++tolerable;
  }
}

void Checker::functionBodies() {
  for (size_t i = 0; i < called.size(); ++i) {
    const pb::FunctionProto &function = *called[i];
    std::string owner = "function " + quoted(function.name());
    Opsets opsets = readOpsets(function.opset_import());
    versions(opsets, owner);
    Scope scope;
    for (const std::string &input : function.input()) {
      if (!scope.names.insert(input).second) {
        problems.add(owner + " has the input " + quoted(input) + " twice");
      }
    }
    nodes(function.node(), opsets, scope, owner);
    for (const std::string &output : function.output()) {
      if (!scope.knows(output)) {
        problems.add(owner + " does not define its output " + quoted(output));
      }
    }
  }
}

bool checkModel(const pb::ModelProto &model, OpQuestion question, Problems &problems) {
  size_t before = problems.count();
  Checker checker(model, question, problems);
  checker.run();
  return problems.count() - before <= checker.tolerable;
}

} // namespace ingot::importer
