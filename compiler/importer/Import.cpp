// Building the IR. Nodes are made one by one in the order of the flat graph: attributes converted, the op's own
// upgrade() applied, operands left out filled in, the op created, verified, its types inferred. What a node's code
// complains about through MLIR's diagnostics is caught and filed under that node. A node that failed leaves its outputs
// without a value; nodes that need those are passed over in silence, so that one mistake is one message and the rest of
// the graph is still looked at.
#include "compiler/importer/Importer.h"
#include "compiler/importer/Types.h"
#include "compiler/onnx/Messages.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/interfaces/NodeKinds.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/support/SymbolNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot::importer {

static std::optional<RegisteredOperationName> lookup(MLIRContext *context, llvm::StringRef domain, llvm::StringRef op) {
  std::string name = ("onnx." + domain + (domain.empty() ? "" : ".") + op).str();
  return RegisteredOperationName::lookup(name, context);
}

/// Whether the importer makes something else of a node than an op of its name.
static bool hasRulesOfItsOwn(RegisteredOperationName info) {
  return onnx::isControl(info) || info.hasTrait<onnx::SequenceNode>() || info.hasTrait<onnx::OptionalNode>();
}

/// Whether a domain's version is one that nobody has compared the definitions with.
static bool isNewer(llvm::StringRef domain, int64_t opset) {
  // Operators of com.microsoft have one version, whatever a model imports.
  return domain != "com.microsoft" && opset > onnx::newestVersion(domain).value_or(opset);
}

std::string whyRefused(MLIRContext &context, llvm::StringRef domain, llvm::StringRef op, int64_t opset) {
  std::optional<RegisteredOperationName> info = lookup(&context, domain, op);
  auto *importable = info ? info->getInterface<onnx::Importable>() : nullptr;
  if (!importable && !(domain.empty() && op == "Constant") && !(info && hasRulesOfItsOwn(*info))) {
    std::string newest = isNewer(domain, opset) ? std::to_string(*onnx::newestVersion(domain)) : "";
    return "unknown or unsupported operator" + (newest.empty() ? "" : "; the newest known opset is " + newest);
  }
  int64_t through = domain.empty() && importable ? importable->through() : opset;
  if (std::min(opset, onnx::newestOpset) <= through) {
    return "";
  }
  return "is supported up to opset " + std::to_string(through) + ", as opset " + std::to_string(importable->since()) +
         " defines it; a newer one defines it otherwise";
}

/// What the user is told of the domains that a model imports in versions newer than those known.
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

std::optional<unsigned> resultCount(RegisteredOperationName info) {
  if (info.hasTrait<OpTrait::OneResult>()) {
    return 1;
  }
  if (info.hasTrait<OpTrait::NResults<2>::Impl>()) {
    return 2;
  }
  if (info.hasTrait<OpTrait::NResults<3>::Impl>()) {
    return 3;
  }
  if (info.hasTrait<OpTrait::NResults<4>::Impl>()) {
    return 4;
  }
  if (info.hasTrait<OpTrait::NResults<5>::Impl>()) {
    return 5;
  }
  return std::nullopt;
}

/// Whether a type is of a size that a machine can hold; later rooms multiply dims without fear.
static bool isPossible(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return true;
  }
  SmallVector<int64_t> least =
      llvm::map_to_vector(tensor.getShape(), [](int64_t dim) { return std::max<int64_t>(dim, 1); });
  std::optional<int64_t> elements = elementCount(least);
  return elements && *elements <= kLargestTensor / onnx::elementBytes(tensor.getElementType());
}

void Importer::initializer(const std::string &name, llvm::Expected<TensorData> data) {
  llvm::Expected<ElementsAttr> elements = data ? makeElements(context, *data, name) : data.takeError();
  std::string text = elements ? "" : "initializer " + quoted(name) + " " + llvm::toString(elements.takeError());
  weights[name] = {elements ? *elements : ElementsAttr(), current ? current->where() : Where(), text};
}

void Importer::initializers(const pb::GraphProto &proto, llvm::ArrayRef<std::string> names) {
  auto isRead = [&](const std::string &name) { return values.lookup(name) || weights.count(name); };
  auto name = [&](const std::string &own) {
    if (names.empty()) {
      return own;
    }
    std::string given = names.front();
    names = names.drop_front();
    return given;
  };
  // A subgraph that is written several times shares its weights.
  for (const pb::TensorProto &tensor : proto.initializer()) {
    if (std::string own = name(tensor.name()); !isRead(own)) {
      initializer(own, readTensor(tensor, file));
    }
  }
  for (const pb::SparseTensorProto &tensor : proto.sparse_initializer()) {
    if (std::string own = name(tensor.values().name()); !isRead(own)) {
      initializer(own, readSparse(tensor, file));
    }
  }
}

/// The value of that name; null if what should have made it failed. A weight becomes an op at its first use; when that
/// is in a subgraph, before the outermost node that holds it, so that others can use it too. One that cannot be read
/// matters only if something reads it.
Value Importer::value(const std::string &name) {
  if (auto weight = weights.find(name); weight != weights.end()) {
    Weight taken = weight->second;
    if (!taken.elements) {
      problems->add(taken.where, taken.problem);
      missing.insert(name);
      return {};
    }
    weights.erase(weight);
    OpBuilder::InsertionGuard guard(builder);
    if (outermost) {
      builder.setInsertionPoint(outermost);
    }
    values[name] = onnx::makeConstant(builder, locationOf(name), taken.elements);
  }
  return values.lookup(name);
}

bool Importer::operands(const Node &node, onnx::Node &target) {
  bool good = true;
  for (const std::string &input : node.inputs) {
    if (auto map = maps.find(input); map != maps.end()) {
      target.operands.append({map->second.keys, map->second.values});
      good &= mayTake(node, input);
      continue;
    }
    if (rowsOfMaps.contains(input)) {
      good = mayTake(node, input);
      continue;
    }
    Value given = input.empty() ? Value() : value(input);
    good &= input.empty() || given;
    // An optional value that is never there is an input left out.
    target.operands.push_back(onnx::present(given) ? given : Value());
  }
  while (!target.operands.empty() && !target.operands.back()) {
    target.operands.pop_back(); // trailing empty names say what no names would have said
  }
  return good;
}

bool Importer::attributes(const Node &node, onnx::Node &target, RegisteredOperationName info) {
  auto *holder = info.getInterface<onnx::SubgraphHolder>();
  auto *namer = info.getInterface<onnx::TensorNamer>();
  auto isUnknown = [&](const Subgraph &graph) {
    return !holder || !llvm::is_contained(holder->subgraphNames(), llvm::StringRef(graph.attribute));
  };
  auto unknown = llvm::find_if(node.subgraphs, isUnknown);
  bool good = unknown == node.subgraphs.end();
  if (!good) {
    problems->add(node.where(), "has the unknown attribute " + quoted(unknown->attribute));
  }
  for (const auto &[name, proto] : node.attributes) {
    if (namer && llvm::is_contained(namer->tensorAttributes(), llvm::StringRef(name))) {
      continue;
    }
    llvm::Expected<Attribute> value = makeAttribute(context, *proto, node.name + "." + name, file);
    if (!value) {
      problem(node.where(), value.takeError(), "attribute " + quoted(name) + " ");
      good = false;
    } else {
      target.attributes.set(name, *value);
    }
  }
  return good;
}

/// Appends the tensors that attributes name as operands, a group for each attribute.
bool Importer::namedTensors(const Node &node, onnx::Node &target, llvm::ArrayRef<llvm::StringLiteral> attributes) {
  SmallVector<int32_t> groups = {static_cast<int32_t>(target.operands.size())};
  for (llvm::StringRef attribute : attributes) {
    SmallVector<std::string> names;
    for (const NodeAttribute &given : node.attributes) {
      if (given.name == attribute) {
        names.append(given.value->strings().begin(), given.value->strings().end());
        names.append(given.value->has_s(), given.value->s());
      }
    }
    for (const std::string &name : names) {
      target.operands.push_back(value(name));
      if (!target.operands.back() || !isa<TensorType>(target.operands.back().getType())) {
        problems->add(node.where(), "names " + quoted(name) + ", which is no tensor that is computed before it");
        return false;
      }
    }
    groups.push_back(static_cast<int32_t>(names.size()));
  }
  target.attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(groups));
  return true;
}

/// Operand and result counts of the newest form; inputs left out at the end are filled in.
bool Importer::arity(onnx::Node &target, RegisteredOperationName info, const Node &node) {
  int64_t declared = info.getInterface<onnx::Importable>()->inputCount();
  if (declared >= 0 && int64_t(target.operands.size()) > declared) {
    problems->add(node.where(), "has " + llvm::Twine(target.operands.size()) + " inputs, but the operator takes " +
                                    (declared == 1 ? "1" : "at most " + std::to_string(declared)));
    return false;
  }
  if (std::optional<unsigned> results = resultCount(info); results && node.outputs.size() > *results) {
    problems->add(node.where(), "has " + llvm::Twine(node.outputs.size()) + " outputs, but the operator gives " +
                                    llvm::Twine(*results));
    return false;
  }
  if (declared > 0) {
    target.operands.resize(declared);
  }
  return true;
}

/// Whether the op has all of the attributes, of which one of the wrong kind would be dropped in silence when it is
/// made.
bool Importer::knownAttributes(onnx::Node &target, RegisteredOperationName info, const Node &node) {
  llvm::ArrayRef<StringAttr> known = info.getAttributeNames();
  for (NamedAttribute attribute : target.attributes) {
    if (!llvm::is_contained(known, attribute.getName())) {
      problems->add(node.where(), "has the unknown attribute " + quoted(attribute.getName().getValue()));
      return false;
    }
  }
  return succeeded(info.verifyInherentAttrs(target.attributes, [&] { return emitError(target.loc); }));
}

/// A node whose operator is a way to write others: its outputs are the values that these give.
void Importer::form(onnx::Node &target, RegisteredOperationName info, const Node &node) {
  if (!arity(target, info, node) || !knownAttributes(target, info, node) ||
      failed(info.getInterface<onnx::Importable>()->upgrade(target))) {
    return;
  }
  take(target, node);
}

void Importer::take(const onnx::Node &target, const Node &node) {
  if (takeRows(node, target)) {
    return;
  }
  for (auto [i, output] : llvm::enumerate(node.outputs)) {
    Value result = i < target.results.size() ? target.results[i] : Value();
    if (!output.empty() && !result) {
      problems->add(node.where(), "output " + quoted(output) + " is of use in training only, which is unsupported");
    } else if (!output.empty()) {
      values[output] = result;
    }
  }
}

Operation *Importer::create(onnx::Node &target, const Node &node) {
  std::optional<RegisteredOperationName> info = lookup(context, target.domain, target.op);
  if (!info || !info->hasInterface<onnx::Importable>() || !arity(target, *info, node)) {
    return nullptr;
  }
  if (!knownAttributes(target, *info, node)) {
    return nullptr;
  }
  OperationState state(target.loc, *info);
  for (Value operand : target.operands) {
    state.addOperands(operand ? operand : onnx::makeNone(builder, target.loc));
  }
  state.addAttributes(target.attributes.getAttrs());
  unsigned results = resultCount(*info).value_or(target.outputs);
  state.addTypes(SmallVector<Type>(results, UnrankedTensorType::get(builder.getF32Type())));
  if (auto *holder = info->getInterface<onnx::SubgraphHolder>()) {
    for (size_t i = 0; i < holder->subgraphNames().size(); ++i) {
      state.addRegion();
    }
  }
  Operation *op = builder.create(state);
  if (auto holder = dyn_cast<onnx::SubgraphHolder>(op);
      holder && (failed(verify(op, /*verifyRecursively=*/false)) || !holdSubgraphs(node, holder))) {
    giveUp(op);
    return nullptr;
  }
  // Inference may rely on what the verifier checks, so it comes second. What fails does not stay: a loop around it
  // infers the types of its body anew.
  if (failed(verify(op, /*verifyRecursively=*/false)) || failed(onnx::updateTypes(op))) {
    giveUp(op);
    return nullptr;
  }
  for (Type type : op->getResultTypes()) {
    if (!isPossible(type)) {
      problems->add(node.where(),
                    "gives a tensor of impossible dims " + dimsText(cast<RankedTensorType>(type).getShape()));
      giveUp(op);
      return nullptr;
    }
  }
  return op;
}

void Importer::constantNode(const Node &node, Location loc) {
  llvm::Expected<ElementsAttr> elements = makeConstantNode(context, node, file);
  std::string problem = elements ? "" : llvm::toString(elements.takeError());
  if (node.outputs.size() != 1 || !node.inputs.empty()) {
    problems->add(node.where(), "needs no input and one output");
  } else if (elements) {
    values[node.outputs[0]] = onnx::makeConstant(builder, loc, *elements);
  } else {
    weights[node.outputs[0]] = {{}, node.where(), problem};
  }
}

void Importer::node(const Node &node) {
  Location loc = locationOf(node);
  if (node.domain.empty() && node.op == "Constant") {
    return constantNode(node, loc);
  }
  std::optional<RegisteredOperationName> info = lookup(context, node.domain, node.op);
  if (info && onnx::isControl(*info)) {
    return control(node);
  }
  if ((info && info->hasTrait<onnx::SequenceNode>()) || takesSequence(node)) {
    return sequence(node);
  }
  if (info && info->hasTrait<onnx::OptionalNode>()) {
    return optional(node);
  }
  if (!info || !info->hasInterface<onnx::Importable>()) {
    return; // reported by the check
  }
  onnx::Node target{builder, loc, node.op, node.opset, {}, {}, unsigned(node.outputs.size()), {}, {}, node.domain};
  bool good = attributes(node, target, *info);
  if (!operands(node, target) || !good) {
    return;
  }
  auto *importable = info->getInterface<onnx::Importable>();
  target.attributes.erase("consumed_inputs"); // of opsets before 6, about memory
  if (importable->inputCount() != 0 && !target.operand(0)) {
    problems->add(node.where(), "has too few inputs: the first is missing");
    return;
  }
  if (auto *namer = info->getInterface<onnx::TensorNamer>();
      namer && !namedTensors(node, target, namer->tensorAttributes())) {
    return;
  }
  if (importable->isForm()) {
    return form(target, *info, node);
  }
  bool upgraded = succeeded(importable->upgrade(target));
  if (upgraded && !target.results.empty()) {
    return take(target, node);
  }
  Operation *op = upgraded ? create(target, node) : nullptr;
  if (!op) {
    return;
  }
  for (auto [i, output] : llvm::enumerate(node.outputs)) {
    if (!output.empty()) {
      Value result = op->getResult(i);
      values[output] = i == 0 && target.after ? target.after(builder, result) : result;
    }
  }
}

void Importer::all(llvm::ArrayRef<Node> nodes) {
  const Node *outer = current;
  for (const Node &next : nodes) {
    current = &next;
    size_t before = problems->said();
    node(next);
    if (!isMade(next)) {
      lose(next, problems->said() > before);
    }
  }
  current = outer;
}

/// Whether all that the node gives is there, or is a weight of which its readers learn what is wrong.
bool Importer::isMade(const Node &node) const {
  return llvm::all_of(node.outputs, [&](const std::string &name) {
    return name.empty() || values.lookup(name) || weights.contains(name) || sequences.contains(name) ||
           rowsOfMaps.contains(name);
  });
}

/// Whether the node, or one in its subgraphs, reads what could not be made.
bool Importer::readsMissing(const Node &node) const {
  auto isMissing = [&](const std::string &name) { return missing.contains(name); };
  return llvm::any_of(node.inputs, isMissing) || llvm::any_of(node.subgraphs, [&](const Subgraph &graph) {
           return llvm::any_of(graph.outputs, isMissing) ||
                  llvm::any_of(graph.nodes, [&](const Node &inner) { return readsMissing(inner); });
         });
}

/// Notes that the node's outputs are not there. The reason has been reported, of the node itself or of what it reads;
/// otherwise the model would be refused without a word, or taken without the node.
void Importer::lose(const Node &node, bool isReported) {
  bool isRefused = !whyRefused(*context, node.domain, node.op, node.opset).empty(); // by the check
  if (!isReported && !isRefused && !readsMissing(node)) {
    problems->addBug(node.where(), "the importer makes nothing of it and does not say why");
  }
  missing.insert_range(node.outputs);
}

/// What a node's code says in terms of its op, in terms of the node (null: of none).
std::string Importer::nodeText(const Node *node, llvm::StringRef message) {
  if (message.consume_front("'onnx.")) {
    message = message.substr(message.find('\'') + 1);
    message.consume_front(" op ");
  }
  if (message.consume_front("failed to verify that ") && node) { // a constraint on all operands
    std::string text = ("needs that " + message + ", but they are of ").str();
    for (auto [i, input] : llvm::enumerate(node->inputs)) {
      Value v = input.empty() ? Value() : value(input);
      llvm::raw_string_ostream(text) << (i ? ", " : "") << (v ? v.getType() : builder.getNoneType());
    }
    return text;
  }
  llvm::StringRef rest = message;
  unsigned long long number = 0;
  if (!node || !rest.consume_front("operand #") || rest.consumeInteger(10, number)) {
    return message.str();
  }
  if (rest.contains("but got 'none'")) {
    return "has too few inputs: input " + std::to_string(number) + " is missing";
  }
  std::string name = number < node->inputs.size() ? quoted(node->inputs[number]) : std::to_string(number);
  return "input " + name + rest.str();
}

/// The bounds of symbols become facts, which the compiler may build upon and a run checks.
void Importer::bounds(func::FuncOp function, const ImportOptions &options) {
  std::vector<OpenAxis> open = openAxes(function);
  onnx::Sizes facts;
  auto fact = [&](const onnx::Size &size) {
    facts.push_back(size);
    onnx::addCheck(function, {{size}, ""});
  };
  for (const auto &[name, bounds] : options.bounds) {
    std::vector<std::string> symbols = symbolsNamed(open, name);
    if (symbols.empty()) {
      problems->add("--dim gives bounds to " + quoted(name) + ", which is not an open dimension of any input");
    }
    for (const std::string &symbol : symbols) {
      onnx::Size size = onnx::Size::symbol(support::symbolText(symbol));
      if (bounds.second) {
        fact(onnx::Size(*bounds.second) - size);
      }
      if (bounds.first > 0) {
        fact(size - onnx::Size(bounds.first));
      }
    }
  }
  onnx::setFacts(function, facts);
}

OwningOpRef<ModuleOp> Importer::run(const ImportOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(options.name));
  std::vector<Spread> spread;
  std::vector<Input> inputs = readInputs(context, *graph.proto, options, *problems, spread);
  initializers(*graph.proto, {});
  SmallVector<Type> types = llvm::map_to_vector(inputs, [](const Input &input) { return input.type; });
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, module->getLoc(), options.name, builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (auto [i, input] : llvm::enumerate(inputs)) {
    function.getArgument(i).setLoc(locationOf(input.name));
    values[input.name] = function.getArgument(i);
    function.setArgAttr(i, "onnx.name", builder.getStringAttr(input.name));
    if (input.isOptional) {
      function.setArgAttr(i, onnx::optionalName, builder.getUnitAttr());
    }
    SmallVector<llvm::StringRef> symbols(input.symbols.begin(), input.symbols.end());
    function.setArgAttr(i, "onnx.dims", builder.getStrArrayAttr(symbols));
  }
  gather(function, spread);
  bounds(function, options);
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
      return failure();
    }
    problems->add(current ? current->where() : Where(), onnx::withStrings(nodeText(current, diagnostic.str())));
    return success();
  });
  for (const pb::ValueInfoProto &input : graph.proto->input()) {
    const std::string &name = input.name();
    if (!values.lookup(name) && !weights.count(name) && !sequences.contains(name) && !maps.contains(name)) {
      missing.insert(name); // it has been refused
    }
  }
  all(graph.nodes);
  bool isWhole = finish(function, options);
  optionalUses(function);
  if (problems->empty() && (!isWhole || failed(verify(*module)))) {
    problems->addBug(Where(), "the importer makes no model of it and does not say why");
  }
  return problems->empty() ? std::move(module) : OwningOpRef<ModuleOp>();
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
    if (isNewer(domain, opset)) {
      int64_t &version = newer[domain.str()];
      version = std::max(version, opset);
    }
    return whyRefused(context, domain, op, opset);
  };
  if (!checkModel(result.file->model(), question, problems)) {
    return std::nullopt;
  }
  std::unique_ptr<Graph> graph = flattenModel(result.file->model(), problems);
  if (!graph) {
    return std::nullopt;
  }
  result.module = Importer(context, *result.file, *graph, problems).run(options);
  if (!result.module || !problems.empty()) {
    return std::nullopt;
  }
  result.warnings = warningsOf(path, newer);
  return result;
}

} // namespace ingot::importer
