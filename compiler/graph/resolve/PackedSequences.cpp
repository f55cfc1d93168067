// Computes packed sequences (Sequence.h) as tensors. A tensor of the sequence is a slice of `elements` in the shape
// that its row of `shapes` says; the number of elements before it is a sum over the rows before. Appending is a Concat,
// which a loop does in place. An insertion at a place that a run tells is a ReplaceRows, and so is erasing, since
// slices up to that place would each have a size of its own, whose sum nobody knows. Axes that are not the first are
// cut and joined by computed numbers of elements.
#include "compiler/graph/resolve/Sequence.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Shape.h"

using namespace mlir;

namespace ingot::graph {

bool Sequence::isRanked() const {
  return llvm::all_of(items, [](Value item) { return bool(onnx::ranked(item)); });
}

int64_t Sequence::rank() const {
  if (isPacked()) {
    return columns;
  }
  int64_t rank = 0;
  for (Value item : items) {
    rank = std::max(rank, onnx::ranked(item).getRank());
  }
  return rank;
}

SmallVector<Value> tensorsOf(llvm::ArrayRef<ResolvedValue> values) {
  SmallVector<Value> all;
  for (const ResolvedValue &resolved : values) {
    if (!resolved.sequence) {
      all.push_back(resolved.tensor);
      continue;
    }
    const Sequence &s = *resolved.sequence;
    if (s.present) {
      all.push_back(s.present);
    }
    if (s.isPacked()) {
      all.append({s.elements, s.shapes});
    }
    all.append(s.items);
  }
  return all;
}

SmallVector<ResolvedValue> withTensors(llvm::ArrayRef<ResolvedValue> form, ValueRange tensors) {
  auto next = [&] {
    Value v = tensors.front();
    tensors = tensors.drop_front();
    return v;
  };
  SmallVector<ResolvedValue> all(form);
  for (ResolvedValue &resolved : all) {
    if (!resolved.sequence) {
      resolved.tensor = next();
      continue;
    }
    Sequence &s = *resolved.sequence;
    s.present = s.present ? next() : Value();
    if (s.isPacked()) {
      s.elements = next();
      s.shapes = next();
      s.holdsNone = false;
    }
    std::generate(s.items.begin(), s.items.end(), next);
  }
  return all;
}

Value SequenceFormula::failIf(Value bad, Value v) {
  // An index that is outside ends a run; a lookup in a table of two entries is not folded away.
  Value table = onnx::makeIntegers(f.b, f.loc, {0, 1});
  return f.add(v, f.op("Gather", {table, where(bad, number(2), number(0))}, {f.integer("axis", 0)}));
}

Value SequenceFormula::slice(Value x, Value begin, Value end, int64_t axis) {
  Value axes = onnx::makeIntegers(f.b, f.loc, {axis}), one = onnx::makeIntegers(f.b, f.loc, {1});
  return f.op("Slice", {x, list(begin), list(end), axes, one});
}

/// Returns the shape of a tensor as a row of `shapes`.
Value SequenceFormula::row(Value x, int64_t rank) {
  int64_t own = onnx::ranked(x).getRank();
  Value shape = f.op("Shape", {x});
  if (own < rank) {
    shape = joinAll({shape, onnx::makeIntegers(f.b, f.loc, SmallVector<int64_t>(rank - own, -1))});
  }
  return f.reshape(shape, {1, rank});
}

/// Returns the tensor whose parts along the first axis these are, in their order (SplitToSequence); null: there is
/// none.
static Value wholeOf(llvm::ArrayRef<Value> items) {
  Value whole;
  int64_t end = 0;
  for (Value item : items) {
    auto squeeze = item.getDefiningOp<onnx::SqueezeOp>();
    auto slice = (squeeze ? squeeze->getOperand(0) : item).getDefiningOp<onnx::SliceOp>();
    if (!slice || (whole && whole != slice.getData()) || onnx::integersOf(slice.getAxes()) != SmallVector<int64_t>{0} ||
        onnx::integersOf(slice.getStarts()) != SmallVector{end} ||
        onnx::integersOf(slice.getSteps()) != SmallVector<int64_t>{1}) {
      return {};
    }
    whole = slice.getData();
    end = onnx::integersOf(slice.getEnds()).value_or(SmallVector<int64_t>{-1}).front();
  }
  return whole && onnx::sizesOf(onnx::ranked(whole)).front().is(end) ? whole : Value();
}

Sequence SequenceFormula::packed(Sequence s, int64_t rank) {
  rank = std::max(rank, s.rank());
  if (s.isPacked()) {
    if (int64_t more = rank - s.rank(); more > 0) {
      s.mixesRanks |= !s.isEmpty();
      Value minus = repeated(number(-1), count(s), more);
      s.shapes = f.op("Concat", {s.shapes, minus}, {f.integer("axis", 1)});
    }
    s.columns = rank;
    return s;
  }
  s.columns = rank;
  if (s.items.empty()) {
    s.holdsNone = true;
    // The number of tensors is computed, so that types do not tell it: a loop may begin with these.
    Value none = f.sub(number(1), number(1));
    auto one = onnx::tensorOf({1}, s.element);
    auto zero = isa<FloatType>(s.element) ? onnx::constantFromFloats(one, {0.0}) : onnx::constantFromIntegers(one, {0});
    s.elements = f.op("ConstantOfShape", {list(none)}, {f.b.getNamedAttr("value", zero)});
    s.shapes = repeated(number(0), none, rank);
    return s;
  }
  SmallVector<Value> elements, rows;
  Value whole = wholeOf(s.items);
  for (Value item : s.items) {
    elements.push_back(whole ? Value() : list(item));
    rows.push_back(row(item, rank));
    s.mixesRanks |= onnx::ranked(item).getRank() != rank;
  }
  s.element = onnx::elementOf(s.items.front());
  s.elements = whole ? list(whole) : joinAll(elements);
  s.shapes = joinAll(rows);
  s.items.clear();
  return s;
}

Value SequenceFormula::count(const Sequence &s) {
  return s.isPacked() ? f.reshape(sizesOf(s.shapes, 0, 1), {}) : number(static_cast<int64_t>(s.items.size()));
}

/// Repeats `v` in `count` elements, or in `count` rows of `columns`. It is written as a sum, since an Expand would have
/// to check in the run whether the size is 1.
Value SequenceFormula::repeated(Value v, Value count, std::optional<int64_t> columns) {
  Value shape = list(count);
  if (columns) {
    shape = joinAll({shape, onnx::makeIntegers(f.b, f.loc, {*columns})});
  }
  auto zero = onnx::constantFromIntegers(onnx::tensorOf({1}, f.b.getI64Type()), {0});
  return f.add(f.op("ConstantOfShape", {shape}, {f.b.getNamedAttr("value", zero)}), v);
}

/// Returns how many elements each tensor has.
Value SequenceFormula::counts(const Sequence &s) {
  return s.rank() == 0 ? repeated(number(1), count(s))
                       // An axis that is not there (-1) counts as 1.
                       : f.reduce("ReduceProd", f.abs(s.shapes), {1}, /*keepdims=*/false);
}

/// Returns a place from 0 to `last`; another one ends the run.
Value SequenceFormula::normal(Value place, Value count, Value last) {
  place = scalar(place);
  place = where(less(place, number(0)), f.add(place, count), place);
  Value bad = f.op("Or", {less(place, number(0)), less(last, place)});
  return failIf(bad, where(bad, number(0), place));
}

/// Returns how many elements stand before a tensor.
Value SequenceFormula::before(Value counts, Value place, Value n) {
  return sumOf(where(less(f.countTo(n), place), counts, number(0)));
}

Value SequenceFormula::at(const Sequence &s, Value place) {
  Value n = count(s), which = normal(place, n, f.sub(n, number(1))), each = counts(s);
  Value numbers = f.add(f.countTo(rowOf(each, which)), before(each, which, n));
  Value shape = f.reshape(rowOf(s.shapes, which), {s.columns}); // the row says how many axes there are
  return f.op("Reshape", {rowOf(s.elements, numbers), shape}, {f.integer("allowzero", 1)});
}

/// Returns `x` with `rows`, if there are any, in place of `removed` rows from `begin` on.
Value SequenceFormula::rowsReplaced(Value x, Value rows, Value begin, Value removed) {
  return f.op("ReplaceRows", {x, rows ? rows : onnx::makeNone(f.b, f.loc), begin, removed});
}

Sequence SequenceFormula::inserted(Sequence s, Value tensor, Value place) {
  int64_t own = onnx::ranked(tensor).getRank();
  bool differs = own != s.rank() && !s.isEmpty();
  s.element = onnx::elementOf(tensor);
  s = packed(s, own);
  s.mixesRanks |= differs;
  Value flat = list(tensor), rank = row(tensor, s.rank());
  if (place) {
    Value n = count(s), which = normal(place, n, n), none = number(0);
    s.elements = rowsReplaced(s.elements, flat, before(counts(s), which, n), none);
    s.shapes = rowsReplaced(s.shapes, rank, which, none);
  } else {
    s.elements = joinAll({s.elements, flat});
    s.shapes = joinAll({s.shapes, rank});
  }
  s.holdsNone = false;
  return s;
}

Sequence SequenceFormula::erased(Sequence s, Value place) {
  Value n = count(s), one = number(1), last = f.sub(n, one);
  Value which = place ? normal(place, n, last) : normal(last, n, last), each = counts(s);
  s.elements = rowsReplaced(s.elements, {}, before(each, which, n), rowOf(each, which));
  s.shapes = rowsReplaced(s.shapes, {}, which, one);
  return s;
}

SequenceFormula::Parts SequenceFormula::partsOf(Value lengths, Value axis) {
  Value one = number(1), zero = number(0), ends = f.op("CumSum", {lengths, zero});
  Value marks = joinAll({f.mul(axis, zero), list(zero)}), ones = repeated(one, sizesOf(lengths, 0, 1));
  marks = f.op("ScatterElements", {marks, ends, ones},
               {f.integer("axis", 0), f.b.getNamedAttr("reduction", f.b.getStringAttr("add"))});
  Value part = rowOf(f.op("CumSum", {marks, zero}), axis); // how many parts end before
  Value length = rowOf(lengths, part);
  return {f.sub(rowOf(ends, part), length), length};
}

Value SequenceFormula::placesIn(Value lengths, Value axis, Value outer, Value inner) {
  Parts parts = partsOf(lengths, axis);
  auto column = [&](Value v) { return f.reshape(v, {-1, 1}); };
  Value begin = column(parts.begin), length = column(parts.length);
  Value block = f.mul(f.mul(begin, outer), inner);
  Value inBlock = f.add(f.mul(f.sub(column(axis), begin), inner), f.countTo(inner)); // [total, inner]
  Value rows = f.mul(f.mul(f.reshape(f.countTo(outer), {-1, 1, 1}), length), inner); // [outer, total, 1]
  return list(f.add(rows, f.add(block, inBlock)));
}

Sequence SequenceFormula::split(Value x, int64_t axis, Value split, bool isList, bool keepsAxis) {
  int64_t rank = onnx::ranked(x).getRank();
  Value total = f.reshape(sizesOf(x, axis, axis + 1), {}), zero = number(0), one = number(1), lengths, bad;
  if (isList) {
    lengths = i64(split);
    Value negative = sumOf(i64(less(lengths, zero)));
    bad = f.op("Or", {f.op("Less", {zero, negative}), differ(sumOf(lengths), total)});
    lengths = f.op("Max", {lengths, zero});
  } else {
    Value size = split ? scalar(split) : one;
    bad = less(size, one);
    size = f.op("Max", {size, one});
    Value begins = f.mul(f.countTo(f.div(f.add(total, f.sub(size, one)), size)), size);
    lengths = f.op("Min", {size, f.sub(total, begins)});
  }
  lengths = failIf(bad, lengths);
  Sequence s;
  s.element = onnx::elementOf(x);
  s.elements = list(x);
  if (axis > 0) {
    Value places =
        placesIn(lengths, f.countTo(total), productOf(sizesOf(x, 0, axis)), productOf(sizesOf(x, axis + 1, rank)));
    s.elements = f.op("ScatterElements", {s.elements, places, s.elements}, {f.integer("axis", 0)});
  }
  Value n = f.reshape(sizesOf(lengths, 0, 1), {});
  SmallVector<Value> columns;
  auto others = [&](int64_t begin, int64_t end) {
    if (begin < end) {
      columns.push_back(repeated(f.reshape(sizesOf(x, begin, end), {1, end - begin}), n, end - begin));
    }
  };
  others(0, axis);
  if (keepsAxis) {
    columns.push_back(f.reshape(lengths, {-1, 1}));
  }
  others(axis + 1, rank);
  s.columns = rank - !keepsAxis;
  s.shapes = columns.empty() ? repeated(number(0), n, 0) : f.op("Concat", columns, {f.integer("axis", 1)});
  return s;
}

Value SequenceFormula::joined(const Sequence &s, int64_t axis) {
  int64_t rank = s.rank();
  Value first = f.reshape(rowOf(s.shapes, number(0)), {rank});
  SmallVector<int64_t> others(rank, 1);
  others[axis] = 0;
  Value same = f.mul(f.abs(f.sub(s.shapes, first)), onnx::makeIntegers(f.b, f.loc, others));
  Value bad = orEmpty(s, f.op("Less", {number(0), f.reduce("ReduceSum", same, {0, 1}, /*keepdims=*/false)}));
  auto part = [&](int64_t begin, int64_t end) { return slice(first, number(begin), number(end)); };
  Value lengths = list(slice(s.shapes, number(axis), number(axis + 1), 1));
  Value total = sumOf(lengths);
  if (axis == 0) { // the elements stand in this order already
    Value shape = joinAll({list(failIf(bad, total)), part(1, rank)});
    return f.op("Reshape", {s.elements, shape}, {f.integer("allowzero", 1)});
  }
  Value outer = failIf(bad, productOf(part(0, axis)));
  Value places = placesIn(lengths, f.countTo(total), outer, productOf(part(axis + 1, rank)));
  Value all = rowOf(s.elements, places);
  Value shape = joinAll({part(0, axis), list(total), part(axis + 1, rank)});
  return f.op("Reshape", {all, shape}, {f.integer("allowzero", 1)});
}

Value SequenceFormula::stacked(const Sequence &s, int64_t axis) {
  int64_t rank = s.rank();
  Value first = f.reshape(rowOf(s.shapes, number(0)), {rank});
  Value differences = f.reduce("ReduceSum", f.abs(f.sub(s.shapes, first)), {0}, /*keepdims=*/false);
  Value bad = orEmpty(s, f.op("Less", {number(0), sumOf(differences)}));
  Value shape = joinAll({list(failIf(bad, count(s))), first});
  Value all = f.op("Reshape", {s.elements, shape}, {f.integer("allowzero", 1)});
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(1, rank + 1));
  order.insert(order.begin() + axis, 0);
  return f.transpose(all, order);
}

Sequence SequenceFormula::required(Sequence s) {
  if (s.present) {
    s = packed(s);
    s.shapes = failIf(f.op("Not", {s.present}), s.shapes);
    s.present = {};
  }
  return s;
}

} // namespace ingot::graph
