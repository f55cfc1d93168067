// Resolves nodes with subgraphs, whose regions are filled like the graph itself. A branch of an If in which something
// is wrong does not make the model wrong, since exporters leave branches that fit other sizes: it only cannot be taken.
// Ops of other operators with subgraphs have a region for each (onnx::SubgraphHolder).
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/expanded/Construct.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot::graph {

void Resolver::control(const Node &node) {
  if (node.kind == "If") {
    return makeIf(node);
  }
  if (takesSequence(node)) {
    return node.kind == "Loop" ? sequenceLoop(node)
                               : problems->add(node.where(), "takes a sequence as a scan input or state");
  }
  Values results = node.kind == "Loop" ? makeLoop(node) : makeScan(node);
  if (!results.empty()) { // else the problem has been reported
    takeResults(node, results, ResolvedValues(results.size()));
  }
}

// These are what all nodes with subgraphs need.

const Subgraph *Resolver::subgraphOf(const Node &node, llvm::StringRef attribute, int inputs) {
  auto found = llvm::find_if(node.subgraphs, [&](const Subgraph &graph) { return graph.attribute == attribute; });
  if (found == node.subgraphs.end()) {
    problems->add(node.where(), "needs the attribute " + quoted(attribute));
    return nullptr;
  }
  if (int(found->inputs.size()) != inputs) {
    problems->add(node.where(), "gives " + llvm::Twine(inputs) + " values to " + quoted(attribute) + ", which has " +
                                    llvm::Twine(found->inputs.size()) + " inputs");
    return nullptr;
  }
  return &*found;
}

/// Fills the current block, and returns the subgraph's outputs, or nothing where a value is missing.
std::optional<Resolver::ResolvedValues> Resolver::contents(const Subgraph &graph) {
  all(*graph.block);
  ResolvedValues outputs;
  for (auto [output, name] : llvm::zip_equal(graph.outputs, graph.outputNames)) {
    outputs.push_back(resolvedValue(output));
    if (outputs.back().sequence) {
      continue;
    }
    if (!outputs.back().tensor) {
      return std::nullopt;
    }
    if (mayBeAbsent(outputs.back().tensor)) {
      problems->add(current ? current->where() : Where(),
                    "has a subgraph that gives the optional value " + quoted(name) + ", which is unsupported");
      return std::nullopt;
    }
  }
  return outputs;
}

/// Fills the current block with a subgraph that gets `inputs` and takes and gives tensors alone; returns its outputs,
/// or nothing after a problem.
std::optional<Resolver::Values> Resolver::subgraph(const Subgraph &graph, llvm::ArrayRef<Value> inputs) {
  for (auto [input, v] : llvm::zip_equal(graph.inputs, inputs)) {
    bind(input, {v});
  }
  std::optional<ResolvedValues> outputs = contents(graph);
  if (!outputs) {
    return std::nullopt;
  }
  Values tensors;
  for (auto [name, resolved] : llvm::zip_equal(graph.outputNames, *outputs)) {
    if (resolved.sequence) {
      problems->add(current ? current->where() : Where(),
                    "has a subgraph that gives the sequence " + quoted(name) + ", which is unsupported");
      return std::nullopt;
    }
    tensors.push_back(resolved.tensor);
  }
  return tensors;
}

bool Resolver::finishControl(const Node &node, Operation *op) {
  size_t before = problems->count();
  if (succeeded(verify(op, /*verifyRecursively=*/false)) && succeeded(onnx::updateTypes(op))) {
    return true;
  }
  if (problems->count() == before) {
    problems->add(node.where(), "has subgraphs that do not fit it");
  }
  return false;
}

// These make ops that hold subgraphs.

/// Makes a region of a subgraph. Returns false after a problem.
bool Resolver::holdSubgraph(const Node &node, const Subgraph &graph, onnx::SubgraphHolder op, unsigned number) {
  SmallVector<Type> types = graph.inputTypes;
  if (failed(op.argumentTypes(number, types)) || !subgraphOf(node, graph.attribute, int(types.size()))) {
    return false;
  }
  op->setAttr(onnx::inputsAttribute(graph.attribute), builder.getStrArrayAttr(graph.inputNames));
  Block &block = op->getRegion(number).emplaceBlock();
  block.addArguments(types, SmallVector<Location>(types.size(), op->getLoc()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  std::optional<Values> results = subgraph(graph, Values(block.getArguments()));
  if (!results) {
    return false;
  }
  onnx::GiveOp::create(builder, op->getLoc(), *results);
  return true;
}

/// Makes regions of the node's subgraphs. Returns false after a problem.
bool Resolver::holdSubgraphs(const Node &node, onnx::SubgraphHolder op) {
  bool good = true;
  for (auto [number, name] : llvm::enumerate(op.subgraphNames())) {
    for (const Subgraph &graph : node.subgraphs) {
      good = good && (graph.attribute != name || holdSubgraph(node, graph, op, number));
    }
  }
  return good;
}

// These make an If.

/// Fills a branch, and returns its outputs if it can be taken.
std::optional<Resolver::ResolvedValues> Resolver::branch(const Subgraph &graph, Block &block, Problems &reported) {
  Problems *outer = std::exchange(problems, &reported);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  std::optional<ResolvedValues> outputs = contents(graph);
  problems = outer;
  if (!outputs || !reported.empty()) {
    return std::nullopt;
  }
  return outputs;
}

/// Makes the outputs of both branches one form: sequences whose lengths differ, or that are not there in one of them,
/// are packed. Returns false where one is a sequence and the other a tensor.
bool Resolver::unifyBranches(const Node &node, ResolvedValue (&both)[2], Block *(&blocks)[2]) {
  if (!both[0].sequence && !both[1].sequence) {
    return true;
  }
  if (!both[0].sequence || !both[1].sequence) {
    problems->add(node.where(), "has branches of which one gives a sequence, and the other a tensor");
    return false;
  }
  auto isKnown = [](const ResolvedValue &resolved) {
    return !resolved.sequence->isPacked() && !resolved.sequence->present;
  };
  if (isKnown(both[0]) && isKnown(both[1]) && both[0].sequence->items.size() == both[1].sequence->items.size()) {
    return true;
  }
  if (!both[0].sequence->isRanked() || !both[1].sequence->isRanked()) {
    problems->add(node.where(), "has branches that give sequences of tensors of an unknown number of axes");
    return false;
  }
  int64_t rank = 0;
  bool isOptional = both[0].sequence->present || both[1].sequence->present;
  OpBuilder::InsertionGuard guard(builder);
  for (int round = 0; round < 2; ++round) { // the second round knows which rank is the larger one
    for (auto [resolved, block] : llvm::zip_equal(both, blocks)) {
      builder.setInsertionPointToEnd(block);
      resolved = packedAs(node, resolved, rank, /*mixes=*/false, isOptional);
      rank = std::max(rank, resolved.sequence->rank());
    }
  }
  both[0].sequence->mixesRanks |= both[1].sequence->mixesRanks;
  return true;
}

/// Makes an If whose regions have an empty block each, or are moved from `before`.
Operation *Resolver::ifOp(const Node &node, Value condition, unsigned results, Operation *before) {
  OperationState state(node.loc, onnx::IfOp::getOperationName());
  state.addOperands(condition);
  state.addTypes(SmallVector<Type>(results, onnx::unrankedOf(builder.getF32Type())));
  for (int i = 0; i < 2; ++i) {
    Region *region = state.addRegion();
    before ? region->takeBody(before->getRegion(i)) : (void)region->emplaceBlock();
  }
  return builder.create(state);
}

void Resolver::makeIf(const Node &node) {
  const Subgraph *graphs[] = {subgraphOf(node, "then_branch", 0), subgraphOf(node, "else_branch", 0)};
  if (node.inputs.size() != 1 || !node.hasInput(0) || takesSequence(node)) {
    problems->add(node.where(), "needs one input, the condition");
    return;
  }
  Value condition = value(node.inputs.front());
  if (!condition || !graphs[0] || !graphs[1]) {
    return;
  }
  Operation *op = ifOp(node, condition, graphs[0]->outputs.size());
  Problems found[] = {problems->emptyForSameFile(), problems->emptyForSameFile()};
  std::optional<ResolvedValues> resolved[2];
  Block *blocks[] = {&op->getRegion(0).front(), &op->getRegion(1).front()};
  for (int i = 0; i < 2; ++i) {
    resolved[i] = branch(*graphs[i], *blocks[i], found[i]);
  }
  if (resolved[0] && resolved[1]) {
    for (auto [first, second] : llvm::zip(*resolved[0], *resolved[1])) {
      ResolvedValue both[] = {first, second};
      if (!unifyBranches(node, both, blocks)) {
        return;
      }
      first = both[0], second = both[1];
    }
  }
  bool isNeither = !found[0].empty() && !found[1].empty();
  for (const Problems &one : found) {
    if (isNeither || one.haveBug()) {
      problems->add(one);
    }
  }
  if (isNeither) {
    return;
  }
  if (!resolved[0] && !resolved[1]) { // a value around the If is missing
    return;
  }
  const ResolvedValues taken = resolved[0] ? *resolved[0] : *resolved[1];
  Values results = tensorsOf(taken);
  if (results.size() != op->getNumResults() && results.size() != taken.size()) { // otherwise the op does not verify
    Operation *narrow = op;
    op = ifOp(node, condition, results.size(), narrow);
    narrow->erase();
  }
  for (int i = 0; i < 2; ++i) {
    Block &block = op->getRegion(i).front();
    if (resolved[i]) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&block);
      onnx::YieldOp::create(builder, builder.getUnknownLoc(), tensorsOf(*resolved[i]));
    } else {
      onnx::failInstead(block, found[i].empty() ? "a value around it cannot be computed" : found[i].first());
    }
  }
  if (finishControl(node, op)) {
    takeResults(node, op->getResults(), taken);
  }
}

/// Binds the node's outputs to these tensors, which stand for values of this form.
void Resolver::takeResults(const Node &node, ValueRange results, llvm::ArrayRef<ResolvedValue> form) {
  if (node.outputs.size() > form.size()) {
    problems->add(node.where(), "has " + llvm::Twine(node.outputs.size()) + " outputs, but its subgraph gives " +
                                    llvm::Twine(form.size()));
    return;
  }
  for (auto [output, resolved] : llvm::zip(node.outputs, withTensors(form, results))) {
    bind(output, resolved);
  }
}

// These make a Loop.

/// Returns the type of one element with the rank that a subgraph declares for it, 0 or 1.
static RankedTensorType oneElement(Type element, int rank) {
  return onnx::tensorOf(rank == 1 ? ArrayRef<int64_t>{1} : ArrayRef<int64_t>{}, element);
}
/// Makes a loop; `body` fills its block and returns what it yields, or nothing after a problem.
Resolver::Values Resolver::loop(const Node &node, Value trips, Value condition, llvm::ArrayRef<Value> initial,
                                unsigned results, int numberRank, llvm::function_ref<Values(Block &)> body) {
  Location loc = node.loc;
  OperationState state(loc, onnx::LoopOp::getOperationName());
  state.addOperands(
      {trips ? trips : onnx::makeNone(builder, loc), condition ? condition : onnx::makeNone(builder, loc)});
  state.addOperands(initial);
  state.addTypes(SmallVector<Type>(results, onnx::unrankedOf(builder.getF32Type())));
  Block &block = state.addRegion()->emplaceBlock();
  block.addArgument(oneElement(builder.getI64Type(), numberRank), loc);
  block.addArgument(oneElement(builder.getI1Type(), numberRank), loc);
  for (Value v : initial) {
    block.addArgument(v.getType(), loc);
  }
  Operation *op = builder.create(state);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&op->getRegion(0).front());
  Values yields = body(op->getRegion(0).front());
  if (yields.empty()) {
    op->erase();
    return {};
  }
  onnx::YieldOp::create(builder, loc, yields);
  return finishControl(node, op) ? Values(op->getResults()) : Values();
}

Resolver::Values Resolver::makeLoop(const Node &node) {
  auto inputs = inputsOf(node);
  if (!inputs || !areTensors(node, *inputs)) {
    return {};
  }
  inputs->resize(std::max<size_t>(inputs->size(), 2));
  const Subgraph *graph = subgraphOf(node, "body", inputs->size());
  if (!graph) {
    return {};
  }
  llvm::ArrayRef<Value> initial = llvm::ArrayRef<Value>(*inputs).drop_front(2);
  if (!llvm::all_of(initial, [](Value v) { return bool(v); })) {
    problems->add(node.where(), "leaves out an initial value");
    return {};
  }
  if (graph->outputs.size() < 1 + initial.size()) {
    problems->add(node.where(), "carries " + llvm::Twine(initial.size()) + " values, but its body has " +
                                    llvm::Twine(graph->outputs.size()) + " outputs");
    return {};
  }
  return loop(node, (*inputs)[0], (*inputs)[1], initial, graph->outputs.size() - 1, graph->numberRank(),
              [&](Block &block) {
                Values arguments(block.getArguments());
                return subgraph(*graph, arguments).value_or(Values());
              });
}

} // namespace ingot::graph
