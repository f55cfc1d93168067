// Evaluates ops that move elements as on any constants, whose data are numbers that stand for the sizes. Arithmetic is
// done on the sizes themselves, and comparisons where the symbols do not matter. Where an element type may change a
// size (a boolean, a narrow integer that cuts it off) the op stays; 32 bits are taken to hold the sizes of a run.
#include "compiler/graph/FoldSizes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/ops/Cast.h"
#include "compiler/onnx/ops/Compare.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/ops/Gather.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Reduce.h"
#include "compiler/onnx/ops/Select.h"
#include "compiler/onnx/ops/Shape.h"
#include "compiler/onnx/ops/Unary.h"
#include <cmath>

using namespace mlir;
using ingot::onnx::Size;
using ingot::onnx::Sizes;

namespace ingot::graph {

static constexpr int64_t mostElements = 1024;

/// Returns what onnx::sizesIn() does, and floats that are whole numbers, too, since exporters compute sizes in them.
static std::optional<Sizes> sizesIn(Value v) {
  if (auto sizes = onnx::sizesIn(v)) {
    return sizes;
  }
  auto floats = onnx::floatsOf(v);
  if (!floats || llvm::any_of(*floats, [](double f) { return std::abs(f) > 1e15 || f != std::floor(f); })) {
    return std::nullopt;
  }
  return llvm::map_to_vector<4>(*floats, [](double f) { return Size(static_cast<int64_t>(f)); });
}

/// Whether a value of the type holds this size, whatever the symbols are.
static bool holds(Type element, const Size &size) {
  auto between = [&](int64_t least, int64_t most) { return size.atLeast(least) && (Size(most) - size).atLeast(0); };
  if (auto floats = dyn_cast<FloatType>(element)) { // floats hold whole numbers up to those that lose digits
    int64_t exact = int64_t(1) << floats.getFPMantissaWidth();
    return floats.getWidth() >= 32 || between(-exact, exact);
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || bits == 1;
  if (bits == 64 || (bits == 32 && !size.isNumber())) {
    return !isUnsigned || size.atLeast(0);
  }
  int64_t values = int64_t(1) << (isUnsigned ? bits : bits - 1);
  return between(isUnsigned ? 0 : -values, values - 1);
}

/// Returns the sizes that an op moves: operand 0 (all operands of a Concat) is data, and the others must be constant.
static std::optional<Sizes> moved(Operation *op, RankedTensorType type) {
  if (!isa<onnx::ReshapeOp, onnx::SqueezeOp, onnx::UnsqueezeOp, onnx::FlattenOp, onnx::ConcatOp, onnx::SliceOp,
           onnx::GatherOp, onnx::GatherNDOp, onnx::GatherElementsOp, onnx::TransposeOp, onnx::ExpandOp, onnx::TileOp>(
          op)) {
    return std::nullopt;
  }
  Sizes table;
  SmallVector<ElementsAttr> operands, results;
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    if (i > 0 && !isa<onnx::ConcatOp>(op)) {
      operands.push_back(onnx::constantOf(v));
      if (!operands.back() && onnx::present(v)) {
        return std::nullopt;
      }
      continue;
    }
    auto sizes = sizesIn(v);
    if (!sizes || !onnx::isStatic(v)) {
      return std::nullopt;
    }
    SmallVector<int64_t> numbers;
    for (const Size &s : *sizes) {
      numbers.push_back(static_cast<int64_t>(table.size()));
      table.push_back(s);
    }
    RankedTensorType from = onnx::ranked(v);
    if (!holds(from.getElementType(), Size(static_cast<int64_t>(table.size())))) {
      return std::nullopt; // the type does not hold the numbers of the table
    }
    operands.push_back(from.getElementType().isInteger()
                           ? onnx::constantFromIntegers(from, numbers)
                           : onnx::constantFromFloats(from, SmallVector<double>(numbers.begin(), numbers.end())));
  }
  if (failed(cast<onnx::Evaluable>(op).evaluate(operands, results))) {
    return std::nullopt;
  }
  Sizes out;
  if (auto numbers = onnx::integersOf(results[0])) {
    llvm::append_range(out, llvm::map_range(*numbers, [&](int64_t n) { return table[n]; }));
  } else {
    llvm::append_range(
        out, llvm::map_range(*onnx::floatsOf(results[0]), [&](double n) { return table[static_cast<size_t>(n)]; }));
  }
  return out;
}

/// Returns the elements of an operand, broadcast to the result.
static std::optional<Sizes> spread(Value v, RankedTensorType to) {
  auto sizes = sizesIn(v);
  auto from = onnx::ranked(v);
  if (!sizes || !from || !from.hasStaticShape()) {
    return std::nullopt;
  }
  SmallVector<int64_t> strides(to.getRank(), 0), dense = onnx::rowMajorStrides(from.getShape()),
                                                 all = onnx::rowMajorStrides(to.getShape());
  for (int64_t i = 0, shift = to.getRank() - from.getRank(); i < from.getRank(); ++i) {
    strides[shift + i] = from.getDimSize(i) == 1 ? 0 : dense[i];
  }
  Sizes out;
  for (int64_t flat = 0; flat < to.getNumElements(); ++flat) {
    int64_t at = 0;
    for (int64_t i = 0; i < to.getRank(); ++i) {
      at += flat / all[i] % to.getDimSize(i) * strides[i];
    }
    out.push_back((*sizes)[at]);
  }
  return out;
}

/// Returns 1 or 0 where a comparison is so for all symbols, else nothing.
static Size truth(bool yes, bool no) { return yes ? Size(1) : no ? Size(0) : Size::unknown(); }

static Size computed(Operation *op, ArrayRef<Size> x, const support::Facts &facts) {
  if (isa<onnx::AddOp>(op)) {
    return x[0] + x[1];
  }
  if (isa<onnx::SubOp>(op)) {
    return x[0] - x[1];
  }
  if (isa<onnx::MulOp>(op)) {
    return x[0] * x[1];
  }
  if (isa<onnx::DivOp>(op)) { // this rounds towards zero, which floorDiv does where nothing is negative
    if (!getElementTypeOrSelf(op->getResult(0).getType()).isInteger()) {
      return divideExactly(x[0], x[1]).value_or(Size::unknown());
    }
    if (auto exact = divideExactly(x[0], x[1]); exact && x[1].isNumber()) {
      return *exact;
    }
    Size minus = Size(0) - x[0];
    bool divides = x[1].atLeast(x[1].isNumber() ? 1 : 0, facts);
    return !divides                  ? Size::unknown()
           : x[0].atLeast(0, facts)  ? floorDiv(x[0], x[1])
           : minus.atLeast(0, facts) ? Size(0) - floorDiv(minus, x[1])
                                     : Size::unknown();
  }
  if (auto mod = dyn_cast<onnx::ModOp>(op)) { // the result of fmod has the dividend's sign
    bool divides = x[1].atLeast(x[1].isNumber() ? 1 : 0, facts);
    bool floors = !mod.getFmod() || (x[0].atLeast(0, facts) && x[1].atLeast(0, facts));
    return divides && floors ? x[0] - x[1] * floorDiv(x[0], x[1]) : Size::unknown();
  }
  if (isa<onnx::CastOp>(op) && onnx::isBool(onnx::elementOf(op->getResult(0)))) {
    return truth(x[0].atLeast(1, facts) || (Size(0) - x[0]).atLeast(1, facts), x[0].is(0));
  }
  if (isa<onnx::CastOp, onnx::IdentityOp, onnx::FloorOp, onnx::CeilOp, onnx::RoundOp>(op)) {
    return x[0];
  }
  if (isa<onnx::NegOp>(op)) {
    return Size(0) - x[0];
  }
  if (isa<onnx::EqualOp>(op)) {
    return truth(x[0] == x[1], (x[0] - x[1]).atLeast(1, facts) || (x[1] - x[0]).atLeast(1, facts));
  }
  if (isa<onnx::LessOrEqualOp>(op)) {
    return truth((x[1] - x[0]).atLeast(0, facts), (x[0] - x[1]).atLeast(1, facts));
  }
  if (isa<onnx::GreaterOrEqualOp>(op)) {
    return truth((x[0] - x[1]).atLeast(0, facts), (x[1] - x[0]).atLeast(1, facts));
  }
  if (isa<onnx::LessOp>(op)) {
    return truth((x[1] - x[0]).atLeast(1, facts), (x[0] - x[1]).atLeast(0, facts));
  }
  if (isa<onnx::GreaterOp>(op)) {
    return truth((x[0] - x[1]).atLeast(1, facts), (x[1] - x[0]).atLeast(0, facts));
  }
  if (isa<onnx::WhereOp>(op)) {
    return x[0].isNumber() ? (x[0].is(0) ? x[2] : x[1]) : x[1] == x[2] ? x[1] : Size::unknown();
  }
  if (isa<onnx::MinOp, onnx::MaxOp>(op)) {
    Size best = x[0];
    for (const Size &s : x.drop_front()) {
      best = isa<onnx::MinOp>(op) ? min(best, s) : max(best, s);
    }
    return best;
  }
  return Size::unknown();
}

static std::optional<Sizes> arithmetic(Operation *op, RankedTensorType type) {
  if (!isa<onnx::Elementwise, onnx::IdentityOp>(op)) {
    return std::nullopt;
  }
  SmallVector<Sizes> operands;
  for (Value v : op->getOperands()) {
    auto sizes = spread(v, type);
    if (!sizes) {
      return std::nullopt;
    }
    operands.push_back(std::move(*sizes));
  }
  support::Facts facts = onnx::factsOf(op);
  Sizes out;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    auto x = llvm::map_to_vector<4>(operands, [&](const Sizes &all) { return all[i]; });
    out.push_back(computed(op, x, facts).simplified(facts));
    if (out.back().isUnknown() || !holds(type.getElementType(), out.back())) {
      return std::nullopt;
    }
  }
  return out;
}

/// The largest numerator and denominator, which single precision holds exactly, too.
static constexpr double mostExact = 1 << 10;

/// Returns the numerator and denominator of a float among the operands of a division or product.
static std::pair<Size, Size> fractionOf(Value v, int64_t i, const std::optional<Sizes> &sizes) {
  if (sizes) {
    return {(*sizes)[i], 1};
  }
  double number = onnx::realSplat(v).value_or(0);
  for (double denominator = 2; denominator <= mostExact; denominator *= 2) {
    double numerator = number * denominator;
    if (numerator == std::floor(numerator) && numerator >= 1 && numerator <= mostExact) {
      return {static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)};
    }
  }
  return {Size::unknown(), Size::unknown()};
}

/// Returns whole numbers that are floats: sizes or a constant.
static std::optional<Sizes> wholes(Value v, RankedTensorType type) {
  if (auto sizes = spread(v, type)) {
    return sizes;
  }
  auto number = onnx::realSplat(v);
  if (!number || *number != std::floor(*number) || std::abs(*number) > mostExact) {
    return std::nullopt;
  }
  return Sizes(type.getNumElements(), Size(static_cast<int64_t>(*number)));
}

/// Returns the whole numbers that are added to `v` before it is rounded; `v` becomes the value that they are added to.
static Sizes takeSummands(Value &v, RankedTensorType type) {
  Sizes sum(type.getNumElements(), 0);
  for (Operation *op = v.getDefiningOp(); isa_and_nonnull<onnx::AddOp, onnx::SubOp>(op); op = v.getDefiningOp()) {
    auto right = wholes(op->getOperand(1), type);
    auto left = right || isa<onnx::SubOp>(op) ? std::nullopt : wholes(op->getOperand(0), type);
    if (!right && !left) {
      break;
    }
    for (auto [total, term] : llvm::zip_equal(sum, right ? *right : *left)) {
      total = isa<onnx::SubOp>(op) ? total - term : total + term;
    }
    v = op->getOperand(right ? 0 : 1);
  }
  return sum;
}

/// Returns sizes that are divided as floats, or multiplied by a fraction, perhaps with whole numbers added, and
/// rounded.
static std::optional<Sizes> rounded(Operation *op, RankedTensorType type) {
  bool up = isa<onnx::CeilOp>(op),
       cuts = isa<onnx::CastOp>(op) && type.getElementType().isInteger() && !onnx::isBool(type.getElementType());
  if (!up && !cuts && !isa<onnx::FloorOp>(op)) {
    return std::nullopt;
  }
  Value quotient = op->getOperand(0);
  Sizes added = takeSummands(quotient, type);
  Operation *inner = quotient.getDefiningOp();
  if (!isa_and_nonnull<onnx::DivOp, onnx::MulOp>(inner) || !onnx::elementOf(quotient).isFloat()) {
    return std::nullopt;
  }
  auto a = spread(inner->getOperand(0), type), b = spread(inner->getOperand(1), type);
  support::Facts facts = onnx::factsOf(op);
  Sizes out;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    auto [x, xBelow] = fractionOf(inner->getOperand(0), i, a);
    auto [y, yBelow] = fractionOf(inner->getOperand(1), i, b);
    if (isa<onnx::DivOp>(inner)) {
      std::swap(y, yBelow);
    }
    Size below = xBelow * yBelow, above = x * y + added[i] * below;
    if (!above.atLeast(0, facts) || !below.atLeast(below.isNumber() ? 1 : 0, facts)) {
      return std::nullopt;
    }
    out.push_back((up ? ceilDiv(above, below) : floorDiv(above, below)).simplified(facts));
    if (!holds(type.getElementType(), out.back())) {
      return std::nullopt;
    }
  }
  return out;
}

/// Returns the sum, product, least or largest of sizes, as of the elements of a shape.
static std::optional<Sizes> reduced(Operation *op, RankedTensorType type) {
  auto reduce = dyn_cast<onnx::ReduceOp>(op);
  auto sizes = reduce && type.getNumElements() == 1 ? onnx::sizesIn(reduce.getData()) : std::nullopt;
  if (!sizes || sizes->empty() || reduce.getKind() == "Mean") {
    return std::nullopt;
  }
  StringRef kind = reduce.getKind();
  Size all = sizes->front();
  for (const Size &s : ArrayRef(*sizes).drop_front()) {
    all = kind == "Prod" ? all * s : kind == "Sum" ? all + s : kind == "Min" ? min(all, s) : max(all, s);
  }
  all = all.simplified(onnx::factsOf(op));
  return holds(type.getElementType(), all) ? std::optional<Sizes>(Sizes{all}) : std::nullopt;
}

LogicalResult foldSizes(Operation *op, PatternRewriter &rewriter) {
  if (op->getNumResults() != 1) {
    return failure();
  }
  auto type = onnx::ranked(op->getResult(0));
  if (!type || !type.hasStaticShape() || type.getNumElements() > mostElements) {
    return failure();
  }
  auto isSizes = [](Value v) { return isa_and_nonnull<onnx::SizesOp>(v.getDefiningOp()); };
  bool any = llvm::any_of(op->getOperands(), isSizes);
  auto sizes = any ? moved(op, type) : rounded(op, type);
  sizes = sizes || !any ? sizes : arithmetic(op, type);
  sizes = sizes || !any ? sizes : reduced(op, type);
  if (!sizes || llvm::any_of(*sizes, [](const Size &s) { return s.isUnknown(); })) {
    return failure();
  }
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op, onnx::makeSizes(rewriter, op->getLoc(), *sizes, type));
  return success();
}

} // namespace ingot::graph
