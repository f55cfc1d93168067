// Recognises layer, group and RMS normalisation as exporters write them,
//   d = x - mean(x);  y = d / sqrt(mean(d * d) + epsilon)
// with the square as Pow or Mul, the root as Sqrt, Pow or a reciprocal, and constant factors on the way. They become
// Standardize: one kernel instead of three, whose statistics stay in registers. Scale and bias stay elementwise ops,
// because they are its epilogue. It is RMS normalisation where no mean is subtracted first.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Normalization.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/ops/Unary.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// Returns the op that makes `v` if it is a mean over trailing axes, which are kept as axes of size 1; null if it is
/// not.
onnx::ReduceOp trailingMean(Value v) {
  auto op = v.getDefiningOp<onnx::ReduceOp>();
  auto type = op ? onnx::ranked(op.getData()) : RankedTensorType();
  if (!type || op.getKind() != "Mean" || !op.getKeepdims()) {
    return {};
  }
  int64_t first = type.getRank() - static_cast<int64_t>(op.getAxes().size());
  return llvm::equal(op.getAxes(), llvm::seq<int64_t>(first, type.getRank())) ? op : onnx::ReduceOp();
}

/// Returns the value that `v` is the square of, or null.
Value rootOfSquare(Value v) {
  if (auto power = v.getDefiningOp<onnx::PowOp>(); power && isNumber(power.getB(), 2.0)) {
    return power.getA();
  }
  auto product = v.getDefiningOp<onnx::MulOp>();
  return product && product.getA() == product.getB() ? product.getA() : Value();
}

/// Returns the value that `v` is the square root of, or null.
Value underRoot(Value v) {
  if (auto root = v.getDefiningOp<onnx::SqrtOp>()) {
    return root.getX();
  }
  auto power = v.getDefiningOp<onnx::PowOp>();
  return power && isNumber(power.getB(), 0.5) ? power.getA() : Value();
}

/// Returns the value of whose square root `v` is the reciprocal, or null.
Value underReciprocalRoot(Value v) {
  if (auto one = v.getDefiningOp<onnx::ReciprocalOp>()) {
    return underRoot(one.getX());
  }
  if (auto quotient = v.getDefiningOp<onnx::DivOp>(); quotient && isNumber(quotient.getA(), 1.0)) {
    return underRoot(quotient.getB());
  }
  auto power = v.getDefiningOp<onnx::PowOp>();
  return power && isNumber(power.getB(), -0.5) ? power.getA() : Value();
}

/// What stands under the root: a variance, or a mean of squares, and the epsilon that is added to it.
struct Spread {
  /// The mean of the squares.
  onnx::ReduceOp mean;
  /// The value whose squares these are.
  Value squared;
  double epsilon = 0;
};

/// Returns the parts of `underRoot` if it is such a sum.
std::optional<Spread> spreadOf(Value underRoot) {
  auto sum = underRoot ? underRoot.getDefiningOp<onnx::AddOp>() : onnx::AddOp();
  if (!sum) {
    return std::nullopt;
  }
  bool second = numberOf(sum.getA()).has_value();
  auto epsilon = numberOf(second ? sum.getA() : sum.getB());
  onnx::ReduceOp mean = trailingMean(second ? sum.getB() : sum.getA());
  Value squared = mean ? rootOfSquare(mean.getData()) : Value();
  if (!epsilon || !squared || !onnx::elementOf(squared).isF32()) {
    return std::nullopt;
  }
  return Spread{mean, squared, *epsilon};
}

/// Makes Standardize of the values that `spread` is computed from. `numerator` must be these values, or their product
/// with a constant. Returns the new value and that constant, which is null if there is none.
std::optional<std::pair<Value, Value>> standardized(PatternRewriter &rewriter, Operation *last, Value numerator,
                                                    Spread spread) {
  Value factor;
  if (numerator != spread.squared) {
    auto product = onlyFor<onnx::MulOp>(numerator);
    if (!product || (product.getA() != spread.squared && product.getB() != spread.squared)) {
      return std::nullopt;
    }
    factor = product.getA() == spread.squared ? product.getB() : product.getA();
    if (!onnx::constantOf(factor) || numerator.getType() != spread.squared.getType()) {
      return std::nullopt;
    }
  }
  Value x = spread.squared;
  bool centred = false;
  if (auto difference = x.getDefiningOp<onnx::SubOp>()) {
    auto mean = trailingMean(difference.getB());
    if (mean && mean.getData() == difference.getA() && mean.getAxes() == spread.mean.getAxes()) {
      x = difference.getA();
      centred = true;
    }
  }
  SmallVector<NamedAttribute> attributes = {
      rewriter.getNamedAttr("axes", rewriter.getDenseI64ArrayAttr(spread.mean.getAxes())),
      rewriter.getNamedAttr("epsilon", rewriter.getF32FloatAttr(static_cast<float>(spread.epsilon)))};
  if (!centred) {
    attributes.push_back(rewriter.getNamedAttr("uncentered", rewriter.getUnitAttr()));
  }
  Location loc = jointLoc(rewriter, {spread.mean, last});
  return std::pair{onnx::make<onnx::StandardizeOp>(rewriter, loc, {x}, attributes), factor};
}

/// Replaces `op`, which is `numerator` divided by the square root of `underRoot`, if it is a normalisation.
LogicalResult replace(PatternRewriter &rewriter, Operation *op, Value numerator, Value underRoot) {
  auto spread = spreadOf(underRoot);
  auto made = spread ? standardized(rewriter, op, numerator, *spread) : std::nullopt;
  if (!made) {
    return failure();
  }
  auto [y, factor] = *made;
  rewriter.replaceOp(op, factor ? onnx::make<onnx::MulOp>(rewriter, op->getLoc(), {y, factor}) : y);
  return success();
}

/// Matches d / sqrt(...).
struct Quotient : OpRewritePattern<onnx::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::DivOp op, PatternRewriter &rewriter) const override {
    return replace(rewriter, op, op.getA(), underRoot(op.getB()));
  }
};

/// Matches d * (1 / sqrt(...)), with either operand first.
struct Product : OpRewritePattern<onnx::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MulOp op, PatternRewriter &rewriter) const override {
    return success(succeeded(replace(rewriter, op, op.getA(), underReciprocalRoot(op.getB()))) ||
                   succeeded(replace(rewriter, op, op.getB(), underReciprocalRoot(op.getA()))));
  }
};

} // namespace

void populateStandardized(RewritePatternSet &patterns) {
  patterns.addWithLabel<Quotient, Product>({roundsOtherwise}, patterns.getContext());
}

} // namespace ingot::fusion
