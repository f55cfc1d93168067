// Nodes are resolved one by one in their order: the op's own upgrade() applied, operands left out filled in, the op
// created in front of its node, verified, its types inferred. What a node's code complains about through MLIR's
// diagnostics is caught and filed under that node. A node that failed leaves its outputs without a value; nodes that
// need those are passed over in silence, so that one mistake is one message and the rest of the graph is still looked
// at.
#include "compiler/graph/Resolve.h"
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/Messages.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/interfaces/NodeKinds.h"
#include "compiler/onnx/rewriting/Operators.h"
#include "compiler/support/Dims.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot::graph {

Resolver::Value Resolver::value(Value written) const {
  auto found = values.find(written);
  return found != values.end() ? found->second : isa<NoneType>(written.getType()) ? Value() : written;
}

ResolvedValue Resolver::resolvedValue(Value written) const {
  auto found = sequences.find(written);
  return found == sequences.end() ? ResolvedValue{value(written)} : ResolvedValue{{}, found->second};
}

void Resolver::bind(Value written, const ResolvedValue &resolved) {
  sequences.erase(written);
  if (resolved.sequence) {
    sequences[written] = *resolved.sequence;
  } else {
    values[written] = resolved.tensor;
  }
}

std::optional<Resolver::Values> Resolver::inputsOf(const Node &node) {
  Values found;
  for (Value input : node.inputs) {
    found.push_back(input ? value(input) : Value());
    if (input && !found.back()) {
      return std::nullopt;
    }
  }
  return found;
}

bool Resolver::areTensors(const Node &node, llvm::ArrayRef<Value> inputs) {
  bool all = llvm::none_of(inputs, [](Value v) { return v && mayBeAbsent(v); });
  if (!all) {
    problems->add(node.where(), "takes an optional value, which is unsupported");
  }
  return all;
}

/// Whether a type is of a size that a machine can hold; later rooms multiply dims without fear.
static bool isPossible(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return true;
  }
  SmallVector<int64_t> least =
      llvm::map_to_vector(tensor.getShape(), [](int64_t dim) { return std::max<int64_t>(dim, 1); });
  std::optional<int64_t> elements = support::elementCount(least);
  return elements && *elements <= support::kLargestTensor / onnx::elementBytes(tensor.getElementType());
}

/// Operand and result counts of the newest definition; inputs left out at the end are filled in.
bool Resolver::arity(onnx::Node &target, RegisteredOperationName info, const Node &node) {
  int64_t declared = info.getInterface<onnx::Importable>()->inputCount();
  if (declared >= 0 && int64_t(target.operands.size()) > declared) {
    problems->add(node.where(), "has " + llvm::Twine(target.operands.size()) + " inputs, but the operator takes " +
                                    (declared == 1 ? "1" : "at most " + std::to_string(declared)));
    return false;
  }
  if (std::optional<unsigned> results = onnx::resultCount(info); results && node.outputs.size() > *results) {
    problems->add(node.where(), "has " + llvm::Twine(node.outputs.size()) + " outputs, but the operator gives " +
                                    llvm::Twine(*results));
    return false;
  }
  if (declared > 0) {
    target.operands.resize(declared);
  }
  return true;
}

/// Whether the operator has all subgraphs that the node gives it.
bool Resolver::knownSubgraphs(const Node &node, RegisteredOperationName info) {
  auto *holder = info.getInterface<onnx::SubgraphHolder>();
  for (const Subgraph &graph : node.subgraphs) {
    if (!holder || !llvm::is_contained(holder->subgraphNames(), graph.attribute)) {
      problems->add(node.where(), "has the unknown attribute " + quoted(graph.attribute));
      return false;
    }
  }
  return true;
}

/// Whether the op has all of the attributes, of which one of the wrong kind would be dropped in silence when it is
/// made.
bool Resolver::knownAttributes(onnx::Node &target, RegisteredOperationName info, const Node &node) {
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
void Resolver::alias(onnx::Node &target, RegisteredOperationName info, const Node &node) {
  if (!arity(target, info, node) || !knownAttributes(target, info, node) ||
      failed(info.getInterface<onnx::Importable>()->upgrade(target))) {
    return;
  }
  take(target, node);
}

void Resolver::take(const onnx::Node &target, const Node &node) {
  for (auto [i, output] : llvm::enumerate(node.outputs)) {
    Value result = i < target.results.size() ? target.results[i] : Value();
    if (node.isNamed(i) && !result) {
      problems->add(node.where(), "output " + quoted(Node::nameOf(node.outputNames, i)) +
                                      " is of use in training only, which is unsupported");
    }
    values[output] = result;
  }
}

Operation *Resolver::create(onnx::Node &target, const Node &node) {
  std::optional<RegisteredOperationName> info = onnx::lookupOperator(context, target.domain, target.op);
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
  unsigned results = onnx::resultCount(*info).value_or(target.outputs);
  state.addTypes(SmallVector<Type>(results, UnrankedTensorType::get(builder.getF32Type())));
  if (auto *holder = info->getInterface<onnx::SubgraphHolder>()) {
    for (size_t i = 0; i < holder->subgraphNames().size(); ++i) {
      state.addRegion();
    }
  }
  Operation *op = builder.create(state);
  if (auto holder = dyn_cast<onnx::SubgraphHolder>(op);
      holder && (failed(verify(op, /*verifyRecursively=*/false)) || !holdSubgraphs(node, holder))) {
    op->erase();
    return nullptr;
  }
  // Inference may rely on what the verifier checks, so it comes second. What fails does not stay: a loop around it
  // infers the types of its body anew.
  if (failed(verify(op, /*verifyRecursively=*/false)) || failed(onnx::updateTypes(op))) {
    op->erase();
    return nullptr;
  }
  for (Type type : op->getResultTypes()) {
    if (!isPossible(type)) {
      problems->add(node.where(),
                    "gives a tensor of impossible dims " + support::dimsText(cast<RankedTensorType>(type).getShape()));
      op->erase();
      return nullptr;
    }
  }
  return op;
}

void Resolver::node(const Node &node) {
  std::optional<RegisteredOperationName> info = onnx::lookupOperator(context, node.domain, node.kind);
  if (std::optional<ArrayAttr> found = onnx::NodeOp(node.written).getProblems()) {
    bool isKnown = node.kind.empty() || onnx::whyRefused(context, node.domain, node.kind, node.opset).empty();
    for (auto text : found->getAsRange<StringAttr>()) {
      if (!text.empty() && isKnown) {
        problems->add(node.where(), text.getValue());
      }
    }
    return;
  }
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
  std::optional<Values> inputs = inputsOf(node);
  if (!knownSubgraphs(node, *info) || !inputs) {
    return;
  }
  for (Value &input : *inputs) { // an optional value that is never there is an input left out
    input = onnx::present(input) ? input : Value();
  }
  while (!inputs->empty() && !inputs->back()) {
    inputs->pop_back(); // trailing empty names say what no names would have said
  }
  onnx::Node target{builder,
                    node.loc,
                    node.kind.str(),
                    node.opset,
                    *inputs,
                    NamedAttrList(node.attributes),
                    unsigned(node.outputs.size()),
                    {},
                    {},
                    node.domain.str()};
  auto *importable = info->getInterface<onnx::Importable>();
  target.attributes.erase("consumed_inputs"); // of opsets before 6, about memory
  if (importable->inputCount() != 0 && !target.operand(0)) {
    problems->add(node.where(), "has too few inputs: the first is missing");
    return;
  }
  if (importable->isAlias()) {
    return alias(target, *info, node);
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
    if (node.isNamed(i)) {
      Value result = op->getResult(i);
      values[output] = i == 0 && target.after ? target.after(builder, result) : result;
    }
  }
}

/// The ops of a block's nodes: in front of each in the function itself, else at the builder's place.
void Resolver::all(Block &block) {
  bool isFunction = isa<func::FuncOp>(block.getParentOp());
  const Node *outer = current;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto written = dyn_cast<onnx::NodeOp>(op);
    if (!written) { // a constant
      if (!isFunction) {
        values[op.getResult(0)] = builder.clone(op)->getResult(0);
      }
      continue;
    }
    if (isFunction) {
      builder.setInsertionPoint(written);
    }
    Node next(written);
    for (Value output : next.outputs) { // of an iteration before
      values.erase(output);
      sequences.erase(output);
    }
    current = &next;
    size_t before = problems->additionCount();
    node(next);
    if (!isMade(next)) {
      markMissing(next, problems->additionCount() > before);
    }
    current = outer;
  }
}

/// Whether all that the node gives is there.
bool Resolver::isMade(const Node &node) const {
  return llvm::all_of(llvm::enumerate(node.outputs), [&](auto output) {
    return !node.isNamed(output.index()) || values.lookup(output.value()) || sequences.contains(output.value());
  });
}

/// Whether the node, or one in its subgraphs, reads what could not be made.
bool Resolver::readsMissing(const Node &node) const {
  Operation *written = node.written;
  return written
      ->walk([&](Operation *op) {
        bool isMissing = llvm::any_of(op->getOperands(), [&](Value v) { return missing.contains(v); });
        return isMissing ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Notes that the node's outputs are not there. The reason has been reported, of the node itself or of what it reads;
/// otherwise the model would be refused without a word, or taken without the node.
void Resolver::markMissing(const Node &node, bool isReported) {
  bool isRefused = !onnx::whyRefused(context, node.domain, node.kind, node.opset).empty(); // by the check
  if (!isReported && !isRefused && !readsMissing(node)) {
    problems->addBug(node.where(), "the compiler makes nothing of it and does not say why");
  }
  missing.insert_range(node.outputs);
}

/// What a node's code says in terms of its op, in terms of the node.
std::string Resolver::nodeText(llvm::StringRef message) {
  if (message.consume_front("'onnx.")) {
    message = message.substr(message.find('\'') + 1);
    message.consume_front(" op ");
  }
  if (message.consume_front("failed to verify that ") && current) { // a constraint on all operands
    std::string text = ("needs that " + message + ", but they are of ").str();
    for (auto [i, input] : llvm::enumerate(current->inputs)) {
      Value v = input ? value(input) : Value();
      llvm::raw_string_ostream(text) << (i ? ", " : "") << (v ? v.getType() : builder.getNoneType());
    }
    return text;
  }
  llvm::StringRef rest = message;
  unsigned long long number = 0;
  if (!current || !rest.consume_front("operand #") || rest.consumeInteger(10, number)) {
    return message.str();
  }
  if (rest.contains("but got 'none'")) {
    return "has too few inputs: input " + std::to_string(number) + " is missing";
  }
  std::string name =
      number < current->inputNames.size() ? quoted(Node::nameOf(current->inputNames, number)) : std::to_string(number);
  return "input " + name + rest.str();
}

LogicalResult Resolver::run() {
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
      return failure();
    }
    problems->add(current ? current->where() : Where(), onnx::withStrings(nodeText(diagnostic.str())));
    return success();
  });
  all(function.front());
  bool isWhole = finish();
  optionalUses();
  if (problems->empty() && (!isWhole || failed(verify(function)))) {
    problems->addBug(Where(), "the compiler makes no model of it and does not say why");
  }
  return success(problems->empty());
}

LogicalResult resolve(func::FuncOp function, Problems &problems) {
  bool isResolved = !function->hasAttr(onnx::outputsName);
  return isResolved ? success() : Resolver(function, problems).run();
}

} // namespace ingot::graph
