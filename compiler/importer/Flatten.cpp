// Replaces calls of the model's own functions by their bodies. A body's values get names of their own for each call;
// its parameters become the call's values and attributes (or the attribute's default, or nothing, as the standard
// says). How deep calls nest and how many nodes come out is bounded before anything is made, since functions that call
// each other twice in a row double at every level. Names are cut where they would grow without bound. Subgraphs stay
// what they are, but their values get names of their own too, so that one table of values serves all scopes.
#include "compiler/importer/Graph.h"
#include "compiler/importer/ModelFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace ingot::importer {

static constexpr uint64_t kMaxNodes = 250'000;
static constexpr int kMaxCalls = 64, kMaxNesting = 12;
static constexpr size_t kMaxName = 200;

static constexpr int kOverloadOfNode = 8, kOverloadOfFunction = 13, kAttributeDefaults = 11; // newer than onnx 1.12

static std::string functionKey(llvm::StringRef domain, llvm::StringRef name, const std::string *overload) {
  return (plainDomain(domain) + llvm::StringRef("\0", 1) + name + llvm::StringRef("\0", 1) +
          (overload ? *overload : ""))
      .str();
}

FunctionTable::FunctionTable(const pb::ModelProto &model) {
  for (const pb::FunctionProto &function : model.functions()) {
    std::string key = functionKey(function.domain(), function.name(), unknownField(function, kOverloadOfFunction));
    if (!functions.try_emplace(key, &function).second) {
      twice.push_back(function.name());
    }
  }
}

const pb::FunctionProto *FunctionTable::find(const pb::NodeProto &node) const {
  if (functions.empty()) {
    return nullptr;
  }
  return functions.lookup(functionKey(node.domain(), node.op_type(), unknownField(node, kOverloadOfNode)));
}

namespace {

/// The meaning of the names in a body: they are the graph's own (no call), those of one call of a function, or those of
/// a subgraph, which are looked up around it when it does not define them.
struct Frame {
  const pb::FunctionProto *function = nullptr;
  Frame *outer = nullptr; ///< the frame around a subgraph
  int nesting = 0;        ///< subgraphs around it
  std::string prefix;
  Opsets opsets;
  llvm::StringMap<std::string> values;
  llvm::StringMap<const pb::AttributeProto *> attributes;
};

/// The cost of inlining a body.
struct Extent {
  uint64_t nodes = 0;
  int calls = 0;     ///< how deep calls nest
  bool open = false; ///< whether it is still being measured, so that a call of this function is a recursion
};

class Flattener {
public:
  Flattener(const pb::ModelProto &model, Problems &problems)
      : model(model), functions(model), problems(problems), graph(std::make_unique<Graph>()) {}

  std::unique_ptr<Graph> run();

private:
  bool measure(const NodeList &nodes, const Opsets &opsets, int depth, Extent &extent);
  void body(const NodeList &nodes, Frame &frame, std::vector<Node> &out);
  void call(const pb::FunctionProto &function, Node &&node, const Frame &outer, std::vector<Node> &out);
  Node translate(const pb::NodeProto &node, Frame &frame);
  Subgraph subgraph(const pb::AttributeProto &attribute, const Node &owner, Frame &frame);
  std::string name(const std::string &local, Frame &frame);
  std::string unique(std::string name);
  void defaults(const pb::FunctionProto &function, Frame &frame);
  void takeNames(const pb::GraphProto &graph);

  const pb::ModelProto &model;
  FunctionTable functions;
  Problems &problems;
  std::unique_ptr<Graph> graph;
  std::map<const pb::FunctionProto *, Extent> extents;
  llvm::StringSet<> taken; ///< names of values and prefixes of calls, so that new ones clash with none
  uint64_t counter = 0;
};

} // namespace

bool Flattener::measure(const NodeList &nodes, const Opsets &opsets, int depth, Extent &extent) {
  for (const pb::NodeProto &node : nodes) {
    const pb::FunctionProto *function = functions.find(node);
    if (!function) {
      extent.nodes = std::min(extent.nodes + 1, kMaxNodes + 1);
      for (const pb::GraphProto *inner : subgraphs(node)) {
        if (!measure(inner->node(), opsets, depth, extent)) {
          return false;
        }
      }
      continue;
    }
    auto [entry, isNew] = extents.try_emplace(function);
    Extent &inner = entry->second;
    if (inner.open) {
      problems.add(whereIs(node, opsets), "the function calls itself");
      return false;
    }
    if (isNew && depth < kMaxCalls) {
      inner.open = true;
      if (!measure(function->node(), readOpsets(function->opset_import()), depth + 1, inner)) {
        return false;
      }
      inner.open = false;
    }
    if (depth + inner.calls >= kMaxCalls) {
      problems.add(whereIs(node, opsets), "functions call each other more than " + llvm::Twine(kMaxCalls) + " deep");
      return false;
    }
    extent.calls = std::max(extent.calls, inner.calls + 1);
    extent.nodes = std::min(extent.nodes + inner.nodes + uint64_t(function->output_size()), kMaxNodes + 1);
  }
  return true;
}

std::string Flattener::unique(std::string name) {
  if (name.size() > kMaxName) {
    name.resize(kMaxName);
  }
  std::string fresh = name;
  while (!taken.insert(fresh).second) {
    fresh = name + "#" + std::to_string(++counter);
  }
  return fresh;
}

/// Returns the graph's name for a body's value, which is a new one at its first sight in a function.
std::string Flattener::name(const std::string &local, Frame &frame) {
  if (frame.outer && !local.empty()) {
    auto own = frame.values.find(local);
    return own == frame.values.end() ? name(local, *frame.outer) : own->second;
  }
  if (!frame.function || local.empty()) {
    return local;
  }
  auto [entry, isNew] = frame.values.try_emplace(local);
  if (isNew) {
    entry->second = unique(frame.prefix + local);
  }
  return entry->second;
}

Node Flattener::translate(const pb::NodeProto &proto, Frame &frame) {
  Node node;
  node.name = frame.prefix + whereIs(proto, frame.opsets).node;
  if ((frame.function || frame.outer) && node.name.size() > kMaxName) {
    node.name.resize(kMaxName);
  }
  node.op = proto.op_type();
  node.domain = plainDomain(proto.domain()).str();
  node.opset = versionIn(frame.opsets, node.domain).value_or(0);
  for (const std::string &input : proto.input()) {
    node.inputs.push_back(name(input, frame));
  }
  for (const std::string &output : proto.output()) {
    node.outputs.push_back(name(output, frame));
  }
  for (const pb::AttributeProto &attribute : proto.attribute()) {
    if (attribute.has_g()) {
      node.subgraphs.push_back(subgraph(attribute, node, frame));
    } else if (attribute.ref_attr_name().empty()) {
      node.attributes.push_back({attribute.name(), &attribute});
    } else if (const pb::AttributeProto *given = frame.attributes.lookup(attribute.ref_attr_name())) {
      node.attributes.push_back({attribute.name(), given});
    }
  }
  return node;
}

Subgraph Flattener::subgraph(const pb::AttributeProto &attribute, const Node &owner, Frame &outer) {
  const pb::GraphProto &proto = attribute.g();
  Frame frame;
  frame.function = outer.function;
  frame.outer = &outer;
  frame.nesting = outer.nesting + 1;
  frame.opsets = outer.opsets;
  frame.attributes = outer.attributes;
  frame.prefix = owner.name + "/";
  Subgraph result;
  result.attribute = attribute.name();
  result.proto = &proto;
  if (frame.nesting > kMaxNesting) {
    problems.add(owner.where(), "subgraphs nest more than " + llvm::Twine(kMaxNesting) + " deep");
    return result;
  }
  auto define = [&](const std::string &local) {
    auto [entry, isNew] = frame.values.try_emplace(local);
    if (isNew && !local.empty()) {
      entry->second = unique(local);
    }
    return entry->second;
  };
  for (const pb::ValueInfoProto &input : proto.input()) {
    result.inputs.push_back(define(input.name()));
  }
  for (const pb::TensorProto &tensor : proto.initializer()) {
    result.initializers.push_back(define(tensor.name()));
  }
  for (const pb::SparseTensorProto &tensor : proto.sparse_initializer()) {
    result.initializers.push_back(define(tensor.values().name()));
  }
  for (const pb::NodeProto &node : proto.node()) {
    llvm::for_each(node.output(), define);
  }
  body(proto.node(), frame, result.nodes);
  for (const pb::ValueInfoProto &output : proto.output()) {
    result.outputs.push_back(name(output.name(), frame));
  }
  return result;
}

void Flattener::defaults(const pb::FunctionProto &function, Frame &frame) {
  const google::protobuf::UnknownFieldSet &fields = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    if (field.number() != kAttributeDefaults || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      continue;
    }
    pb::AttributeProto &value = graph->defaults.emplace_back();
    if (value.ParseFromString(field.length_delimited())) {
      frame.attributes[value.name()] = &value;
    }
  }
}

void Flattener::call(const pb::FunctionProto &function, Node &&node, const Frame &outer, std::vector<Node> &out) {
  Frame frame;
  frame.function = &function;
  frame.nesting = outer.nesting;
  frame.prefix = unique(node.name) + "/";
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
  body(function.node(), frame, out);
  for (const auto &[from, to] : copies) {
    Node copy;
    copy.name = node.name;
    copy.op = "Identity";
    copy.opset = 13;
    copy.inputs = {from};
    copy.outputs = {to};
    out.push_back(std::move(copy));
  }
}

void Flattener::body(const NodeList &nodes, Frame &frame, std::vector<Node> &out) {
  std::vector<int> cycle;
  for (int index : orderNodes(nodes, cycle)) {
    Node node = translate(nodes[index], frame);
    if (const pb::FunctionProto *function = functions.find(nodes[index])) {
      call(*function, std::move(node), frame, out);
    } else {
      out.push_back(std::move(node));
    }
  }
}

/// Takes the names of the graph's own values; those of subgraphs are given when they are reached.
void Flattener::takeNames(const pb::GraphProto &proto) {
  for (const pb::ValueInfoProto &input : proto.input()) {
    taken.insert(input.name());
  }
  for (const pb::TensorProto &tensor : proto.initializer()) {
    taken.insert(tensor.name());
  }
  for (const pb::SparseTensorProto &tensor : proto.sparse_initializer()) {
    taken.insert(tensor.values().name());
  }
  for (const pb::NodeProto &node : proto.node()) {
    taken.insert(node.output().begin(), node.output().end());
  }
}

std::unique_ptr<Graph> Flattener::run() {
  Frame frame;
  frame.opsets = readOpsets(model.opset_import());
  if (model.functions_size() != 0) {
    Extent extent;
    if (!measure(model.graph().node(), frame.opsets, 0, extent)) {
      return nullptr;
    }
    if (extent.nodes > kMaxNodes) {
      problems.add("has more than " + llvm::Twine(kMaxNodes) + " nodes once its functions are inlined");
      return nullptr;
    }
  }
  takeNames(model.graph());
  graph->proto = &model.graph();
  size_t before = problems.count();
  body(model.graph().node(), frame, graph->nodes);
  return problems.count() == before ? std::move(graph) : nullptr;
}

std::unique_ptr<Graph> flattenModel(const pb::ModelProto &model, Problems &problems) {
  return Flattener(model, problems).run();
}

} // namespace ingot::importer
