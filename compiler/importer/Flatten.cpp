// Calls of the model's own functions are replaced by their bodies. A body's values get names of their own for each
// call; its parameters become the call's values and attributes (or the attribute's default, or nothing, as the standard
// says). How deep calls nest and how many nodes come out is bounded: functions that call each other twice in a row
// double at every level.
#include "compiler/importer/Graph.h"
#include "compiler/importer/ModelFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace ingot::importer {

static constexpr size_t kMaxNodes = 1'000'000;
static constexpr size_t kMaxCalls = 64;

static constexpr int kOverloadOfNode = 8, kOverloadOfFunction = 13, kAttributeDefaults = 11; // newer than onnx 1.12

static std::string functionKey(llvm::StringRef domain, llvm::StringRef name, const std::string *overload) {
  return (plainDomain(domain) + llvm::StringRef("\0", 1) + name + llvm::StringRef("\0", 1) +
          (overload ? *overload : ""))
      .str();
}

FunctionTable::FunctionTable(const onnx::ModelProto &model) {
  for (const onnx::FunctionProto &function : model.functions()) {
    std::string key = functionKey(function.domain(), function.name(), unknownField(function, kOverloadOfFunction));
    if (!functions.try_emplace(key, &function).second) {
      twice.push_back(function.name());
    }
  }
}

const onnx::FunctionProto *FunctionTable::find(const onnx::NodeProto &node) const {
  if (functions.empty()) {
    return nullptr;
  }
  return functions.lookup(functionKey(node.domain(), node.op_type(), unknownField(node, kOverloadOfNode)));
}

namespace {

/// What the names in a body mean: the graph's own (no call), or those of one call of a function.
struct Frame {
  const onnx::FunctionProto *function = nullptr;
  std::string prefix;
  Opsets opsets;
  llvm::StringMap<std::string> values;
  llvm::StringMap<const onnx::AttributeProto *> attributes;
};

class Flattener {
public:
  Flattener(const onnx::ModelProto &model, Problems &problems)
      : model(model), functions(model), problems(problems), graph(std::make_unique<Graph>()) {}

  std::unique_ptr<Graph> run();

private:
  bool body(const NodeList &nodes, Frame &frame);
  bool call(const onnx::FunctionProto &function, Node &&node);
  Node translate(const onnx::NodeProto &node, Frame &frame);
  std::string name(const std::string &local, Frame &frame);
  void defaults(const onnx::FunctionProto &function, Frame &frame);
  void takeNames(const onnx::GraphProto &graph);

  const onnx::ModelProto &model;
  FunctionTable functions;
  Problems &problems;
  std::unique_ptr<Graph> graph;
  std::vector<const onnx::FunctionProto *> stack;
  llvm::StringSet<> taken; ///< names of values, so that new ones clash with none
};

} // namespace

/// The graph's name for a body's value; a new one at its first sight.
std::string Flattener::name(const std::string &local, Frame &frame) {
  if (!frame.function || local.empty()) {
    return local;
  }
  auto [entry, isNew] = frame.values.try_emplace(local);
  if (isNew) {
    std::string fresh = frame.prefix + local;
    for (int number = 1; !taken.insert(fresh).second; ++number) {
      fresh = frame.prefix + local + "#" + std::to_string(number);
    }
    entry->second = fresh;
  }
  return entry->second;
}

Node Flattener::translate(const onnx::NodeProto &proto, Frame &frame) {
  Node node;
  node.name = frame.prefix + whereIs(proto, frame.opsets).node;
  node.op = proto.op_type();
  node.domain = plainDomain(proto.domain()).str();
  auto opset = frame.opsets.find(node.domain);
  node.opset = opset == frame.opsets.end() ? 0 : opset->second;
  for (const std::string &input : proto.input()) {
    node.inputs.push_back(name(input, frame));
  }
  for (const std::string &output : proto.output()) {
    node.outputs.push_back(name(output, frame));
  }
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      node.attributes.push_back({attribute.name(), &attribute});
    } else if (const onnx::AttributeProto *given = frame.attributes.lookup(attribute.ref_attr_name())) {
      node.attributes.push_back({attribute.name(), given});
    }
  }
  return node;
}

void Flattener::defaults(const onnx::FunctionProto &function, Frame &frame) {
  const google::protobuf::UnknownFieldSet &fields = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    if (field.number() != kAttributeDefaults || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      continue;
    }
    onnx::AttributeProto &value = graph->defaults.emplace_back();
    if (value.ParseFromString(field.length_delimited())) {
      frame.attributes[value.name()] = &value;
    }
  }
}

bool Flattener::call(const onnx::FunctionProto &function, Node &&node) {
  if (llvm::is_contained(stack, &function)) {
    problems.add(node.where(), "the function calls itself");
    return false;
  }
  if (stack.size() >= kMaxCalls) {
    problems.add(node.where(), "functions call each other more than " + llvm::Twine(kMaxCalls) + " deep");
    return false;
  }
  Frame frame;
  frame.function = &function;
  frame.prefix = node.name + "/";
  frame.opsets = readOpsets(function.opset_import());
  defaults(function, frame);
  for (const NodeAttribute &attribute : node.attributes) {
    frame.attributes[attribute.name] = attribute.value;
  }
  for (int i = 0; i < function.input_size(); ++i) {
    frame.values[function.input(i)] = size_t(i) < node.inputs.size() ? node.inputs[i] : "";
  }
  // An output of the body is the call's own value. One that is also a parameter, or is returned twice, needs a copy.
  std::vector<std::pair<std::string, std::string>> copies;
  for (size_t i = 0; i < node.outputs.size() && int(i) < function.output_size(); ++i) {
    if (!node.outputs[i].empty() && !frame.values.try_emplace(function.output(int(i)), node.outputs[i]).second) {
      copies.emplace_back(frame.values[function.output(int(i))], node.outputs[i]);
    }
  }
  stack.push_back(&function);
  bool done = body(function.node(), frame);
  stack.pop_back();
  for (const auto &[from, to] : copies) {
    Node copy;
    copy.name = node.name;
    copy.op = "Identity";
    copy.opset = 13;
    copy.inputs = {from};
    copy.outputs = {to};
    graph->nodes.push_back(std::move(copy));
  }
  return done;
}

bool Flattener::body(const NodeList &nodes, Frame &frame) {
  std::vector<int> cycle;
  for (int index : orderNodes(nodes, cycle)) {
    Node node = translate(nodes[index], frame);
    if (const onnx::FunctionProto *function = functions.find(nodes[index])) {
      if (!call(*function, std::move(node))) {
        return false;
      }
      continue;
    }
    if (graph->nodes.size() >= kMaxNodes) {
      problems.add("has more than " + llvm::Twine(kMaxNodes) + " nodes once its functions are inlined");
      return false;
    }
    graph->nodes.push_back(std::move(node));
  }
  return true;
}

/// Names of the graph and of everything in its subgraphs.
void Flattener::takeNames(const onnx::GraphProto &proto) {
  for (const onnx::ValueInfoProto &input : proto.input()) {
    taken.insert(input.name());
  }
  for (const onnx::TensorProto &tensor : proto.initializer()) {
    taken.insert(tensor.name());
  }
  for (const onnx::SparseTensorProto &tensor : proto.sparse_initializer()) {
    taken.insert(tensor.values().name());
  }
  for (const onnx::NodeProto &node : proto.node()) {
    taken.insert(node.output().begin(), node.output().end());
    for (const onnx::GraphProto *inner : subgraphs(node)) {
      takeNames(*inner);
    }
  }
}

std::unique_ptr<Graph> Flattener::run() {
  Frame frame;
  frame.opsets = readOpsets(model.opset_import());
  if (model.functions_size() != 0) {
    takeNames(model.graph());
  }
  graph->proto = &model.graph();
  return body(model.graph().node(), frame) ? std::move(graph) : nullptr;
}

std::unique_ptr<Graph> flattenModel(const onnx::ModelProto &model, Problems &problems) {
  return Flattener(model, problems).run();
}

} // namespace ingot::importer
