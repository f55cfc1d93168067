// Nodes with subgraphs. Their regions are filled like the graph itself; a branch of an If in which something is wrong
// does not make the model wrong (exporters leave branches that fit other sizes), it only cannot be taken. A Scan is a
// Loop over the axis that it goes along; the first form of Scan, with a batch axis, is a Loop of such Loops. Ops of
// other operators with subgraphs have a region for each (onnx::SubgraphHolder).
#include "compiler/importer/Importer.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/expanded/Construct.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace ingot::importer {

void Importer::control(const Node &node) {
  if (node.op == "If") {
    return makeIf(node);
  }
  if (takesSequence(node)) {
    return node.op == "Loop" ? sequenceLoop(node)
                             : problems->add(node.where(), "takes a sequence as a scan input or state");
  }
  Values results = node.op == "Loop" ? makeLoop(node) : makeScan(node);
  if (!results.empty()) { // else it has been reported
    takeResults(node, results, Givens(results.size()));
  }
}

// What all of them need.

std::optional<Importer::Values> Importer::inputsOf(const Node &node) {
  Values found;
  for (const std::string &input : node.inputs) {
    found.push_back(input.empty() ? Value() : value(input));
    if (!input.empty() && !found.back()) {
      return std::nullopt;
    }
  }
  return found;
}

bool Importer::areTensors(const Node &node, llvm::ArrayRef<Value> inputs) {
  bool all = llvm::none_of(inputs, [](Value v) { return v && mayBeAbsent(v); });
  if (!all) {
    problems->add(node.where(), "takes an optional value, which is unsupported");
  }
  return all;
}

const Subgraph *Importer::subgraphOf(const Node &node, llvm::StringRef attribute, int inputs) {
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

/// Fills the current block; what the subgraph gives, or nothing where a value is missing.
std::optional<Importer::Givens> Importer::contents(const Subgraph &graph) {
  initializers(*graph.proto, graph.initializers);
  all(graph.nodes);
  Givens outputs;
  for (const std::string &name : graph.outputs) {
    outputs.push_back(givenBy(name));
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

/// The same of a subgraph of tensors that gets these.
std::optional<Importer::Values> Importer::subgraph(const Subgraph &graph, llvm::ArrayRef<Value> inputs) {
  for (auto [name, v] : llvm::zip_equal(graph.inputs, inputs)) {
    bind(name, {v});
  }
  std::optional<Givens> outputs = contents(graph);
  if (!outputs) {
    return std::nullopt;
  }
  Values tensors;
  for (auto [name, given] : llvm::zip_equal(graph.outputs, *outputs)) {
    if (given.sequence) {
      problems->add(current ? current->where() : Where(),
                    "has a subgraph that gives the sequence " + quoted(name) + ", which is unsupported");
      return std::nullopt;
    }
    tensors.push_back(given.tensor);
  }
  return tensors;
}

bool Importer::finishControl(const Node &node, Operation *op) {
  size_t before = problems->count();
  if (succeeded(verify(op, /*verifyRecursively=*/false)) && succeeded(onnx::updateTypes(op))) {
    return true;
  }
  if (problems->count() == before) {
    problems->add(node.where(), "has subgraphs that do not fit it");
  }
  return false;
}

// Ops that hold subgraphs.

/// The type that a subgraph declares for an input; null: it declares none that there are tensors of.
static Type declaredType(MLIRContext *context, const pb::ValueInfoProto &input) {
  const pb::TypeProto::Tensor *type = tensorTypeOf(input.type());
  Type element = type ? elementType(context, type->elem_type()) : Type();
  if (!element || !type->has_shape()) {
    return element ? onnx::unrankedOf(element) : Type();
  }
  SmallVector<int64_t> dims;
  for (const pb::TensorShapeProto::Dimension &dim : type->shape().dim()) {
    bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
    dims.push_back(isKnown ? dim.dim_value() : ShapedType::kDynamic);
  }
  return onnx::tensorOf(dims, element);
}

/// Makes a region of a subgraph. False after a problem.
bool Importer::holdSubgraph(const Node &node, const Subgraph &graph, onnx::SubgraphHolder op, unsigned number) {
  SmallVector<Type> types;
  SmallVector<llvm::StringRef> names;
  for (const pb::ValueInfoProto &input : graph.proto->input()) {
    types.push_back(declaredType(context, input));
    names.push_back(input.name());
  }
  if (failed(op.argumentTypes(number, types)) || !subgraphOf(node, graph.attribute, int(types.size()))) {
    return false;
  }
  op->setAttr(onnx::inputsAttribute(graph.attribute), builder.getStrArrayAttr(names));
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

/// Makes regions of the node's subgraphs. False after a problem.
bool Importer::holdSubgraphs(const Node &node, onnx::SubgraphHolder op) {
  Operation *before = std::exchange(outermost, outermost ? outermost : op);
  bool good = true;
  for (auto [number, name] : llvm::enumerate(op.subgraphNames())) {
    for (const Subgraph &graph : node.subgraphs) {
      good = good && (graph.attribute != name || holdSubgraph(node, graph, op, number));
    }
  }
  outermost = before;
  return good;
}

// If.

/// What is in a block that is given up is no value that other nodes can have, whatever its name.
void Importer::forgetValuesOf(Block &block) {
  auto isInside = [&](Value v) { return v && block.getParent()->isAncestor(v.getParentRegion()); };
  for (auto &value : values) {
    if (isInside(value.second)) {
      value.second = {};
    }
  }
  for (auto it = sequences.begin(), end = sequences.end(); it != end;) {
    auto sequence = it++;
    if (llvm::any_of(flat({{{}, sequence->second}}), isInside)) {
      sequences.erase(sequence);
    }
  }
}

/// Erases an op of a node that cannot be made.
void Importer::giveUp(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (!region.empty()) {
      forgetValuesOf(region.front());
    }
  }
  op->erase();
}

/// What the block gives, if it can be taken.
std::optional<Importer::Givens> Importer::branch(const Subgraph &graph, Block &block, Problems &found) {
  Problems *outer = std::exchange(problems, &found);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  std::optional<Givens> outputs = contents(graph);
  problems = outer;
  if (!outputs || !found.empty()) {
    forgetValuesOf(block);
    return std::nullopt;
  }
  return outputs;
}

/// Makes what both branches give of one form: sequences whose lengths differ, or that are not there in one of them, are
/// packed. False where one is a sequence and the other a tensor.
bool Importer::unite(const Node &node, Given (&both)[2], Block *(&blocks)[2]) {
  if (!both[0].sequence && !both[1].sequence) {
    return true;
  }
  if (!both[0].sequence || !both[1].sequence) {
    problems->add(node.where(), "has branches of which one gives a sequence, and the other a tensor");
    return false;
  }
  auto isKnown = [](const Given &given) { return !given.sequence->isPacked() && !given.sequence->present; };
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
  for (int turn = 0; turn < 2; ++turn) { // the second one knows which rank is the larger one
    for (auto [given, block] : llvm::zip_equal(both, blocks)) {
      builder.setInsertionPointToEnd(block);
      given = inForm(node, given, rank, /*mixes=*/false, isOptional);
      rank = std::max(rank, given.sequence->rank());
    }
  }
  both[0].sequence->mixesRanks |= both[1].sequence->mixesRanks;
  return true;
}

/// An If with regions of a block each, which nothing is in yet or which move here.
Operation *Importer::ifOp(const Node &node, Value condition, unsigned results, Operation *before) {
  OperationState state(locationOf(node), onnx::IfOp::getOperationName());
  state.addOperands(condition);
  state.addTypes(SmallVector<Type>(results, onnx::unrankedOf(builder.getF32Type())));
  for (int i = 0; i < 2; ++i) {
    Region *region = state.addRegion();
    before ? region->takeBody(before->getRegion(i)) : (void)region->emplaceBlock();
  }
  return builder.create(state);
}

void Importer::makeIf(const Node &node) {
  const Subgraph *graphs[] = {subgraphOf(node, "then_branch", 0), subgraphOf(node, "else_branch", 0)};
  if (node.inputs.size() != 1 || node.inputs.front().empty() || takesSequence(node)) {
    problems->add(node.where(), "needs one input, the condition");
    return;
  }
  Value condition = value(node.inputs.front());
  if (!condition || !graphs[0] || !graphs[1]) {
    return;
  }
  Operation *op = ifOp(node, condition, graphs[0]->outputs.size());
  Operation *before = std::exchange(outermost, outermost ? outermost : op);
  Problems found[] = {problems->another(), problems->another()};
  std::optional<Givens> given[2];
  Block *blocks[] = {&op->getRegion(0).front(), &op->getRegion(1).front()};
  for (int i = 0; i < 2; ++i) {
    given[i] = branch(*graphs[i], *blocks[i], found[i]);
  }
  if (given[0] && given[1]) {
    for (auto [first, second] : llvm::zip(*given[0], *given[1])) {
      Given both[] = {first, second};
      if (!unite(node, both, blocks)) {
        outermost = before;
        return;
      }
      first = both[0], second = both[1];
    }
  }
  outermost = before;
  bool isNeither = !found[0].empty() && !found[1].empty();
  for (const Problems &one : found) {
    if (isNeither || one.haveBug()) {
      problems->add(one);
    }
  }
  if (isNeither) {
    return;
  }
  if (!given[0] && !given[1]) { // of what is around it something is missing
    return;
  }
  const Givens taken = given[0] ? *given[0] : *given[1];
  Values results = flat(taken);
  if (results.size() != op->getNumResults() && results.size() != taken.size()) { // otherwise it does not verify
    Operation *narrow = op;
    op = ifOp(node, condition, results.size(), narrow);
    narrow->erase();
  }
  for (int i = 0; i < 2; ++i) {
    Block &block = op->getRegion(i).front();
    if (given[i]) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(&block);
      onnx::YieldOp::create(builder, builder.getUnknownLoc(), flat(*given[i]));
    } else {
      onnx::failInstead(block, found[i].empty() ? "a value around it cannot be computed" : found[i].first());
    }
  }
  if (finishControl(node, op)) {
    takeResults(node, op->getResults(), taken);
  }
}

/// The node's outputs are these tensors, which stand for values of this form.
void Importer::takeResults(const Node &node, ValueRange results, llvm::ArrayRef<Given> form) {
  if (node.outputs.size() > form.size()) {
    problems->add(node.where(), "has " + llvm::Twine(node.outputs.size()) + " outputs, but its subgraph gives " +
                                    llvm::Twine(form.size()));
    return;
  }
  for (auto [output, given] : llvm::zip(node.outputs, like(form, results))) {
    if (!output.empty()) {
      bind(output, given);
    }
  }
}

// Loop.

/// A tensor of one element, of the rank that a subgraph declares for it: 0 or 1.
static RankedTensorType oneElement(Type element, int rank) {
  return onnx::tensorOf(rank == 1 ? ArrayRef<int64_t>{1} : ArrayRef<int64_t>{}, element);
}
int rankOf(const pb::ValueInfoProto &value) {
  const pb::TypeProto::Tensor &type = value.type().tensor_type();
  return value.type().has_tensor_type() && type.has_shape() && type.shape().dim_size() == 1 ? 1 : 0;
}

/// Makes a loop; `body` fills its block and gives what it yields, or nothing after a problem.
Importer::Values Importer::loop(const Node &node, Value trips, Value condition, llvm::ArrayRef<Value> initial,
                                unsigned results, int numberRank, llvm::function_ref<Values(Block &)> body) {
  Location loc = locationOf(node);
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
  Operation *before = std::exchange(outermost, outermost ? outermost : op);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&op->getRegion(0).front());
  Values yields = body(op->getRegion(0).front());
  outermost = before;
  if (yields.empty()) {
    forgetValuesOf(op->getRegion(0).front());
    op->erase();
    return {};
  }
  onnx::YieldOp::create(builder, loc, yields);
  return finishControl(node, op) ? Values(op->getResults()) : Values();
}

Importer::Values Importer::makeLoop(const Node &node) {
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
  return loop(node, (*inputs)[0], (*inputs)[1], initial, graph->outputs.size() - 1, rankOf(graph->proto->input(0)),
              [&](Block &block) {
                Values arguments(block.getArguments());
                return subgraph(*graph, arguments).value_or(Values());
              });
}

// Scan.

struct Importer::Scan {
  explicit Scan(const Node &node) : node(node) {}
  const Node &node;
  const Subgraph *body = nullptr;
  unsigned states = 0, inputs = 0;
  SmallVector<int64_t> inputAxes, inputDirections, outputAxes, outputDirections; ///< empty: all 0
  unsigned outputs() const { return body->outputs.size() - states; }
};

bool Importer::scanAttributes(const Node &node, Scan &scan) {
  for (const auto &[name, proto] : node.attributes) {
    SmallVector<int64_t> *list = name == "scan_input_axes"                                 ? &scan.inputAxes
                                 : name == "scan_input_directions" || name == "directions" ? &scan.inputDirections
                                 : name == "scan_output_axes"                              ? &scan.outputAxes
                                 : name == "scan_output_directions"                        ? &scan.outputDirections
                                                                                           : nullptr;
    if (list) {
      list->assign(proto->ints().begin(), proto->ints().end());
    } else if (name == "num_scan_inputs") {
      scan.inputs = std::clamp<int64_t>(proto->i(), 0, node.inputs.size());
    } else {
      problems->add(node.where(), "has the unknown attribute " + quoted(name));
      return false;
    }
  }
  return true;
}

Importer::Values Importer::makeScan(const Node &node) {
  auto inputs = inputsOf(node);
  Scan scan(node);
  if (!inputs || !areTensors(node, *inputs) || !scanAttributes(node, scan)) {
    return {};
  }
  bool batches = node.opset < 9;
  Value lengths = batches && !inputs->empty() ? inputs->front() : Value();
  if (batches && !inputs->empty()) {
    inputs->erase(inputs->begin());
  }
  if (lengths || scan.inputs == 0 || scan.inputs > inputs->size() ||
      !llvm::all_of(*inputs, [](Value v) { return bool(v); })) {
    problems->add(node.where(), lengths ? "sequence lengths are unsupported" : "needs all states and scan inputs");
    return {};
  }
  scan.states = inputs->size() - scan.inputs;
  scan.body = subgraphOf(node, "body", inputs->size());
  if (!scan.body) {
    return {};
  }
  auto fits = [](llvm::ArrayRef<int64_t> list, size_t size) { return list.empty() || list.size() == size; };
  if (scan.body->outputs.size() < std::max(1u, scan.states) || !fits(scan.inputAxes, scan.inputs) ||
      !fits(scan.inputDirections, scan.inputs) || !fits(scan.outputAxes, scan.outputs()) ||
      !fits(scan.outputDirections, scan.outputs())) {
    problems->add(node.where(), "has axes, directions or outputs that do not fit its body");
    return {};
  }
  llvm::ArrayRef<Value> all = *inputs;
  return batches ? scanBatches(scan, all) : scanOnce(scan, all.take_front(scan.states), all.drop_front(scan.states));
}

static Value sizeAlong(OpBuilder &b, Location loc, Value x, int64_t axis) {
  onnx::Formula f(b, loc);
  return f.op("Shape", {x}, {f.integer("start", axis), f.integer("end", axis + 1)});
}
static Value elementAlong(OpBuilder &b, Location loc, Value x, Value index, int64_t axis) {
  onnx::Formula f(b, loc);
  return f.op("Gather", {x, index}, {f.integer("axis", axis)});
}

Importer::Values Importer::scanBatches(Scan &scan, llvm::ArrayRef<Value> inputs) {
  Location loc = locationOf(scan.node);
  Value batches = sizeAlong(builder, loc, inputs.front(), 0);
  return loop(scan.node, batches, {}, {}, scan.body->outputs.size(), 0, [&](Block &block) {
    Values own;
    for (Value v : inputs) {
      own.push_back(elementAlong(builder, loc, v, block.getArgument(0), 0));
    }
    llvm::ArrayRef<Value> all = own;
    Values results = scanOnce(scan, all.take_front(scan.states), all.drop_front(scan.states));
    if (!results.empty()) {
      results.insert(results.begin(), block.getArgument(1));
    }
    return results;
  });
}

/// What a scan output stands for: slices stacked along an axis of their own, in either direction.
static Value placed(OpBuilder &b, Location loc, Value stacked, int64_t axis, bool reverse) {
  onnx::Formula f(b, loc);
  if (reverse) {
    auto list = [&](int64_t v) { return onnx::makeIntegers(b, loc, {v}); };
    stacked = f.op("Slice", {stacked, list(-1), list(std::numeric_limits<int64_t>::min()), list(0), list(-1)});
  }
  if (axis == 0) {
    return stacked;
  }
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(1, onnx::ranked(stacked).getRank()));
  perm.insert(perm.begin() + axis, 0);
  return f.op("Transpose", {stacked}, {b.getNamedAttr("perm", b.getDenseI64ArrayAttr(perm))});
}

Importer::Values Importer::scanOnce(Scan &scan, llvm::ArrayRef<Value> initial, llvm::ArrayRef<Value> inputs) {
  Location loc = locationOf(scan.node);
  onnx::Formula f(builder, loc);
  auto given = [](llvm::ArrayRef<int64_t> list, unsigned i) { return list.empty() ? 0 : list[i]; };
  SmallVector<int64_t> axes;
  for (auto [i, x] : llvm::enumerate(inputs)) {
    auto type = onnx::ranked(x);
    auto axis = type ? onnx::normalAxis(given(scan.inputAxes, i), type.getRank()) : std::nullopt;
    if (!axis || (i > 0 && onnx::isStatic(x) && onnx::isStatic(inputs[0]) &&
                  type.getDimSize(*axis) != onnx::ranked(inputs[0]).getDimSize(axes[0]))) {
      problems->add(scan.node.where(),
                    axis ? "has scan inputs of lengths that differ" : "has an axis outside of a scan input");
      return {};
    }
    axes.push_back(*axis);
  }
  Value trips = sizeAlong(builder, loc, inputs[0], axes[0]);
  Value one = onnx::makeInteger(builder, loc, 1);
  Value last = f.sub(f.op("Squeeze", {trips, onnx::makeIntegers(builder, loc, {0})}), one);
  Values results = loop(scan.node, trips, {}, initial, scan.body->outputs.size(), 0, [&](Block &block) {
    Values arguments(block.getArguments().drop_front(2));
    for (auto [i, x] : llvm::enumerate(inputs)) {
      Value number = block.getArgument(0);
      Value index = given(scan.inputDirections, i) ? f.sub(last, number) : number;
      arguments.push_back(elementAlong(builder, loc, x, index, axes[i]));
    }
    Values yields = subgraph(*scan.body, arguments).value_or(Values());
    if (!yields.empty()) {
      yields.insert(yields.begin(), block.getArgument(1));
    }
    return yields;
  });
  for (unsigned i = scan.states; i < results.size(); ++i) {
    auto type = onnx::ranked(results[i]);
    int64_t wanted = given(scan.outputAxes, i - scan.states);
    auto axis = type ? onnx::normalAxis(wanted, type.getRank()) : std::nullopt;
    if (!axis && wanted != 0) {
      problems->add(scan.node.where(), "has an axis outside of a scan output");
      return {};
    }
    results[i] = placed(builder, loc, results[i], axis.value_or(0), given(scan.outputDirections, i - scan.states));
  }
  return results;
}

} // namespace ingot::importer
