// GELU and hard-swish as exporters write them: products, in any order, of x, a constant and a gate made from x.
//   GELU        x * 0.5 * (1 + erf(x / sqrt(2))), or times another constant: the 0.5 may be in the weights behind
//   GELU, tanh  x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
//   hard-swish  x * clip(x + 3, 0, 6) / 6
// Elementwise ops are one loop either way; the named op saves the division that is in them.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/ops/Unary.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Returns whether a constant stands for `expected`. Exporters write constants with few digits, hence the tolerance of
/// 1e-5.
bool isAbout(double value, double expected) { return std::abs(value - expected) <= 1e-5 * std::abs(expected); }

/// A value written as a constant times other values.
struct Factors {
  double number = 1.0;
  SmallVector<Value> others;

  /// Takes `v` apart, and products inside of it that nothing else reads. `top`: `v` itself is taken apart whoever reads
  /// it.
  explicit Factors(Value v, bool top = true) { add(v, top); }

private:
  void add(Value v, bool whole) {
    if (auto number = numberOf(v)) {
      this->number *= *number;
      return;
    }
    Operation *op = v.getDefiningOp();
    bool product = isa_and_nonnull<onnx::MulOp>(op),
         quotient = isa_and_nonnull<onnx::DivOp>(op) && numberOf(op->getOperand(1));
    if ((!whole && !v.hasOneUse()) || (!product && !quotient) || others.size() > 4) {
      others.push_back(v);
      return;
    }
    add(op->getOperand(0), false);
    if (product) {
      add(op->getOperand(1), false);
    } else {
      number /= *numberOf(op->getOperand(1));
    }
  }
};

/// Returns whether `v` is x times about `number`.
bool isMultiple(Value v, Value x, double number) {
  Factors f(v);
  return f.others.size() == 1 && f.others[0] == x && isAbout(f.number, number);
}

/// Returns x where `v` is the sum of x and a constant of about `number`; null where it is none.
Value besideNumber(Value v, double number) {
  auto sum = onlyFor<onnx::AddOp>(v);
  for (unsigned i = 0; sum && i < 2; ++i) {
    auto constant = numberOf(sum->getOperand(i));
    if (constant && isAbout(*constant, number)) {
      return sum->getOperand(1 - i);
    }
  }
  return {};
}

/// Returns whether `v` is x to the power of 3. A cube that is written as x * x * x has been taken apart by Factors.
bool isCube(Value v, Value x) {
  if (auto power = v.getDefiningOp<onnx::PowOp>()) {
    return power.getA() == x && isNumber(power.getB(), 3.0);
  }
  return false;
}

/// Returns whether `gate` is 1 + erf(x / sqrt(2)), where 0.70710678 is 1 / sqrt(2).
bool isErfGate(Value gate, Value x) {
  Value inner = besideNumber(gate, 1.0);
  auto erf = inner ? onlyFor<onnx::ErfOp>(inner) : onnx::ErfOp();
  return erf && isMultiple(erf.getX(), x, 0.70710678);
}

/// Returns whether `gate` is 1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)), where 0.79788456 is sqrt(2 / pi).
bool isTanhGate(Value gate, Value x) {
  Value inner = besideNumber(gate, 1.0);
  auto tanh = inner ? onlyFor<onnx::TanhOp>(inner) : onnx::TanhOp();
  if (!tanh) {
    return false;
  }
  Factors scaled(tanh.getX());
  auto sum = scaled.others.size() == 1 ? onlyFor<onnx::AddOp>(scaled.others[0]) : onnx::AddOp();
  if (!sum || !isAbout(scaled.number, 0.79788456) || (sum.getA() != x && sum.getB() != x)) {
    return false;
  }
  Factors cubic(sum.getA() == x ? sum.getB() : sum.getA());
  bool cube = (cubic.others.size() == 1 && isCube(cubic.others[0], x)) ||
              (cubic.others.size() == 3 && llvm::all_of(cubic.others, [&](Value v) { return v == x; }));
  return cube && isAbout(cubic.number, 0.044715);
}

/// Returns whether `gate` is clip(x + 3, 0, 6).
bool isClipGate(Value gate, Value x) {
  auto clip = onlyFor<onnx::ClipOp>(gate);
  return clip && onnx::present(clip.getMin()) && onnx::present(clip.getMax()) && isNumber(clip.getMin(), 0.0) &&
         isNumber(clip.getMax(), 6.0) && besideNumber(clip.getX(), 3.0) == x;
}

/// Makes the named op that `number` * `x` * `gate` is; null if it is none. GELU is also made for another constant than
/// 0.5, followed by a product with twice that constant, but only where `whole` says that no multiplication by a number
/// follows: that one may bring the missing 0.5.
Value activation(PatternRewriter &rewriter, Location loc, Value x, Value gate, double number, bool whole) {
  bool half = isAbout(number, 0.5);
  if ((half || whole) && isErfGate(gate, x)) {
    Value y = onnx::make<onnx::GeluOp>(rewriter, loc, {x});
    onnx::Formula f(rewriter, loc);
    return half ? y : f.mul(y, f.number(2 * number, y));
  }
  if (isAbout(number, 0.5) && isTanhGate(gate, x)) {
    return onnx::make<onnx::GeluOp>(rewriter, loc, {x},
                                    {rewriter.getNamedAttr("approximate", rewriter.getStringAttr("tanh"))});
  }
  if (isAbout(number, 1.0 / 6) && isClipGate(gate, x)) {
    return onnx::make<onnx::HardSwishOp>(rewriter, loc, {x});
  }
  return {};
}

/// Returns whether no multiplication or division by a number follows `product`. One that follows would become a factor
/// of the same activation when its own turn comes.
bool isWhole(Operation *product) {
  return llvm::none_of(product->getUsers(), [](Operation *user) {
    return isa<onnx::MulOp, onnx::DivOp>(user) && llvm::any_of(user->getOperands(), numberOf);
  });
}

/// Replaces a product or quotient with two factors besides its constants by the activation that they are, tried with
/// each of the two as x.
template <typename Op> struct Named : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Factors f(op->getResult(0));
    if (f.others.size() != 2 || !onnx::computedIn(onnx::elementOf(op->getResult(0))).isF32()) {
      return failure();
    }
    for (unsigned i = 0; i < 2; ++i) {
      Value x = f.others[i];
      if (x.getType() != op->getResult(0).getType()) {
        continue;
      }
      if (Value y = activation(rewriter, op.getLoc(), x, f.others[1 - i], f.number, isWhole(op))) {
        rewriter.replaceOp(op, y);
        return success();
      }
    }
    return failure();
  }
};

} // namespace

void populateActivation(RewritePatternSet &patterns) {
  patterns.addWithLabel<Named<onnx::MulOp>, Named<onnx::DivOp>>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
