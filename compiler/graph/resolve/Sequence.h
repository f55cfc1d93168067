// Holds a sequence while nodes are resolved. Where it is known how many tensors it has, it consists of these, each of
// which is a value like any other. Where only a run can tell, it is packed into two tensors: `elements` has the
// elements of all tensors, one behind the other, and `shapes` the shape of each, [count, rank], with -1 in the place of
// axes that a tensor of a lower rank lacks, behind those that it has. All that can be done to such a sequence is
// written in terms of the standard's operators on these two, whose sizes the run finds like others.
#pragma once
#include "compiler/onnx/rewriting/Formula.h"

namespace ingot::graph {

struct Sequence {
  llvm::SmallVector<mlir::Value> items;
  mlir::Value elements, shapes; ///< these stand for the tensors where the sequence is packed
  int64_t columns = 0;          ///< the columns of `shapes`, whose type may not tell them before all is simplified
  bool holdsNone = false;       ///< whether a packed sequence is known to have no tensors
  bool mixesRanks = false;      ///< whether the tensors of a packed sequence may have different ranks
  mlir::Value present;          ///< whether an optional sequence is there, as a value; null: it is
  mlir::Type element;           ///< the element type; null: the sequence has no tensors, and nothing says their type

  bool isPacked() const { return static_cast<bool>(shapes); }
  /// Whether the sequence is known to have no tensors.
  bool isEmpty() const { return isPacked() ? holdsNone : items.empty(); }
  /// Whether the number of axes of all tensors is known; other sequences cannot be packed.
  bool isRanked() const;
  /// Returns the most axes that a tensor has.
  int64_t rank() const;
};

/// The value that a name stands for: a tensor, or a sequence.
struct ResolvedValue {
  mlir::Value tensor;
  std::optional<Sequence> sequence = {};
};

/// Returns the tensors that stand for values, one behind the other.
llvm::SmallVector<mlir::Value> tensorsOf(llvm::ArrayRef<ResolvedValue> values);
/// Returns values of the same form as `form`, for which `tensors` stand.
llvm::SmallVector<ResolvedValue> withTensors(llvm::ArrayRef<ResolvedValue> form, mlir::ValueRange tensors);

/// Writes what nodes do to packed sequences, at the builder's place. A run that finds something wrong (a place outside,
/// parts that do not add up) ends with INGOT_ERROR_INDEX and the node.
class SequenceFormula {
public:
  using Value = mlir::Value;
  SequenceFormula(mlir::OpBuilder &b, mlir::Location loc) : f(b, loc) {}

  /// Returns a sequence packed, with room for tensors of `rank` axes.
  Sequence packed(Sequence s, int64_t rank = 0);
  Value count(const Sequence &s);
  /// Returns the tensor at `place`; negative places count from the end. The sequence must not mix ranks.
  Value at(const Sequence &s, Value place);
  /// Returns a sequence with `tensor` at `place`, or at the end where that is null.
  Sequence inserted(Sequence s, Value tensor, Value place);
  /// Returns a sequence without the tensor at `place`, or without the last one.
  Sequence erased(Sequence s, Value place);
  /// Returns the sequence that SplitToSequence makes; `split` is null, of one element (the size of the parts) or a list
  /// of sizes.
  Sequence split(Value x, int64_t axis, Value split, bool isList, bool keepsAxis);
  /// Returns the tensors joined along an axis that they have (ConcatFromSequence).
  Value joined(const Sequence &s, int64_t axis);
  /// Returns the tensors joined along a new axis.
  Value stacked(const Sequence &s, int64_t axis);
  /// Returns an optional sequence, which has to be there or the run ends.
  Sequence required(Sequence s);
  Value differ(Value a, Value b) { return f.op("Not", {f.op("Equal", {a, b})}); }
  /// Returns `v`, which is of int64, where `bad` does not hold; otherwise the run ends.
  Value failIf(Value bad, Value v);

private:
  /// The place of each element of an axis that is cut into parts: where its part begins and how long that is.
  struct Parts {
    Value begin, length;
  };
  /// Computes the parts; `axis` has the numbers of the axis' elements, 0, 1, ...
  Parts partsOf(Value lengths, Value axis);
  /// Returns the places of the elements of [outer, axis, inner] when the axis is cut into parts of these lengths, which
  /// stand one behind the other.
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
  Value rowsReplaced(Value x, Value rows, Value begin, Value removed);
  Value normal(Value place, Value count, Value last);
  Value repeated(Value v, Value count, std::optional<int64_t> columns = {});

  onnx::Formula f;
};

} // namespace ingot::graph
