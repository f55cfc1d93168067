#include "compiler/lower/conv/PoolWindow.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/ops/Pool.h"
#include "compiler/onnx/ops/Unary.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ingot::lower {

static Ix ceilDiv(Ix a, int64_t b) { return floorDiv(max(a, 0) + (b - 1), b); }

std::pair<Ix, Ix> PoolAxis::inside(Ix i) const {
  auto [low, high] = interior();
  Ix start = i * step - before;
  bool wholeBefore = before.is(0), wholeAfter = low.is(0) && same(high, out);
  Ix first = wholeBefore ? Ix(0) : ceilDiv(Ix(0) - start, tapStep);
  Ix last = wholeAfter ? Ix(taps) : min(taps, ceilDiv(in - start, tapStep));
  return {i.known() ? min(first, last) : first, last};
}

Ix PoolAxis::padded(Ix i) const {
  auto of = [&](Ix output) { return min(taps, ceilDiv(in + after + before - output * step, tapStep)); };
  bool all = out.is(0) || same(of(out - 1), taps);
  return all ? Ix(taps) : of(i);
}

std::pair<Ix, Ix> PoolAxis::interior() const {
  Ix first = min(ceilDiv(before, step), out), reach = (taps - 1) * tapStep;
  Ix space = in - 1 - reach + before; // the last output with all taps inside begins here, or before
  Ix last = min(out, floorDiv(max(space + step, 0), step));
  return {first, max(first, last)};
}

static Pool::Kind kindOf(Operation *op) {
  if (isa<onnx::MaxPoolOp, onnx::GlobalMaxPoolOp>(op)) {
    return Pool::Max;
  }
  if (auto lp = dyn_cast<onnx::LpPoolOp>(op)) {
    return lp.getP() == 1 ? Pool::Sum : Pool::SumOfSquares;
  }
  return Pool::Average;
}

static bool flag(Operation *op, StringRef name) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr && attr.getInt();
}

Pool poolOf(Operation *op) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  Pool p{kindOf(op),
         flag(op, "count_include_pad"),
         x.getElementType().isUnsignedInteger(),
         flag(op, "storage_order"),
         x.getRank(),
         {}};
  support::Sizes sizes = onnx::sizesOf(x);
  ArrayRef<support::Size> spatial = ArrayRef<support::Size>(sizes).drop_front(2);
  if (!op->hasAttr("kernel_shape")) {
    return p; // the op is a global pool
  }
  onnx::Window window = *onnx::windowOf(op, spatial, *onnx::kernelOf(op, Value()));
  for (size_t i = 0; i < spatial.size(); ++i) {
    p.axes[3 - spatial.size() + i] = {spatial[i],          window.out[i],    window.kernel[i], window.strides[i],
                                      window.dilations[i], window.before[i], window.after[i]};
  }
  return p;
}

Ix PoolRow::taps(const Pool &pool) const {
  return pool.countPadding ? padded : (slices.second - slices.first) * (rows.second - rows.first);
}

Point PoolRow::pointAt(const Pool &pool, Ix column, int64_t lanes, Value mask) const {
  std::array<Ix, 3> spatial{d, h, column};
  Point point{{n, c}, lanes, mask};
  point.at.append(spatial.begin() + (5 - pool.rank), spatial.end());
  return point;
}

SmallVector<Value> PoolRow::fold(Writer &w, Ix at, ValueRange acc,
                                 llvm::function_ref<SmallVector<Value>(Ix, ValueRange)> columns) const {
  return w.loop(slices.first, slices.second, 1, acc, [&](Ix slice, ValueRange a) {
    return w.loop(rows.first, rows.second, 1, a,
                  [&](Ix row, ValueRange b) { return columns(at + slice * tapDistance[0] + row * tapDistance[1], b); });
  });
}

static Value select(Writer &w, Value condition, Value a, Value b) {
  return arith::SelectOp::create(w.b, w.loc, condition, a, b);
}

Value poolStart(Writer &w, const Pool &pool, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (pool.kind != Pool::Max) {
    return w.constant(0, type);
  }
  if (isa<FloatType>(element)) {
    return w.constant(-std::numeric_limits<double>::infinity(), type);
  }
  return w.constant(pool.isUnsigned ? 0 : -128, type);
}

static Value maximum(Writer &w, const Pool &pool, Value a, Value b) {
  if (isa<FloatType>(getElementTypeOrSelf(a.getType()))) {
    // This becomes one instruction, unlike maxnum and maximum.
    return select(w, arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, a, b), a, b);
  }
  auto predicate = pool.isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  return select(w, w.compare(predicate, a, b), a, b);
}

Value poolJoin(Writer &w, const Pool &pool, Value a, Value b) {
  return pool.kind == Pool::Max ? maximum(w, pool, a, b) : arith::AddFOp::create(w.b, w.loc, a, b).getResult();
}

Value poolFold(Writer &w, const Pool &pool, Value acc, Value x) {
  switch (pool.kind) {
  case Pool::Max:
    return maximum(w, pool, x, acc);
  case Pool::Sum:
    return arith::AddFOp::create(w.b, w.loc, acc, math::AbsFOp::create(w.b, w.loc, x));
  case Pool::SumOfSquares:
    return w.fma(x, x, acc);
  case Pool::Average:
    break;
  }
  return arith::AddFOp::create(w.b, w.loc, acc, x);
}

Value poolFinish(Writer &w, const Pool &pool, Value acc, Ix count) {
  if (pool.kind == Pool::SumOfSquares) {
    return math::SqrtOp::create(w.b, w.loc, acc);
  }
  if (pool.kind != Pool::Average) {
    return acc;
  }
  auto vector = dyn_cast<VectorType>(acc.getType());
  Type element = getElementTypeOrSelf(acc.getType());
  Value divisor;
  if (count.known()) {
    divisor = w.constant(count.number(), acc.getType());
  } else {
    Value scalar = arith::SIToFPOp::create(w.b, w.loc, element, w.integer(count, w.b.getI32Type()));
    divisor = w.splat(scalar, vector ? vector.getNumElements() : 1);
  }
  return arith::DivFOp::create(w.b, w.loc, acc, divisor);
}

} // namespace ingot::lower
