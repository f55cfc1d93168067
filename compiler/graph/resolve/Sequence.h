// A sequence while nodes are resolved. Where it is known how many tensors it has, it is these, each a value like
// any other. Where only a run can tell, it is packed into two: `elements` has those of all tensors, one behind the
// other, and `shapes` the shape of each, [count, rank], with -1 in the place of axes that a tensor of a lower rank
// lacks, behind those that it has. All that can be done to such a sequence is written in terms of the standard's
// operators on these two, whose sizes the run finds like others.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::graph {

struct Sequence {
  llvm::SmallVector<mlir::Value> items;
  mlir::Value elements, shapes; ///< instead of them, where it is packed
  int64_t columns = 0;          ///< of `shapes`, whose type need not tell before all is simplified
  bool holdsNone = false;       ///< a packed one is known to have no tensors
  bool mixesRanks = false;      ///< the tensors of a packed one may have ranks that differ
  mlir::Value present;          ///< of an optional one: whether it is there; null: it is
  mlir::Type element;           ///< of the tensors; null: of one without tensors that nobody has said it of

  bool isPacked() const { return static_cast<bool>(shapes); }
  /// Whether it is known to have no tensors.
  bool isEmpty() const { return isPacked() ? holdsNone : items.empty(); }
  /// Whether it is known of all tensors how many axes they have: others cannot be packed.
  bool isRanked() const;
  /// The most axes that they have.
  int64_t rank() const;
};

/// What a name stands for: a tensor, or a sequence.
struct Given {
  mlir::Value tensor;
  std::optional<Sequence> sequence = {};
};

/// The tensors that stand for values, one behind the other.
llvm::SmallVector<mlir::Value> flat(llvm::ArrayRef<Given> givens);
/// Values of the same form, for which these tensors stand.
llvm::SmallVector<Given> like(llvm::ArrayRef<Given> form, mlir::ValueRange tensors);

/// Writes what nodes do to packed sequences, at the builder's place. What a run finds wrong (a place outside, parts
/// that do not add up) ends it with INGOT_ERROR_INDEX and the node.
class SequenceFormula {
public:
  using Value = mlir::Value;
  SequenceFormula(mlir::OpBuilder &b, mlir::Location loc) : f(b, loc) {}

  /// The same, packed, with room for tensors of so many axes.
  Sequence packed(Sequence s, int64_t rank = 0);
  Value count(const Sequence &s);
  /// The tensor at `place`, negative ones from the end; of one that does not mix ranks.
  Value at(const Sequence &s, Value place);
  /// With `tensor` at `place`, or at the end where that is null.
  Sequence inserted(Sequence s, Value tensor, Value place);
  /// Without the tensor at `place`, or the last.
  Sequence erased(Sequence s, Value place);
  /// SplitToSequence; `split` is null, of one element (the size of the parts) or a list of sizes.
  Sequence split(Value x, int64_t axis, Value split, bool isList, bool keepsAxis);
  /// ConcatFromSequence along an axis that the tensors have.
  Value joined(const Sequence &s, int64_t axis);
  /// The same along a new one.
  Value stacked(const Sequence &s, int64_t axis);
  /// An optional one that has to be there.
  Sequence required(Sequence s);
  Value differ(Value a, Value b) { return f.op("Not", {f.op("Equal", {a, b})}); }
  /// `v`, which is of int64, where `bad` does not hold; otherwise the run ends.
  Value unless(Value bad, Value v);

private:
  /// Where each element of an axis that is cut into parts stands: where its part begins and how long that is.
  struct Parts {
    Value begin, length;
  };
  /// `axis` has its numbers, 0, 1, ...
  Parts partsOf(Value lengths, Value axis);
  /// Where the elements of [outer, axis, inner] stand when the axis is cut into parts of these lengths, one behind the
  /// other.
  Value placesIn(Value lengths, Value axis, Value outer, Value inner);

  Value list(Value v) { return f.reshape(v, {-1}); }
  Value scalar(Value v) { return f.reshape(i64(v), {}); }
  Value i64(Value v) { return f.cast(v, f.b.getI64Type(), 7); }
  Value where(Value c, Value a, Value b) { return f.op("Where", {c, a, b}); }
  Value less(Value a, Value b) { return f.op("Less", {a, b}); }
  Value number(int64_t n) { return f.scalar(n); }
  Value joinAll(llvm::ArrayRef<Value> parts) { return f.op("Concat", parts, {f.integer("axis", 0)}); }
  Value sizesOf(Value x, int64_t begin, int64_t end) {
    return f.op("Shape", {x}, {f.integer("start", begin), f.integer("end", end)});
  }
  Value slice(Value x, Value begin, Value end, int64_t axis = 0);
  Value row(Value x, int64_t rank);
  Value productOf(Value list) { return f.reduce("ReduceProd", list, {0}, /*keepdims=*/false); }
  Value sumOf(Value list) { return f.reduce("ReduceSum", list, {0}, /*keepdims=*/false); }
  Value rowOf(Value x, Value numbers) { return f.op("Gather", {x, numbers}, {f.integer("axis", 0)}); }
  Value orEmpty(const Sequence &s, Value bad) { return f.op("Or", {bad, less(count(s), number(1))}); }
  Value counts(const Sequence &s);
  Value before(Value counts, Value place, Value n);
  Value spliced(Value x, Value rows, Value begin, Value removed);
  Value normal(Value place, Value count, Value last);
  Value repeated(Value v, Value count, std::optional<int64_t> columns = {});

  onnx::Formula f;
};

} // namespace ingot::graph
