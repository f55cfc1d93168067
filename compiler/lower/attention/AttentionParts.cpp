#include "compiler/lower/attention/AttentionParts.h"
#include "compiler/onnx/constants/Constants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

Ixs attentionRowAt(const AttentionProblem &p, Ix row) {
  Ixs at(p.batch.size() - p.own + 1, 0);
  at.back() = p.rows == p.queries ? row : remainder(row, p.queries);
  Ix index = p.rows == p.queries ? Ix(0) : floorDiv(row, p.queries);
  for (size_t d = p.batch.size(); d-- > p.own;) {
    at[d - p.own] = d == p.own ? index : remainder(index, p.batch[d]), index = floorDiv(index, p.batch[d]);
  }
  return at;
}

Value attentionScore(Writer &w, onnx::AttendOp op, ArrayRef<AttentionOther> others, Value product, int64_t lanes,
                     llvm::function_ref<Value(const AttentionOther &)> read) {
  llvm::DenseMap<Value, Value> known;
  known[op.product()] = product;
  for (const AttentionOther &other : others) {
    known[other.argument] = read(other);
  }
  for (Operation &inner : op.block().without_terminator()) {
    Value y = inner.getResult(0);
    if (onnx::constantOf(y)) {
      known[y] = w.constant(*onnx::splatNumber(y), w.vectorOf(valueType(getElementTypeOrSelf(y.getType())), lanes));
    } else if (auto elementwise = dyn_cast<onnx::Elementwise>(inner)) {
      auto operands = llvm::map_to_vector(inner.getOperands(), [&](Value x) { return known.lookup(x); });
      known[y] = elementwise.emit(w.b, operands);
    }
  }
  return known.lookup(op.score());
}

Value lastKeyAt(Writer &w, Group &group, const AttentionOther &lastKey, const Space &space, const Point &at) {
  Value last = group.read(lastKey.inRegion, space, at);
  Type integer = w.b.getI64Type();
  return last.getType() == integer ? last : arith::ExtSIOp::create(w.b, w.loc, integer, last);
}

/// The number is compared as an int64, since an index may be narrower.
Ix keysUpTo(Writer &w, const AttentionProblem &p, Value last) {
  Type integer = w.b.getI64Type();
  last = arith::MaxSIOp::create(w.b, w.loc, last, w.constant(-1, integer));
  last = arith::MinSIOp::create(w.b, w.loc, last, w.integer(Ix(p.keys) - Ix(1), integer));
  return w.ix(last) + Ix(1);
}

Value isEmptyRow(Writer &w, onnx::AttendOp op, const AttentionProblem &p, Value sum) {
  Value zero = w.constant(0, sum.getType());
  if (op.getEmpty() == "never-nan") {
    Value isSome = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, sum, zero);
    return arith::XOrIOp::create(w.b, w.loc, isSome, w.constant(1, w.b.getI1Type()));
  }
  if (op.getEmpty() == "zero") {
    return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, sum, zero);
  }
  return p.keys.atLeast(1) ? Value() : w.compare(arith::CmpIPredicate::eq, p.keys, 0);
}

Point attentionResultAt(onnx::AttendOp op, const Point &axes) {
  Point to{{}, axes.lanes, {}};
  for (int64_t axis : op.getPerm()) {
    to.at.push_back(axes.at[axis]);
  }
  return to;
}

} // namespace ingot::lower
