// Bounds a number by what made it: sums are of int32, bytes have 256 values, and factors are constants. That is enough
// for ops behind products of integers; no bound of anything else is known.
#include "compiler/integer/Bounds.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/ops/Unary.h"
#include "compiler/onnx/quantization/Quantization.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::integer {

static constexpr double unknown = std::numeric_limits<double>::infinity();

/// Returns the largest magnitude of a constant, or the least.
template <typename Better> static double extremeOf(Value v, Better better) {
  auto numbers = onnx::floatsOf(v);
  if (!numbers || numbers->empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double most = std::abs(numbers->front());
  for (double number : *numbers) {
    most = better(most, std::abs(number));
  }
  return most;
}

static double leastOf(Value v) {
  return extremeOf(v, [](double a, double b) { return a <= b ? a : b; });
}

static constexpr int mostOperators = 16; ///< a bound is sought behind this many operators

/// Returns a bound of a tensor's magnitudes; infinity after `depth` operators.
static double boundOf(Value v, int depth) {
  if (!v || !onnx::present(v)) {
    return 0;
  }
  if (onnx::constantOf(v)) {
    return extremeOf(v, [](double a, double b) { return b <= a ? a : b; }); // NaN stays
  }
  auto curve = v.getDefiningOp<onnx::Curve>();
  return curve && depth ? curve.magnitude([&](unsigned i) { return boundOf(curve->getOperand(i), depth - 1); })
                        : unknown;
}

static void markBounded(func::FuncOp function) {
  constexpr double limit = 1 << 30;
  function.walk([&](onnx::QuantizeOp op) {
    if (boundOf(op.getX(), mostOperators) / leastOf(op.getScale()) < limit) { // this is false for NaN
      op.setBounded(true);
    }
  });
}

/// Whether a value is made of sums of int32, which constants are multiplied with and added to.
static bool isOfSums(Value v) {
  Operation *op = v.getDefiningOp();
  while (isa_and_nonnull<onnx::MulOp, onnx::AddOp, onnx::SubOp>(op) && onnx::constantOf(op->getOperand(1))) {
    op = op->getOperand(0).getDefiningOp();
  }
  return isa_and_nonnull<onnx::CastOp, onnx::DequantizeOp>(op) && onnx::isInt(onnx::elementOf(op->getOperand(0)), 32);
}

/// Marks the ops that make `v`, which may be off by `allowed`.
static void markOnlyBytes(Value v, double allowed) {
  Operation *op = v.hasOneUse() ? v.getDefiningOp() : nullptr;
  auto mark = [&](Operation *function, double error) {
    if (error <= allowed && isOfSums(function->getOperand(0))) {
      function->setDiscardableAttr(
          onnx::onlyBytesName,
          Builder(op->getContext()).getF64FloatAttr(boundOf(function->getOperand(0), mostOperators)));
    }
  };
  auto curve = dyn_cast_or_null<onnx::Curve>(op);
  if (std::optional<double> error = curve ? curve.errorOfIntegers() : std::nullopt) {
    mark(op, *error);
  } else if (isa_and_nonnull<onnx::MulOp>(op)) {
    for (unsigned i = 0; i < 2; ++i) {
      Value factor = op->getOperand(i), other = op->getOperand(1 - i);
      auto sigmoid = factor.getDefiningOp<onnx::SigmoidOp>();
      if (sigmoid && sigmoid->hasOneUse() && sigmoid.getX() == other) {
        mark(sigmoid, onnx::errorForBytes);
      } else {
        markOnlyBytes(factor, allowed / boundOf(other, mostOperators));
      }
    }
  }
}

static void markOnlyBytes(func::FuncOp function) {
  constexpr double partOfStep = 1.0 / 16;
  function.walk([](onnx::QuantizeOp op) {
    Type element = onnx::elementOf(op.getY());
    if (element.isIntOrIndex() && element.getIntOrFloatBitWidth() <= 8) {
      markOnlyBytes(op.getX(), partOfStep * leastOf(op.getScale()));
    }
  });
}

void markBounds(func::FuncOp function, bool strict) {
  markBounded(function);
  if (!strict) {
    markOnlyBytes(function);
  }
}

} // namespace ingot::integer
