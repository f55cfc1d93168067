// Writes a transform over several axes as one of real numbers along the last of them and complex ones along the others.
// The inverse first completes the half of the spectrum that is left out: its bins are mirrored and conjugated.
#include "compiler/onnx/ops/Spectra.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/rewriting/Upgrade.h"
#define GET_OP_CLASSES
#include "compiler/onnx/ops/Spectra.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

/// Computes a * b, or a times the conjugate of b.
static LogicalResult product(Node &node, bool conjugate) {
  if (failed(node.needs(2))) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  SmallVector<Value> a = split(f, node.operand(0), -1, 2), b = split(f, node.operand(1), -1, 2);
  Value imaginary = conjugate ? f.op("Neg", {b[1]}) : b[1];
  Value first = f.sub(f.mul(a[0], b[0]), f.mul(a[1], imaginary));
  return give(node, concat(f, {first, f.add(f.mul(a[0], imaginary), f.mul(a[1], b[0]))}, -1));
}
LogicalResult ComplexMulOp::upgrade(Node &node) { return product(node, false); }
LogicalResult ComplexMulConjOp::upgrade(Node &node) { return product(node, true); }

static Value transform(Formula &f, Value x, int64_t axis, bool inverse, bool onesided) {
  return f.op("DFT", {x, Value(), makeInteger(f.b, f.loc, axis)},
              {f.integer("inverse", inverse), f.integer("onesided", onesided)});
}

/// Returns how many axes of a signal of `rank` axes are transformed; failure with a message.
static FailureOr<int64_t> signalAxes(const Node &node, int64_t others) {
  auto x = ranked(node.operand(0));
  if (failed(node.needs(1))) {
    return failure();
  }
  int64_t axes = node.integer("signal_ndim", 1);
  if (!x || axes < 1 || axes > x.getRank() - others || node.integer("normalized", 0) || !node.integer("onesided", 1)) {
    return node.error("needs a signal of 'signal_ndim' axes; 'normalized' is 0 and 'onesided' 1");
  }
  return axes;
}

LogicalResult RfftOp::upgrade(Node &node) {
  FailureOr<int64_t> axes = signalAxes(node, 0);
  if (failed(axes)) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  int64_t last = ranked(node.operand(0)).getRank() - 1;
  Value y = transform(f, unsqueeze(f, node.operand(0), {-1}), last, false, true);
  for (int64_t axis = last - 1; axis > last - *axes; --axis) {
    y = transform(f, y, axis, false, false);
  }
  return give(node, y);
}

/// Returns the bins of negative frequencies: those between the first and the last one, from behind, conjugated.
static Value mirrored(Formula &f, Value x, int64_t axis) {
  auto list = [&](int64_t n) { return makeIntegers(f.b, f.loc, {n}); };
  Value from = f.sub(sizeAlong(f, x, axis), list(2));
  Value back = f.op("Slice", {x, from, list(0), list(axis), list(-1)});
  SmallVector<Value> parts = split(f, back, -1, 2);
  return concat(f, {parts[0], f.op("Neg", {parts[1]})}, -1);
}

LogicalResult IrfftOp::upgrade(Node &node) {
  FailureOr<int64_t> axes = signalAxes(node, 1);
  if (failed(axes)) {
    return failure();
  }
  Formula f(node.builder, node.loc);
  int64_t last = ranked(node.operand(0)).getRank() - 2;
  Value x = node.operand(0);
  for (int64_t axis = last - *axes + 1; axis < last; ++axis) {
    x = transform(f, x, axis, true, false);
  }
  x = transform(f, concat(f, {x, mirrored(f, x, last)}, last), last, true, false);
  Value y = slice(f, x, last + 1, 0, 1);
  return give(node, f.op("Squeeze", {y, makeIntegers(f.b, f.loc, {last + 1})}));
}

void registerSpectra(OnnxDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "compiler/onnx/ops/Spectra.cpp.inc"
      >();
}

} // namespace ingot::onnx
