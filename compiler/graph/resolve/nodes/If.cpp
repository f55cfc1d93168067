// Resolves If. A branch in which something is wrong does not make the model wrong, since exporters leave branches that
// fit other sizes: it only cannot be taken.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ops/Control.h"

using namespace mlir;

namespace ingot::graph {

/// Makes the outputs of both branches one form: sequences whose lengths differ, or that are not there in one of them,
/// are packed. Returns false where one is a sequence and the other a tensor.
static bool unifyBranches(Resolver &r, const Node &node, ResolvedValue (&both)[2], Block *(&blocks)[2]) {
  if (!both[0].sequence && !both[1].sequence) {
    return true;
  }
  if (!both[0].sequence || !both[1].sequence) {
    r.fail(node, "has branches of which one gives a sequence, and the other a tensor");
    return false;
  }
  auto isKnown = [](const ResolvedValue &resolved) {
    return !resolved.sequence->isPacked() && !resolved.sequence->present;
  };
  if (isKnown(both[0]) && isKnown(both[1]) && both[0].sequence->items.size() == both[1].sequence->items.size()) {
    return true;
  }
  if (!both[0].sequence->isRanked() || !both[1].sequence->isRanked()) {
    r.fail(node, "has branches that give sequences of tensors of an unknown number of axes");
    return false;
  }
  int64_t rank = 0;
  bool isOptional = both[0].sequence->present || both[1].sequence->present;
  OpBuilder::InsertionGuard guard(r.builder);
  for (int round = 0; round < 2; ++round) { // the second round knows which rank is the larger one
    for (auto [resolved, block] : llvm::zip_equal(both, blocks)) {
      r.builder.setInsertionPointToEnd(block);
      resolved = r.packedAs(node, resolved, rank, /*mixes=*/false, isOptional);
      rank = std::max(rank, resolved.sequence->rank());
    }
  }
  both[0].sequence->mixesRanks |= both[1].sequence->mixesRanks;
  return true;
}

/// Makes an If whose regions have an empty block each, or are moved from `before`.
static Operation *ifOp(Resolver &r, const Node &node, Value condition, unsigned results, Operation *before = nullptr) {
  OperationState state(node.loc, onnx::IfOp::getOperationName());
  state.addOperands(condition);
  state.addTypes(SmallVector<Type>(results, onnx::unrankedOf(r.builder.getF32Type())));
  for (int i = 0; i < 2; ++i) {
    Region *region = state.addRegion();
    before ? region->takeBody(before->getRegion(i)) : (void)region->emplaceBlock();
  }
  return r.builder.create(state);
}

static void makeIf(Resolver &r, const Node &node) {
  const Subgraph *graphs[] = {r.subgraphOf(node, "then_branch", 0), r.subgraphOf(node, "else_branch", 0)};
  if (node.inputs.size() != 1 || !node.hasInput(0) || r.takesSequence(node)) {
    r.fail(node, "needs one input, the condition");
    return;
  }
  Value condition = r.value(node.inputs.front());
  if (!condition || !graphs[0] || !graphs[1]) {
    return;
  }
  Operation *op = ifOp(r, node, condition, graphs[0]->outputs.size());
  Problems found[] = {r.problems->emptyForSameFile(), r.problems->emptyForSameFile()};
  std::optional<ResolvedValues> resolved[2];
  Block *blocks[] = {&op->getRegion(0).front(), &op->getRegion(1).front()};
  for (int i = 0; i < 2; ++i) {
    resolved[i] = r.branch(*graphs[i], *blocks[i], found[i]);
  }
  if (resolved[0] && resolved[1]) {
    for (auto [first, second] : llvm::zip(*resolved[0], *resolved[1])) {
      ResolvedValue both[] = {first, second};
      if (!unifyBranches(r, node, both, blocks)) {
        return;
      }
      first = both[0], second = both[1];
    }
  }
  bool isNeither = !found[0].empty() && !found[1].empty();
  for (const Problems &one : found) {
    if (isNeither || one.haveBug()) {
      r.problems->add(one);
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
    op = ifOp(r, node, condition, results.size(), narrow);
    narrow->erase();
  }
  for (int i = 0; i < 2; ++i) {
    Block &block = op->getRegion(i).front();
    if (resolved[i]) {
      OpBuilder::InsertionGuard guard(r.builder);
      r.builder.setInsertionPointToEnd(&block);
      onnx::YieldOp::create(r.builder, r.builder.getUnknownLoc(), tensorsOf(*resolved[i]));
    } else {
      onnx::failInstead(block, found[i].empty() ? "a value around it cannot be computed" : found[i].first());
    }
  }
  if (r.finishControl(node, op)) {
    r.takeResults(node, op->getResults(), taken);
  }
}

void addIf(Rules &rules) { rules.add<onnx::IfOp>(makeIf); }

} // namespace ingot::graph
