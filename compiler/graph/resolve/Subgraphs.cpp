// Fills regions with subgraphs of nodes, like the graph itself: those of If and Loop, which the rules of nodes make,
// and those of ops that hold subgraphs (onnx::SubgraphHolder).
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/expanded/Construct.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot::graph {

// These are what all nodes with subgraphs need.

const Subgraph *Resolver::subgraphOf(const Node &node, llvm::StringRef attribute, int inputs) {
  auto found = llvm::find_if(node.subgraphs, [&](const Subgraph &graph) { return graph.attribute == attribute; });
  if (found == node.subgraphs.end()) {
    fail(node, "needs the attribute " + quoted(attribute));
    return nullptr;
  }
  if (int(found->inputs.size()) != inputs) {
    fail(node, "gives " + llvm::Twine(inputs) + " values to " + quoted(attribute) + ", which has " +
                   llvm::Twine(found->inputs.size()) + " inputs");
    return nullptr;
  }
  return &*found;
}

/// Fills the current block, and returns the subgraph's outputs, or nothing where a value is missing.
std::optional<ResolvedValues> Resolver::contents(const Subgraph &graph) {
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
std::optional<Values> Resolver::subgraph(const Subgraph &graph, llvm::ArrayRef<Value> inputs) {
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
    fail(node, "has subgraphs that do not fit it");
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

/// Fills a branch, and returns its outputs if it can be taken.
std::optional<ResolvedValues> Resolver::branch(const Subgraph &graph, Block &block, Problems &reported) {
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

void Resolver::takeResults(const Node &node, ValueRange results, llvm::ArrayRef<ResolvedValue> pattern) {
  if (node.outputs.size() > pattern.size()) {
    fail(node,
         "has " + llvm::Twine(node.outputs.size()) + " outputs, but its subgraph gives " + llvm::Twine(pattern.size()));
    return;
  }
  for (auto [output, resolved] : llvm::zip(node.outputs, withTensors(pattern, results))) {
    bind(output, resolved);
  }
}

void Resolver::takeTensors(const Node &node, llvm::ArrayRef<Value> results) {
  if (!results.empty()) {
    takeResults(node, results, ResolvedValues(results.size()));
  }
}

/// Returns the type of one element with the rank that a subgraph declares for it, 0 or 1.
static RankedTensorType oneElement(Type element, int rank) {
  return onnx::tensorOf(rank == 1 ? ArrayRef<int64_t>{1} : ArrayRef<int64_t>{}, element);
}
/// Makes a loop; `body` fills its block and returns what it yields, or nothing after a problem.
Values Resolver::loop(const Node &node, Value trips, Value condition, llvm::ArrayRef<Value> initial, unsigned results,
                      int numberRank, llvm::function_ref<Values(Block &)> body) {
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

} // namespace ingot::graph
