// Writes DynamicTimeWarping. The cost of a way to a place is the place's own cost and the least cost of its three
// neighbours in front: above and to the left (0), above (1), to the left (2). Places of one diagonal do not need each
// other, so a loop goes over diagonals and keeps from which neighbour each place was reached; a second loop follows
// these back.
#include "compiler/onnx/ops/Alignment.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#include "runtime_support/include/ingot.h"
#include <limits>
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Alignment.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

LogicalResult DynamicTimeWarpingOp::inferTypes(SmallVectorImpl<Type> &types) {
  auto costs = ranked(getCosts());
  if (costs && costs.getRank() != 2 && (costs.getRank() != 3 || failed(require(*this, sizeOf(costs, 0), 1)))) {
    return emitOpError("costs of type ") << costs << ", expected a matrix";
  }
  if (costs) { // a path has at least one place
    Sizes sizes = sizesOf(costs);
    for (const Size &n : ArrayRef(sizes).take_back(2)) {
      if (!n.isUnknown() && failed(require(*this, max(n, 1), n))) {
        return emitOpError("costs of type ") << costs << " have no place";
      }
    }
  }
  types.push_back(tensorOf({2, ShapedType::kDynamic}, IntegerType::get(getContext(), 32)));
  return success();
}

namespace {
/// The rewrite of one node. Rows and columns are counted from 1; row and column 0 are the border.
struct Warping {
  Formula f;
  Value costs; ///< [rows, columns]
  Size rows, columns;

  Value no(int64_t n) { return f.scalar(n); }
  Value list(int64_t n) { return makeIntegers(f.b, f.loc, {n}); }
  Value less(Value a, Value b) { return f.op("Less", {a, b}); }
  Value both(Value a, Value b) { return f.op("And", {a, b}); }
  Value where(Value c, Value a, Value b) { return f.op("Where", {c, a, b}); }
  Size steps() { return rows + columns - Size(1); }

  /// Returns from which neighbour each place was reached, [diagonals, rows]: that in row i and column j is [i + j - 2,
  /// i - 1].
  Value traces() {
    Value far = f.number(std::numeric_limits<double>::infinity(), costs);
    Value row = f.add(f.countTo(f.scalar(rows)), no(1)), end = f.scalar(columns);
    Value nowhere = f.op("Expand", {far, makeSizes(f.b, f.loc, {rows + Size(1)})});
    Value start = concat(
        f, {f.reshape(f.number(0, costs), {1}), slice(f, nowhere, 0, list(1), makeSizes(f.b, f.loc, {rows + Size(1)}))},
        0);
    LoopOp loop = makeLoop(f.b, f.loc, f.scalar(steps()), {start, nowhere}, {f.b.getI64Type()},
                           [&](Value at, ValueRange before) { return step(at, before[0], before[1], row, end, far); });
    return loop.getResult(2);
  }
  /// Computes one diagonal from the two before it. Diagonals have an element for the border, which is their first; of
  /// the diagonal that starts the matrix there is one place that costs nothing.
  SmallVector<Value> step(Value at, Value second, Value first, Value row, Value end, Value far) {
    Value all = makeSizes(f.b, f.loc, {rows + Size(1)}), own = makeSizes(f.b, f.loc, {rows});
    auto above = [&](Value v) { return slice(f, v, 0, list(0), own); };
    Value diagonal = above(second), up = above(first), left = slice(f, first, 0, list(1), all);
    Value isDiagonal = both(less(diagonal, up), less(diagonal, left)), isUp = both(less(up, diagonal), less(up, left));
    Value column = f.sub(f.add(at, no(2)), row);
    Value inside = both(f.op("Greater", {column, no(0)}), f.op("LessOrEqual", {column, end}));
    Value place = f.sub(f.op("Min", {f.op("Max", {column, no(1)}), end}), no(1));
    Value cost =
        f.reshapeTo(f.op("GatherElements", {costs, f.reshapeTo(place, {rows, 1})}, {f.integer("axis", 1)}), {rows});
    Value reached = f.add(cost, where(isDiagonal, diagonal, where(isUp, up, left)));
    Value next = concat(f, {f.reshape(far, {1}), where(inside, reached, far)}, 0);
    return {first, next, where(isDiagonal, no(0), where(isUp, no(1), no(2)))};
  }

  /// Returns rows, columns, and whether the way has not ended yet, from the last place back, [steps, 3].
  Value wayBack(Value traces) {
    LoopOp loop = makeLoop(f.b, f.loc, f.scalar(steps()), {f.scalar(rows), f.scalar(columns)}, {f.b.getI64Type()},
                           [&](Value, ValueRange place) { return follow(traces, place[0], place[1]); });
    return loop.getResult(2);
  }
  SmallVector<Value> follow(Value traces, Value row, Value column) {
    Value one = no(1), zero = no(0);
    Value goesOn = f.op("Or", {f.op("Greater", {row, zero}), f.op("Greater", {column, zero})});
    Value diagonal = f.op("Max", {f.sub(f.add(row, column), no(2)), zero}), at = f.op("Max", {f.sub(row, one), zero});
    Value trace = f.op("Gather", {traces, diagonal}, {f.integer("axis", 0)});
    trace = f.op("Gather", {trace, at}, {f.integer("axis", 0)});
    trace = where(f.op("Equal", {row, zero}), no(2), where(f.op("Equal", {column, zero}), one, trace));
    auto moved = [&](Value v, int64_t stays) {
      Value moves = both(goesOn, f.op("Not", {f.op("Equal", {trace, no(stays)})}));
      return f.sub(v, integers(f, moves));
    };
    Value told = concat(
        f, {f.reshape(f.sub(row, one), {1}), f.reshape(f.sub(column, one), {1}), f.reshape(integers(f, goesOn), {1})},
        0);
    return {moved(row, 2), moved(column, 1), told};
  }
};
} // namespace

LogicalResult DynamicTimeWarpingOp::decompose(PatternRewriter &rewriter) {
  if (!isSized(getCosts())) {
    return failure();
  }
  Sizes sizes = sizesOf(ranked(getCosts()));
  Formula f(rewriter, getLoc());
  Warping w{f, f.reshapeTo(getCosts(), {sizes.end()[-2], sizes.back()}), sizes.end()[-2], sizes.back()};
  Value way = w.wayBack(w.traces());
  Value back = f.op("Slice", {way, w.list(-1), w.list(std::numeric_limits<int64_t>::min()), w.list(0), w.list(-1)});
  Value isOn = f.op("Equal", {f.reshapeTo(slice(f, back, 1, 2, 3), {w.steps()}), w.no(1)});
  Value path = f.op("Compress", {slice(f, back, 1, 0, 2), isOn}, {f.integer("axis", 0)});
  rewriter.replaceOp(*this, f.cast(f.transpose(path, {1, 0}), rewriter.getI32Type(), INGOT_INT32));
  return success();
}

void registerAlignment(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Alignment.cpp.inc"
      >();
}

} // namespace ingot::onnx
