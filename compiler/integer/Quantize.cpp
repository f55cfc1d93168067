// Three steps:
//
//  - movements of a dequantized tensor (Reshape, Transpose, Concat, MaxPool ...) move the integers instead, so that
//    what dequantizes stands before what computes;
//  - a product or convolution of dequantized tensors is one of integers, times the product of the scales; of few rows
//  of
//    floats by dequantized weights, one by weights of few bits (FewBits.cpp);
//  - a factor in front of Quantize and the scale of Quantize are one factor, bounds that saturation has anyway are
//    gone, and what is quantized as it was is not touched.
//
// What is behind sums of integers is not larger than these and their factors allow (Bounds.cpp).
//
// No machine has a say in them. Products of floats by dequantized weights that only some machines gain by are left to
// useBytes, when it is known who computes them.
//
// The second and the third may round otherwise than the model says, by a step of the result at most.
#include "compiler/integer/Quantize.h"
#include "compiler/integer/FewBits.h"
#include "compiler/integer/Recurrent.h"
#include "compiler/integer/SplitFloats.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/EvaluateElementwise.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "compiler/onnx/formats/Products.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ops/MatMul.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/ops/Unary.h"
#include "compiler/onnx/quantization/Quantization.h"
#include "compiler/onnx/rewriting/Rewrite.h"
#include <cmath>

using namespace mlir;

namespace ingot::integer {
namespace {

using onnx::DequantizeOp;
using onnx::Formula;
using onnx::QuantizeOp;

bool isByte(Value v) {
  Type element = onnx::elementOf(v);
  return onnx::isInt(element, 8) || onnx::isUint(element, 8);
}

/// Whether a scale or zero point is one value for all of a tensor.
bool isScalar(Value v) {
  auto type = onnx::ranked(v);
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

/// Whether a scale or zero point differs at most along `axis` of a tensor of `rank` axes.
bool isAlongOnly(Value v, int64_t axis, int64_t rank) {
  auto type = onnx::ranked(v);
  if (!type || !type.hasStaticShape()) {
    return false;
  }
  int64_t shift = rank - type.getRank();
  return llvm::all_of(llvm::enumerate(type.getShape()),
                      [&](auto dim) { return dim.value() == 1 || static_cast<int64_t>(dim.index()) + shift == axis; });
}

/// Such a number as a list, or as a scalar where it is the same for all.
Value listOf(Formula &f, Value v) {
  int64_t count = onnx::ranked(v).getNumElements();
  return count == 1 ? onnx::shaped(f, v, {}) : onnx::shaped(f, v, {count});
}

bool sameConstant(Value a, Value b) {
  auto x = onnx::splatNumber(a), y = onnx::splatNumber(b);
  return x && y && *x == *y;
}

/// What is quantized again as it was.
struct Unchanged : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    auto from = op.getX().getDefiningOp<DequantizeOp>();
    if (!from || from.getX().getType() != op.getY().getType() || !sameConstant(from.getScale(), op.getScale()) ||
        !sameConstant(from.getZero(), op.getZero())) {
      return failure();
    }
    rewriter.replaceOp(op, from.getX());
    return success();
  }
};

/// Dequantize behind a movement of its operand.
struct MovedBehind : RewritePattern {
  MovedBehind(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<onnx::Mover, onnx::View, onnx::Join>(op) || op->getNumResults() != 1 || !op->getNumOperands() ||
        !isa<RankedTensorType>(op->getResult(0).getType())) {
      return failure();
    }
    unsigned parts = isa<onnx::Join>(op) ? op->getNumOperands() : 1;
    auto first = op->getOperand(0).getDefiningOp<DequantizeOp>();
    for (Value v : op->getOperands().take_front(parts)) {
      auto from = v.getDefiningOp<DequantizeOp>();
      if (!from || onnx::isKept(from) || !isByte(from.getX()) || !isScalar(from.getScale()) ||
          !isScalar(from.getZero()) ||
          from.getX().getType() != cast<TensorType>(v.getType()).clone(onnx::elementOf(first.getX())) ||
          (parts > 1 &&
           (!sameConstant(from.getScale(), first.getScale()) || !sameConstant(from.getZero(), first.getZero())))) {
        return failure();
      }
    }
    // What else is put between the elements is a number of the tensor's type.
    for (Value v : op->getOperands().drop_front(parts)) {
      if (onnx::present(v) && isa<FloatType>(onnx::elementOf(v))) {
        return failure();
      }
    }
    SmallVector<Value> operands(op->getOperands());
    for (Value &v : MutableArrayRef(operands).take_front(parts)) {
      v = v.getDefiningOp<DequantizeOp>().getX();
    }
    if (op->getName().getStringRef() == "onnx.Pad") { // zeros are not zero points
      return failure();
    }
    Value moved =
        onnx::createOp(rewriter, op->getLoc(), op->getName().getStringRef(), operands, op->getAttrs())->getResult(0);
    Formula f(rewriter, op->getLoc());
    auto number = [&](Value v) { return onnx::shaped(f, v, {}); }; // whose rank may be more than that of the result
    rewriter.replaceOp(op, onnx::dequantize(f, moved, number(first.getScale()), number(first.getZero())));
    return success();
  }
};

/// A number computed from constants is one now, for the patterns that ask.
Value computed(Formula &f, Value v) {
  Operation *op = v.getDefiningOp();
  SmallVector<ElementsAttr> operands = llvm::map_to_vector(op->getOperands(), onnx::constantOf);
  ElementsAttr value =
      llvm::is_contained(operands, ElementsAttr()) ? ElementsAttr() : onnx::evaluateElementwise(op, operands);
  return value ? onnx::makeConstant(f.b, f.loc, value) : v;
}

/// Returns sums of integers multiplied by their scale.
Value scaled(Formula &f, Value sums, Value a, Value b) {
  Type f32 = f.b.getF32Type();
  return f.mul(f.cast(sums, f32, onnx::numberOfElement(f32)), computed(f, f.mul(a, b)));
}

struct Product : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op, PatternRewriter &rewriter) const override {
    auto a = op.getA().getDefiningOp<DequantizeOp>(), b = op.getB().getDefiningOp<DequantizeOp>();
    auto weights = b ? onnx::ranked(b.getX()) : RankedTensorType();
    if (!a || !weights || !isByte(a.getX()) || !isByte(b.getX()) || !onnx::elementOf(op.getY()).isF32() ||
        !isScalar(a.getScale()) || !isScalar(a.getZero()) || !onnx::constantOf(b.getX()) || op.getTransA() ||
        weights.getRank() != 2) {
      return failure();
    }
    int64_t columns = op.getTransB() ? 0 : 1;
    if (!isAlongOnly(b.getScale(), columns, 2) || !isAlongOnly(b.getZero(), columns, 2)) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    Value scale = listOf(f, b.getScale()), zero = listOf(f, b.getZero());
    Value values = op.getTransB() ? f.transpose(b.getX(), {1, 0}) : b.getX();
    Value sums = f.op("MatMulInteger", {a.getX(), values, onnx::shaped(f, a.getZero(), {}), zero});
    rewriter.replaceOp(op, scaled(f, sums, onnx::shaped(f, a.getScale(), {}), scale));
    return success();
  }
};

struct Convolution : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvOp op, PatternRewriter &rewriter) const override {
    auto x = op.getX().getDefiningOp<DequantizeOp>(), w = op.getW().getDefiningOp<DequantizeOp>();
    auto weights = w ? onnx::ranked(w.getX()) : RankedTensorType();
    if (!x || !weights || !isByte(x.getX()) || !isByte(w.getX()) || !onnx::elementOf(op.getY()).isF32() ||
        !isScalar(x.getScale()) || !isScalar(x.getZero()) || !onnx::constantOf(w.getX())) {
      return failure();
    }
    int64_t rank = weights.getRank();
    if (!isAlongOnly(w.getScale(), 0, rank) || !isAlongOnly(w.getZero(), 0, rank)) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    Value scale = listOf(f, w.getScale()), zero = listOf(f, w.getZero());
    Value sums = f.op("ConvInteger", {x.getX(), w.getX(), onnx::shaped(f, x.getZero(), {}), zero}, op->getAttrs());
    Value factor = onnx::alongEnd(f, scale, rank - 2), xScale = onnx::shaped(f, x.getScale(), {}), bias = op.getB();
    if (auto whole = onnx::present(bias) ? bias.getDefiningOp<DequantizeOp>() : DequantizeOp();
        whole && isBias(whole, xScale, scale)) {
      sums = f.add(sums, onnx::alongEnd(f, whole.getX(), rank - 2));
      bias = {};
    }
    Value y = scaled(f, sums, xScale, factor);
    rewriter.replaceOp(op, onnx::present(bias) ? f.add(y, onnx::alongEnd(f, bias, rank - 2)) : y);
    return success();
  }

  /// Whether a bias is whole numbers of the product of the scales: it is added to the sums.
  static bool isBias(DequantizeOp bias, Value x, Value w) {
    auto scales = onnx::floatsOf(bias.getScale()), xs = onnx::floatsOf(x), ws = onnx::floatsOf(w);
    auto zeros = onnx::integersOf(bias.getZero());
    if (!onnx::isInt(onnx::elementOf(bias.getX()), 32) || !scales || !xs || !ws || !zeros ||
        llvm::any_of(*zeros, [](int64_t z) { return z != 0; })) {
      return false;
    }
    size_t count = std::max(scales->size(), ws->size());
    for (size_t i = 0; i < count; ++i) {
      double expected = xs->front() * (*ws)[ws->size() == 1 ? 0 : i], own = (*scales)[scales->size() == 1 ? 0 : i];
      if (std::abs(own - expected) > 1e-6 * std::abs(expected)) {
        return false;
      }
    }
    return true;
  }
};

/// Quantize by a factor, which an earlier one becomes part of, in place of a division.
struct OneFactor : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    if (!onnx::constantOf(op.getScale()) || onnx::splatNumber(op.getScale()) == 1.0 ||
        !onnx::elementOf(op.getX()).isF32()) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    Value x = op.getX(), factor = computed(f, f.div(f.number(1.0, x), op.getScale()));
    auto mul = x.getDefiningOp<onnx::MulOp>();
    if (mul && x.hasOneUse() && onnx::constantOf(mul.getB()) && onnx::ranked(mul.getA()) &&
        onnx::ranked(mul.getA()).getRank() == onnx::ranked(x).getRank()) {
      x = mul.getA(), factor = computed(f, f.mul(mul.getB(), factor));
    }
    rewriter.replaceOp(op,
                       onnx::quantize(f, f.mul(x, factor), f.number(1.0, x), op.getZero(), onnx::elementOf(op.getY())));
    return success();
  }
};

/// Swish between two factors, the second of which is one number c > 0: c swish(x) is the swish of c x whose own factor
/// is c times smaller, and c joins the first one.
struct ScaledSwish : OpRewritePattern<onnx::MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MulOp op, PatternRewriter &rewriter) const override {
    std::optional<double> factor = onnx::realSplat(op.getB());
    auto [x, alpha] = factor > 0.0 ? swishOf(op.getA()) : std::pair(Value(), 0.0);
    auto first = x ? x.getDefiningOp<onnx::MulOp>() : onnx::MulOp();
    if (!first || !onnx::constantOf(first.getB()) || first.getY().getType() != op.getY().getType()) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    Value scaled = f.mul(first.getA(), computed(f, f.mul(first.getB(), f.number(*factor, x))));
    rewriter.replaceOp(op, f.op("Swish", {scaled}, {f.number("alpha", alpha / *factor)}));
    return success();
  }

  /// x and alpha of x / (1 + e^(-alpha x)), where nothing else reads it or x; null: it is something else.
  static std::pair<Value, double> swishOf(Value y) {
    auto swish = y.getDefiningOp<onnx::SwishOp>();
    if (swish && swish->hasOneUse() && swish.getX().hasOneUse()) {
      return {swish.getX(), swish.getAlpha().convertToDouble()};
    }
    auto product = y.getDefiningOp<onnx::MulOp>();
    for (unsigned i = 0; product && product->hasOneUse() && i < 2; ++i) {
      Value x = product->getOperand(i);
      auto sigmoid = product->getOperand(1 - i).getDefiningOp<onnx::SigmoidOp>();
      if (sigmoid && sigmoid->hasOneUse() && sigmoid.getX() == x && x.hasNUses(2)) {
        return {x, 1.0};
      }
    }
    return {};
  }
};

/// Relu and Clip in front of Quantize, which never decreases: a bound at which integers saturate anyway is gone,
/// another one is of bytes and behind Quantize, so that a factor in front of it meets Quantize's.
struct Saturated : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    auto relu = op.getX().getDefiningOp<onnx::ReluOp>();
    auto clip = op.getX().getDefiningOp<onnx::ClipOp>();
    auto element = dyn_cast<IntegerType>(onnx::elementOf(op.getY()));
    if ((!relu && !clip) || !element) {
      return failure();
    }
    auto [least, most] = onnx::rangeOf(element);
    FailureOr<Bound> lower = relu ? quantized(op, 0.0, least) : quantized(op, clip.getMin(), least);
    FailureOr<Bound> upper = relu ? Bound() : quantized(op, clip.getMax(), most);
    if (failed(lower) || failed(upper)) {
      return failure();
    }
    Value x = relu ? relu.getX() : clip.getX();
    if (!*lower && !*upper) {
      rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(x); });
      return success();
    }
    if (!isByte(op.getY())) {
      return failure();
    }
    Formula f(rewriter, op.getLoc());
    auto number = [&, element = element](const Bound &bound) {
      return bound ? onnx::makeConstant(f.b, f.loc, onnx::constantFromIntegers(onnx::tensorOf({}, element), *bound))
                   : Value();
    };
    Value y = onnx::quantize(f, x, op.getScale(), op.getZero(), element);
    rewriter.replaceOp(op, f.op("Clip", {y, number(*lower), number(*upper)}));
    return success();
  }

  using Bound = std::optional<int64_t>;

  /// The integer that a bound of what is quantized becomes; none: it is `extreme`, where integers saturate.
  static FailureOr<Bound> quantized(QuantizeOp op, double bound, double extreme) {
    auto zeros = onnx::integersOf(op.getZero());
    if (!zeros || zeros->empty() || std::isnan(bound)) {
      return failure();
    }
    if (bound == 0 && llvm::all_of(*zeros, [&](int64_t z) { return static_cast<double>(z) == extreme; })) {
      return Bound();
    }
    std::optional<double> scale = onnx::realSplat(op.getScale()), zero = onnx::realSplat(op.getZero());
    if (!scale || !zero || !(*scale > 0) || !onnx::elementOf(op.getX()).isF32()) {
      return failure();
    }
    auto [least, most] = onnx::rangeOf(onnx::elementOf(op.getY()));
    float ratio = static_cast<float>(bound) / static_cast<float>(*scale);
    double integer = std::clamp(std::nearbyint(ratio) + *zero, least, most);
    return integer == extreme ? Bound() : Bound(static_cast<int64_t>(integer));
  }
  static FailureOr<Bound> quantized(QuantizeOp op, Value bound, double extreme) {
    if (!onnx::present(bound)) {
      return Bound();
    }
    std::optional<double> number = onnx::realSplat(bound);
    return number ? quantized(op, *number, extreme) : FailureOr<Bound>(failure());
  }
};

} // namespace

bool isQuantized(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        return isa<QuantizeOp, DequantizeOp, onnx::DequantizeLinearOp, formats::FewBitsMatMulOp, formats::Int8MatMulOp,
                   formats::Int8ConvOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult useIntegers(func::FuncOp function, bool strict) {
  if (!isQuantized(function)) {
    return success();
  }
  MLIRContext *context = function.getContext();
  RewritePatternSet recurrences(context), forms(context), factors(context);
  forms.add<Unchanged, MovedBehind, Saturated>(context);
  addFewBitsTables(forms);
  if (!strict) {
    addRecurrentProducts(recurrences); // first: what moves dequantized weights would take them apart
    forms.add<Product, Convolution>(context);
    addFewBitsProducts(forms);
    factors.add<OneFactor, ScaledSwish>(context); // last: the others ask for the scales that the model has
  }
  if (failed(onnx::rewrite(function, std::move(recurrences)))) {
    return failure();
  }
  if (!strict) {
    keepRecurrentWeights(function);
  }
  if (failed(onnx::rewrite(function, std::move(forms))) || failed(onnx::rewrite(function, std::move(factors)))) {
    return failure();
  }
  if (!strict) {
    keepFewBits(function);
  }
  onnx::setQuantizationDone(function);
  return success();
}

FailureOr<bool> useBytes(func::FuncOp function, FormsOf formsOf) {
  RewritePatternSet patterns(function.getContext());
  addRecurrences(patterns, formsOf);
  addFewBitsProducts(patterns, formsOf);
  addSplitProducts(patterns, formsOf);
  bool changed = onnx::releaseDequantized(function);
  if (failed(onnx::rewrite(function, std::move(patterns), {}, &changed))) {
    return failure();
  }
  return changed;
}

} // namespace ingot::integer
