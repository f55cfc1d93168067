// Gradient: the derivatives of a tensor by others, at a place that the node's inputs give. The ops between these
// tensors are there already; from the last one to the first each hands on what it got (onnx/rewriting/Gradients.h).
// Where the place is another one than that of the model itself, the ops are computed there once more.
#include "compiler/importer/Importer.h"
#include "compiler/onnx/rewriting/Forms.h"
#include "compiler/onnx/rewriting/Gradients.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ingot::importer {
namespace {

/// The ops of a block from which a tensor is computed, back to others where the walk stops, in their order.
class Slice {
public:
  Slice(Value to, ValueRange from) : ends(from.begin(), from.end()) {
    visit(to);
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }
  SmallVector<Operation *> ops;

private:
  SmallVector<Value> ends;
  llvm::SmallPtrSet<Operation *, 16> seen;

  void visit(Value to) {
    SmallVector<Value> left = {to};
    while (!left.empty()) {
      Value v = left.pop_back_val();
      Operation *op = llvm::is_contained(ends, v) ? nullptr : v.getDefiningOp();
      if (op && seen.insert(op).second) {
        ops.push_back(op);
        llvm::append_range(left, op->getOperands());
      }
    }
  }
};

} // namespace

/// The tensors that an attribute names; none, with a problem, where one of them is not there.
std::optional<Importer::Values> Importer::tensorsNamed(const Node &node, llvm::StringRef attribute) {
  Values found;
  for (const NodeAttribute &given : node.attributes) {
    if (given.name != attribute) {
      continue;
    }
    SmallVector<std::string> names(given.value->strings().begin(), given.value->strings().end());
    if (given.value->has_s()) {
      names.push_back(given.value->s());
    }
    for (const std::string &name : names) {
      found.push_back(value(name));
      if (!found.back() || !isa<TensorType>(found.back().getType())) {
        problems->add(node.where(), "names " + quoted(name) + ", which is no tensor that is computed before it");
        return std::nullopt;
      }
    }
  }
  return found;
}

/// What the derivatives by `xs` are; empty, with a problem, where an operator in between has none.
Importer::Values Importer::derivatives(const Node &node, onnx::Formula &f, Value y, const Values &xs,
                                       llvm::ArrayRef<Operation *> ops) {
  llvm::DenseMap<Value, Value> by;
  auto isActive = [&](Value v) { return by.contains(v); };
  for (Value x : xs) {
    by[x] = Value();
  }
  for (Operation *op : ops) {
    if (llvm::any_of(op->getOperands(), isActive)) {
      for (Value result : op->getResults()) {
        by[result] = Value();
      }
    }
  }
  by[y] = f.op("Expand", {f.number(1, y), f.op("Shape", {y})});
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<Value> given = llvm::map_to_vector(op->getResults(), [&](Value v) { return by.lookup(v); });
    bool matters =
        llvm::any_of(op->getOperands(), isActive) && llvm::any_of(given, [](Value v) { return static_cast<bool>(v); });
    if (!matters) {
      continue;
    }
    auto adjoints = onnx::adjointsOf(f, op, given);
    if (!adjoints) {
      problems->add(node.where(), "goes through " + quoted(op->getName().stripDialect().str()) +
                                      ", whose derivative in this form is unsupported");
      return {};
    }
    for (auto [x, part] : llvm::zip_equal(op->getOperands(), *adjoints)) {
      if (part && isActive(x)) {
        by[x] = by[x] ? f.add(by[x], part) : part;
      }
    }
  }
  return llvm::map_to_vector(xs, [&](Value x) { return by[x] ? by[x] : onnx::zerosBy(f, {f.op("Shape", {x})}, x); });
}

Importer::Values Importer::makeGradient(const Node &node) {
  auto xs = tensorsNamed(node, "xs"), zs = tensorsNamed(node, "zs"), ys = tensorsNamed(node, "y");
  std::optional<Values> inputs = inputsOf(node);
  if (!xs || !zs || !ys || !inputs) {
    return {};
  }
  Values from(*xs);
  from.append(*zs);
  bool floats = llvm::all_of(*xs, [](Value v) { return isa<FloatType>(onnx::elementOf(v)); }) && ys->size() == 1 &&
                isa<FloatType>(onnx::elementOf(ys->front()));
  if (xs->empty() || !floats || inputs->size() != from.size() || llvm::is_contained(*inputs, Value()) ||
      node.outputs.size() > xs->size()) {
    problems->add(node.where(), "needs 'xs' and a 'y' of floats, and an input for each tensor of 'xs' and 'zs'");
    return {};
  }
  onnx::Formula f(builder, locationOf(node));
  Value y = ys->front();
  SmallVector<Operation *> ops = Slice(y, from).ops;
  if (from != *inputs) { // another place
    IRMapping map;
    map.map(from, *inputs);
    for (Operation *&op : ops) {
      op = builder.clone(*op, map);
      if (failed(onnx::updateTypes(op))) {
        return {};
      }
    }
    y = map.lookupOrDefault(y);
    xs->assign(inputs->begin(), inputs->begin() + static_cast<ptrdiff_t>(xs->size()));
  }
  return derivatives(node, f, y, *xs, ops);
}

} // namespace ingot::importer
