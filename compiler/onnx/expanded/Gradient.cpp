// Walks over the ops between the tensors from the last one to the first: each hands on the derivative that it got
// (onnx/rewriting/Gradients.h). Where the place is another one than that of the model itself, the ops are computed
// there once more.
#include "compiler/onnx/expanded/Gradient.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Gradients.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#define GET_OP_CLASSES
#include "compiler/onnx/expanded/Gradient.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult GradientOp::verify() {
  auto isOfFloats = [](Value v) { return isa<FloatType>(elementOf(v)); };
  if (getXs().empty() || getY().size() != 1 || !llvm::all_of(getXs(), isOfFloats) || !isOfFloats(getY().front()) ||
      getPlace().size() != getXs().size() + getZs().size() || getNumResults() > getXs().size()) {
    return emitOpError("needs 'xs' and a 'y' of floats, and an input for each tensor of 'xs' and 'zs'");
  }
  return success();
}

LogicalResult GradientOp::inferTypes(SmallVectorImpl<Type> &types) {
  llvm::append_range(types, getPlace().take_front(getNumResults()).getTypes());
  return success();
}

/// These attributes name tensors of the graph, which the importer makes operands.
ArrayRef<StringLiteral> GradientOp::tensorAttributes() {
  static constexpr StringLiteral names[] = {"xs", "zs", "y"};
  return names;
}

/// Returns the ops of a block from which a tensor is computed, back to tensors where the walk stops, in their order.
static SmallVector<Operation *> opsBetween(ValueRange from, Value to) {
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> left = {to};
  while (!left.empty()) {
    Value v = left.pop_back_val();
    Operation *op = llvm::is_contained(from, v) ? nullptr : v.getDefiningOp();
    if (op && seen.insert(op).second) {
      ops.push_back(op);
      llvm::append_range(left, op->getOperands());
    }
  }
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// Writes the derivatives of `y` by `xs`, from which `ops` compute it. Failure, with a message, where one of them has
/// none. `by` has an entry for each value that depends on `xs`, and in it the sum of the derivatives that its readers
/// handed on so far. An op's own is complete when the walk reaches it, since all its readers stand behind it. The
/// derivative of y by itself is one.
static LogicalResult derive(Formula &f, Value y, ValueRange xs, ArrayRef<Operation *> ops,
                            SmallVectorImpl<Value> &results) {
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
    auto adjoints = adjointsOf(f, op, given);
    if (!adjoints) {
      return emitError(f.loc) << "goes through '" << op->getName().stripDialect()
                              << "', whose derivative in this form is unsupported";
    }
    for (auto [x, part] : llvm::zip_equal(op->getOperands(), *adjoints)) {
      if (part && isActive(x)) {
        by[x] = by[x] ? f.add(by[x], part) : part;
      }
    }
  }
  for (Value x : xs) {
    results.push_back(by[x] ? by[x] : zerosBy(f, {f.op("Shape", {x})}, x));
  }
  return success();
}

LogicalResult GradientOp::expand(OpBuilder &b, SmallVectorImpl<Value> &results) {
  SmallVector<Value> from(getXs()), place(getPlace());
  llvm::append_range(from, getZs());
  Formula f(b, getLoc());
  Value y = getY().front();
  SmallVector<Operation *> ops = opsBetween(from, y);
  if (from != place) {
    IRMapping map;
    map.map(from, place);
    for (Operation *&op : ops) {
      op = b.clone(*op, map);
      if (failed(updateTypes(op))) {
        return failure();
      }
    }
    y = map.lookupOrDefault(y);
  }
  if (failed(derive(f, y, ValueRange(place).take_front(getXs().size()), ops, results))) {
    return failure();
  }
  results.truncate(getNumResults());
  return success();
}

void registerGradient(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/expanded/Gradient.cpp.inc"
      >();
}

} // namespace ingot::onnx
