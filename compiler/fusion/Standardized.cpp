// Layer, group and RMS normalisation as exporters write them,
//   d = x - mean(x);  y = d / sqrt(mean(d * d) + epsilon)
// with the square as Pow or Mul, the root as Sqrt, Pow or a reciprocal, and constant factors on the way, become
// Standardize: one kernel instead of three, with statistics that stay in registers. Scale and bias stay elementwise
// ops: they are its epilogue. Without the mean taken off before it is RMS normalisation.
#include "compiler/fusion/Match.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Normalization.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/ops/Unary.h"

using namespace mlir;

namespace ingot::fusion {
namespace {

/// The mean over trailing axes, kept as axes of size 1: the op, if `v` is one.
onnx::ReduceOp trailingMean(Value v) {
  auto op = v.getDefiningOp<onnx::ReduceOp>();
  auto type = op ? onnx::ranked(op.getData()) : RankedTensorType();
  if (!type || op.getKind() != "Mean" || !op.getKeepdims()) {
    return {};
  }
  int64_t first = type.getRank() - static_cast<int64_t>(op.getAxes().size());
  return llvm::equal(op.getAxes(), llvm::seq<int64_t>(first, type.getRank())) ? op : onnx::ReduceOp();
}

/// What `v` is the square of.
Value rootOfSquare(Value v) {
  if (auto power = v.getDefiningOp<onnx::PowOp>(); power && isNumber(power.getB(), 2.0)) {
    return power.getA();
  }
  auto product = v.getDefiningOp<onnx::MulOp>();
  return product && product.getA() == product.getB() ? product.getA() : Value();
}

/// What `v` is the square root of.
Value underRoot(Value v) {
  if (auto root = v.getDefiningOp<onnx::SqrtOp>()) {
    return root.getX();
  }
  auto power = v.getDefiningOp<onnx::PowOp>();
  return power && isNumber(power.getB(), 0.5) ? power.getA() : Value();
}

/// What `v` is the reciprocal of the square root of.
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

/// The variance (or mean of squares) and the epsilon added to it.
struct Spread {
  onnx::ReduceOp mean;
  Value squared;
  double epsilon = 0;
};

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

/// Standardize for the values that `spread` is of, and the factor besides them in `numerator`, which may be null.
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

struct Quotient : OpRewritePattern<onnx::DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::DivOp op, PatternRewriter &rewriter) const override {
    return replace(rewriter, op, op.getA(), underRoot(op.getB()));
  }
};

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
