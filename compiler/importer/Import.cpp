// Makes ops of a flat graph: each node becomes an onnx.Node as it is written, with its subgraphs as regions;
// graph::resolve says what such a node means. Names become values, attributes are converted, weights are constants over
// the mapped file. What cannot be written so (an attribute of an unknown kind, a weight that cannot be read) is noted
// with the node, and is a problem where that is needed.
#include "compiler/importer/Importer.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/interfaces/Expansion.h"
#include "compiler/onnx/rewriting/Operators.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;

namespace ingot::importer {

/// Returns what the user is told of the domains that a model imports in versions newer than those known.
static std::string warningsOf(llvm::StringRef path, const std::map<std::string, int64_t> &newer) {
  std::string text;
  for (const auto &[domain, version] : newer) {
    std::string newest = std::to_string(*onnx::newestVersion(domain));
    text += path.str() + ": warning: opset " + std::to_string(version) + " of " +
            (domain.empty() ? "ai.onnx" : domain) + " is newer than " + newest +
            ", the newest that is known; its operators are taken as opset " + newest + " defines them\n";
  }
  return text;
}

void Importer::initializer(const std::string &name, llvm::Expected<TensorData> data) {
  llvm::Expected<ElementsAttr> elements = data ? makeElements(context, *data, name) : data.takeError();
  std::string text = elements ? "" : "initializer " + quoted(name) + " " + llvm::toString(elements.takeError());
  weights[name] = {elements ? *elements : ElementsAttr(), current ? current->where() : Where(), text};
}

void Importer::initializers(const pb::GraphProto &proto, llvm::ArrayRef<std::string> names) {
  auto name = [&](const std::string &own) {
    if (names.empty()) {
      return own;
    }
    std::string given = names.front();
    names = names.drop_front();
    return given;
  };
  for (const pb::TensorProto &tensor : proto.initializer()) {
    initializer(name(tensor.name()), readTensor(tensor, file));
  }
  for (const pb::SparseTensorProto &tensor : proto.sparse_initializer()) {
    initializer(name(tensor.values().name()), readSparse(tensor, file));
  }
}

/// Makes the op of a node. `where` names it in messages; for a weight that cannot be read it is the node around it, or
/// nothing.
onnx::NodeOp Importer::make(const Where &where, llvm::StringRef domain, const Inputs &inputs, TypeRange results,
                            NamedAttrList given, const Node *node) {
  auto texts = [&](auto &&list) {
    return builder.getStrArrayAttr(SmallVector<llvm::StringRef>(list.begin(), list.end()));
  };
  SmallVector<Attribute> subgraphs;
  for (const Subgraph &graph : node ? llvm::ArrayRef(node->subgraphs) : llvm::ArrayRef<Subgraph>()) {
    subgraphs.push_back(describe(graph));
  }
  llvm::StringRef kind = where.op;
  kind.consume_front((domain + ".").str());
  return onnx::NodeOp::create(
      builder, locationOf(where), results, inputs.values, domain, kind, where.opset, texts(inputs.names),
      node ? texts(node->outputs) : builder.getStrArrayAttr(SmallVector<llvm::StringRef>(results.size(), "?")),
      given.getDictionary(context), builder.getArrayAttr(subgraphs),
      inputs.problems.empty() ? ArrayAttr() : texts(inputs.problems), subgraphs.size());
}

/// Returns the value of a name. A weight becomes an op at its first use; when that is in a subgraph, before the
/// outermost node that holds it, so that others can use it too. One that cannot be read is a problem of each node that
/// reads it.
Importer::Value Importer::value(const std::string &name) {
  Type none = builder.getNoneType();
  auto weight = weights.find(name);
  if (weight == weights.end()) {
    Value v = values.lookup(name); // null: the input has been refused
    return v ? v : make({}, "", {{}, {}, {""}}, none)->getResult(0);
  }
  if (!weight->second.elements) {
    return make(weight->second.where, "", {{}, {}, {weight->second.problem}}, none)->getResult(0);
  }
  OpBuilder::InsertionGuard guard(builder);
  if (outermost) {
    builder.setInsertionPoint(outermost);
  }
  values[name] = onnx::makeConstant(builder, locationOf(name), weight->second.elements);
  weights.erase(weight);
  return values[name];
}

Importer::Inputs Importer::inputsOf(const Node &node) {
  Inputs inputs;
  bool takesMaps = node.domain == "ai.onnx.ml" && (node.op == "DictVectorizer" || node.op == "CastMap");
  for (const std::string &name : node.inputs) {
    auto map = maps.find(name);
    if (map != maps.end() && takesMaps) {
      inputs.values.append({map->second.keys, map->second.values});
      inputs.names.append(2, name);
      continue;
    }
    bool isMap = map != maps.end() || keysOfMaps.contains(name);
    if (isMap) {
      inputs.problems.push_back("input " + quoted(name) + " is a map, or several, which is unsupported here");
    } else if (!name.empty()) {
      inputs.values.push_back(value(name));
    }
    inputs.names.push_back(isMap ? "" : llvm::StringRef(name));
  }
  return inputs;
}

/// Appends the tensors that an attribute names as operands, and returns how many there are.
int32_t Importer::namedTensors(const NodeAttribute &attribute, Inputs &inputs) {
  SmallVector<const std::string *> names;
  for (const std::string &name : attribute.value->strings()) {
    names.push_back(&name);
  }
  if (attribute.value->has_s()) {
    names.push_back(&attribute.value->s());
  }
  for (const std::string *name : names) {
    if (!values.lookup(*name) && !weights.contains(*name)) {
      inputs.problems.push_back("names " + quoted(*name) + ", which is no tensor that is computed before it");
      return 0;
    }
    inputs.values.push_back(value(*name));
    inputs.names.push_back(*name);
  }
  return static_cast<int32_t>(names.size());
}

/// Returns the node's attributes. Tensors that some of them name become inputs, a group for each of these attributes.
NamedAttrList Importer::attributes(const Node &node, Inputs &inputs) {
  NamedAttrList given;
  std::optional<RegisteredOperationName> info = onnx::lookupOperator(context, node.domain, node.op);
  llvm::ArrayRef<llvm::StringLiteral> namers;
  if (auto *namer = info ? info->getInterface<onnx::TensorNamer>() : nullptr) {
    namers = namer->tensorAttributes();
    while (!inputs.names.empty() && inputs.names.back().empty()) {
      inputs.names.pop_back(); // trailing empty names say what no names would have said
    }
    SmallVector<int32_t> groups = {static_cast<int32_t>(inputs.names.size())};
    for (llvm::StringRef name : namers) {
      auto found = llvm::find_if(node.attributes, [&](const NodeAttribute &own) { return own.name == name; });
      groups.push_back(found == node.attributes.end() ? 0 : namedTensors(*found, inputs));
    }
    given.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(groups));
  }
  for (const auto &[name, proto] : node.attributes) {
    if (llvm::is_contained(namers, llvm::StringRef(name))) {
      continue;
    }
    llvm::Expected<Attribute> value = makeAttribute(context, *proto, node.name + "." + name, file);
    if (value) {
      given.set(name, *value);
    } else {
      inputs.problems.push_back("attribute " + quoted(name) + " " + llvm::toString(value.takeError()));
    }
  }
  return given;
}

/// Returns what a subgraph declares: names and types.
DictionaryAttr Importer::describe(const Subgraph &graph) {
  auto typesOf = [&](auto &values) {
    SmallVector<Type> types;
    for (const pb::ValueInfoProto &value : values) {
      Type type = declaredType(context, value);
      types.push_back(type ? type : builder.getNoneType());
    }
    return builder.getTypeArrayAttr(types);
  };
  SmallVector<llvm::StringRef> inputs, outputs(graph.outputs.begin(), graph.outputs.end());
  for (const pb::ValueInfoProto &input : graph.proto->input()) {
    inputs.push_back(input.name());
  }
  return builder.getDictionaryAttr({builder.getNamedAttr("name", builder.getStringAttr(graph.attribute)),
                                    builder.getNamedAttr("inputs", builder.getStrArrayAttr(inputs)),
                                    builder.getNamedAttr("input_types", typesOf(graph.proto->input())),
                                    builder.getNamedAttr("outputs", builder.getStrArrayAttr(outputs)),
                                    builder.getNamedAttr("output_types", typesOf(graph.proto->output()))});
}

void Importer::fill(const Subgraph &graph, Region &region) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = region.emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  for (const std::string &name : graph.inputs) {
    values[name] = block.addArgument(builder.getNoneType(), region.getLoc());
  }
  initializers(*graph.proto, graph.initializers);
  llvm::for_each(graph.nodes, [&](const Node &inner) { node(inner); });
  auto results = llvm::map_to_vector(graph.outputs, [&](const std::string &name) { return value(name); });
  onnx::NodeYieldOp::create(builder, region.getLoc(), results);
}

void Importer::constantNode(const Node &node) {
  llvm::Expected<ElementsAttr> elements = makeConstantNode(context, node, file);
  std::string problem = elements ? "" : llvm::toString(elements.takeError());
  if (node.outputs.size() != 1 || !node.inputs.empty()) {
    SmallVector<Type> types(node.outputs.size(), builder.getNoneType());
    takeResults(node, make(node.where(), node.domain, {{}, {}, {"needs no input and one output"}}, types));
  } else if (elements) {
    values[node.outputs[0]] = onnx::makeConstant(builder, locationOf(node.where()), *elements);
  } else {
    weights[node.outputs[0]] = {{}, node.where(), problem};
  }
}

void Importer::takeResults(const Node &node, onnx::NodeOp op) {
  for (auto [name, result] : llvm::zip_equal(node.outputs, op.getResults())) {
    if (!name.empty()) {
      values[name] = result;
    }
  }
}

void Importer::node(const Node &node) {
  if (node.domain.empty() && node.op == "Constant") {
    return constantNode(node);
  }
  Inputs inputs = inputsOf(node);
  NamedAttrList given = attributes(node, inputs);
  SmallVector<Type> types(node.outputs.size(), builder.getNoneType());
  onnx::NodeOp op = make(node.where(), node.domain, inputs, types, given, &node);
  const Node *outer = std::exchange(current, &node);
  Operation *before = std::exchange(outermost, outermost ? outermost : op);
  for (auto [graph, region] : llvm::zip_equal(node.subgraphs, op->getRegions())) {
    fill(graph, region);
  }
  current = outer;
  outermost = before;
  takeResults(node, op);
  if (node.domain == "ai.onnx.ml" && node.op == "ZipMap" && node.outputs.size() == 1) {
    Attribute keys = given.get("classlabels_strings");
    keysOfMaps[node.outputs.front()] = keys ? keys : given.get("classlabels_int64s");
  }
}

OwningOpRef<ModuleOp> Importer::run(const ImportOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(options.name));
  func::FuncOp function = arguments(*module, options);
  llvm::for_each(graph.nodes, [&](const Node &next) { node(next); });
  finish(function, options);
  return module;
}

std::optional<ImportedModel> importModel(MLIRContext &context, llvm::StringRef path, const ImportOptions &options,
                                         Problems &problems) {
  context.getOrLoadDialect<func::FuncDialect>();
  context.getOrLoadDialect<onnx::OnnxDialect>();
  ImportedModel result;
  result.file = ModelFile::load(path, problems);
  if (!result.file) {
    return std::nullopt;
  }
  std::map<std::string, int64_t> newer;
  auto question = [&](llvm::StringRef domain, llvm::StringRef op, int64_t opset) {
    if (onnx::isNewer(domain, opset)) {
      int64_t &version = newer[domain.str()];
      version = std::max(version, opset);
    }
    return onnx::whyRefused(&context, domain, op, opset);
  };
  if (!checkModel(result.file->model(), question, problems)) {
    return std::nullopt;
  }
  std::unique_ptr<Graph> graph = flattenModel(result.file->model(), problems);
  if (!graph) {
    return std::nullopt;
  }
  result.module = Importer(context, *result.file, *graph, problems).run(options);
  result.warnings = warningsOf(path, newer);
  return result;
}

} // namespace ingot::importer
