#include "compiler/lower/product/RecurrentCell.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

using onnx::Num;

SmallVector<RecurrentGates, 2> recurrentStages(onnx::RecurrenceOp op, int64_t gates) {
  if (op.getKind() == "GRU" && !op.getLinearBeforeReset()) {
    return {{0, 1}, {2}};
  }
  return {llvm::to_vector<4>(llvm::seq<int64_t>(0, gates))};
}

Num RecurrentCell::activate(unsigned i, Num x) {
  StringRef name = cast<StringAttr>(op.getActivations()[i]).getValue();
  double alpha = op.getAlphas()[i], beta = op.getBetas()[i];
  if (name == "sigmoid") {
    return sigmoid(x);
  }
  if (name == "tanh") {
    return tanh(x);
  }
  if (name == "relu") {
    return atLeast(x, 0.0);
  }
  if (name == "affine") {
    return x * alpha + beta;
  }
  if (name == "leakyrelu") {
    return select(x < 0.0, x * alpha, x);
  }
  if (name == "thresholdedrelu") {
    return select(x > alpha, x, x.constant(0));
  }
  if (name == "scaledtanh") {
    return tanh(x * beta) * alpha;
  }
  if (name == "hardsigmoid") {
    return atMost(atLeast(x * alpha + beta, 0.0), 1.0);
  }
  if (name == "elu") {
    return select(x < 0.0, (exp(x) - 1.0) * alpha, x);
  }
  return name == "softsign" ? x / (abs(x) + 1.0) : softplus(x);
}

Num RecurrentCell::clipped(Num x) {
  auto clip = op.getClip();
  return clip ? atMost(atLeast(x, -clip->convertToDouble()), clip->convertToDouble()) : x;
}

RecurrentCell::Nums RecurrentCell::gates(ArrayRef<int64_t> stage, ValueRange sums) {
  Nums x;
  for (auto [gate, sum] : llvm::zip_equal(stage, sums)) {
    bool late = op.getLinearBeforeReset() && gate == 2; // the input's part comes after the reset
    x.push_back(late ? num(sum) : num(sum) + num(source.input(gate)));
  }
  return x;
}

RecurrentCell::Lstm RecurrentCell::lstm(ArrayRef<Num> x, Num cell) {
  Num in = activate(0, clipped(peeped(x[0], 0, cell)));
  Num forget = op.getInputForget() ? 1.0 - in : activate(0, clipped(peeped(x[2], 2, cell)));
  Num next = forget * cell + in * activate(1, clipped(x[3]));
  Num out = activate(0, clipped(peeped(x[1], 1, next)));
  return {next, out * activate(2, next)};
}

Num RecurrentCell::gruLate(ArrayRef<Num> x, Num old) {
  Num update = activate(0, clipped(x[0])), reset = activate(0, clipped(x[1]));
  Num inner = source.bias ? x[2] + num(source.bias()) : x[2];
  Num candidate = activate(1, clipped(reset * inner + num(source.input(2))));
  return candidate + update * (old - candidate);
}

RecurrentCell::Gates RecurrentCell::gruGates(ArrayRef<Num> x, Num old) {
  Num update = activate(0, clipped(x[0]));
  return {update, activate(0, clipped(x[1])) * old};
}

Num RecurrentCell::gru(Num x, Num update, Num old) {
  Num candidate = activate(1, clipped(x));
  return candidate + update * (old - candidate);
}

RecurrentSequences::RecurrentSequences(Build &build, onnx::RecurrenceOp op)
    : build(build), w(build.w), op(op), steps(onnx::sizeOf(Group::typeOf(op.getP()), 0)),
      lengths(build.group.buffer(op.getSequenceLens())) {}

Value RecurrentSequences::Row::goesOn(Writer &w, Value next, Value old) const {
  return active ? arith::SelectOp::create(w.b, w.loc, active, next, old).getResult() : next;
}

RecurrentSequences::Row RecurrentSequences::at(Ix row, Ix step) {
  if (!lengths) {
    return {row, op.getReverse() ? Ix(steps - support::Size(1)) - step : step, {}};
  }
  Ix length = min(max(w.ix(w.load(lengths, row)), 0), steps);
  Value active = w.compare(arith::CmpIPredicate::slt, step, length);
  if (!op.getReverse()) {
    return {row, step, active};
  }
  Value back = w.value(length - Ix(1) - step);
  return {row, w.ix(arith::SelectOp::create(w.b, w.loc, active, back, w.value(step))), active};
}

Value RecurrentSequences::isEmpty(Ix row) {
  if (lengths) {
    return w.compare(arith::CmpIPredicate::eq, w.ix(w.load(lengths, row)), 0);
  }
  return steps.atLeast(1, support::Facts()) ? Value() : w.compare(arith::CmpIPredicate::eq, steps, 0);
}

void RecurrentSequences::check(Ix row) {
  Value length = w.load(lengths, row), most = w.integer(steps, length.getType());
  build.failIf(w.compare(arith::CmpIPredicate::ugt, length, most)); // or negative
}

Buffer resultFor(Group &group, Value v) {
  auto yield = cast<plan::YieldOp>(group.kernel.getBody().front().getTerminator());
  for (auto [i, yielded] : llvm::enumerate(yield.getValues())) {
    if (yielded == v) {
      return group.result(i);
    }
  }
  return {};
}

} // namespace ingot::lower
