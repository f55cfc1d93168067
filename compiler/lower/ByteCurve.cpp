#include "compiler/lower/ByteCurve.h"
#include "compiler/onnx/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;

namespace ingot::lower {

// Lines.

static int64_t saturated(int64_t n) { return std::clamp<int64_t>(n, INT16_MIN, INT16_MAX); }

/// The number of the line of an integer: its highest bits, negative ones last.
static size_t partOf(int64_t integer) { return static_cast<uint16_t>(integer) >> 10 & (ByteLines::parts - 1); }

int64_t ByteLines::at(int64_t integer) const {
  size_t part = partOf(integer);
  int64_t product = (integer * slopes[part] + (1 << 14)) >> 15;
  return saturated(product + offsets[part]) >> fraction;
}

namespace {

/// Integers of a range of numbers.
struct Range {
  double middle, unit;
  double number(int64_t integer) const { return middle + unit * static_cast<double>(integer); }
};

/// Coefficients with so many bits behind the point: of each part those of the line that is off by the least.
std::optional<ByteLines> linesOf(llvm::function_ref<double(double)> f, Range range, int64_t fraction) {
  constexpr int64_t width = 65536 / ByteLines::parts, samples = 8;
  ByteLines lines;
  lines.middle = range.middle, lines.unit = range.unit, lines.fraction = fraction;
  double one = std::ldexp(1.0, static_cast<int>(fraction));
  for (int64_t start = INT16_MIN; start < INT16_MAX; start += width) {
    double first = f(range.number(start)), slope = (f(range.number(start + width)) - first) / width;
    double least = 0, most = 0; // of what it is above its chord
    for (int64_t i = 1; i < samples; ++i) {
      int64_t by = i * (width / samples);
      double above = f(range.number(start + by)) - first - slope * static_cast<double>(by);
      least = std::min(least, above), most = std::max(most, above);
    }
    double offset = first + (least + most) / 2 - slope * static_cast<double>(start);
    double slopeBits = std::rint(slope * one * (1 << 15)), offsetBits = std::rint((offset + 0.5) * one);
    if (!(std::abs(slopeBits) <= INT16_MAX && std::abs(offsetBits) <= INT16_MAX)) {
      return std::nullopt;
    }
    lines.slopes[partOf(start)] = static_cast<int16_t>(slopeBits);
    lines.offsets[partOf(start)] = static_cast<int16_t>(offsetBits);
  }
  return lines;
}

/// How far from `f` a result may be before it becomes a byte, in steps, where the integers are what they are rounded
/// to.
double errorOf(const ByteLines &lines, llvm::function_ref<double(double)> f, double least, double most) {
  double one = std::ldexp(1.0, static_cast<int>(lines.fraction)), largest = 0;
  auto cut = [&](double y) { return std::clamp(y, least - 0.5, most + 0.5); };
  Range range{lines.middle, lines.unit};
  ByteLines exact = lines; // with all bits of what becomes a byte
  exact.fraction = 0;
  for (int64_t integer = INT16_MIN; integer <= INT16_MAX; integer += 17) {
    double made = cut(static_cast<double>(exact.at(integer)) / one - 0.5), rounded = 0.5 * lines.unit;
    for (double x : {range.number(integer) - rounded, range.number(integer) + rounded}) {
      largest = std::max(largest, std::abs(made - cut(f(x))));
    }
  }
  return largest;
}

/// The least magnitude from which on, whatever the sign says of numbers, `f` is within `allowed` of what it is far
/// away.
double endOf(llvm::function_ref<double(double)> f, double sign, double allowed) {
  constexpr double far = 1e12, near = 1e-12, ratio = 1.03;
  double limit = f(sign * far), at = far;
  while (at > near && std::abs(f(sign * at / ratio) - limit) <= allowed) {
    at /= ratio;
  }
  return at;
}

} // namespace

std::optional<ByteLines> ByteLines::of(llvm::function_ref<double(double)> f, double least, double most) {
  auto cut = [&](double x) { return std::clamp(f(x), least - 0.5, most + 0.5); };
  std::optional<ByteLines> best;
  for (double allowed : {0.02, 0.04, 0.07}) { // what is lost at the ends is won between them
    double low = -endOf(cut, -1, allowed), high = endOf(cut, 1, allowed);
    Range range{(low + high) / 2, (high - low) / 65534};
    for (int64_t fraction = 7; fraction >= 4; --fraction) {
      std::optional<ByteLines> lines = linesOf(f, range, fraction);
      if (!lines) {
        continue;
      }
      lines->error = std::max(allowed, errorOf(*lines, f, least, most));
      if (!best || lines->error < best->error) {
        best = lines;
      }
      break;
    }
  }
  return best;
}

// Functions.

namespace {

std::optional<double> numberOf(Value v) {
  APFloat number(0.0);
  return matchPattern(v, m_ConstantFloat(&number)) ? std::optional(number.convertToDouble()) : std::nullopt;
}

/// The operand of a function of which only bytes are left, but for a factor; with a bound of its magnitude.
struct Variable {
  Value x;
  double largest = 0;
};
std::optional<Variable> variableOf(Value v, int depth) {
  Operation *op = v.getDefiningOp();
  if (!op || !depth || !isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    return std::nullopt;
  }
  if (auto bound = op->getAttrOfType<FloatAttr>("ingot.bytes")) {
    Value x = op->getOperand(0);
    if (auto negated = x.getDefiningOp<arith::NegFOp>()) {
      x = negated.getOperand();
    } else if (auto product = x.getDefiningOp<arith::MulFOp>(); product && numberOf(product.getRhs())) {
      x = product.getLhs();
    }
    return Variable{x, bound.getValueAsDouble()};
  }
  for (Value operand : op->getOperands()) {
    if (std::optional<Variable> found = variableOf(operand, depth - 1)) {
      return found;
    }
  }
  return std::nullopt;
}

/// A function as its operations, which say what it is of a number.
class Expression {
public:
  Expression(Value result, Value x) : x(x), result(result), isWhole(describe(result, mostDepth)) {}
  explicit operator bool() const { return isWhole; }
  const std::string &description() const { return text; }
  double operator()(double number) const { return compute(result, number); }

private:
  static constexpr int mostDepth = 24;
  Value x, result;
  std::string text;
  bool isWhole;

  bool describe(Value v, int depth) {
    llvm::raw_string_ostream os(text);
    if (v == x) {
      os << " x";
      return true;
    }
    if (std::optional<double> number = numberOf(v)) {
      os << ' ' << llvm::format("%a", *number);
      return true;
    }
    Operation *op = v.getDefiningOp();
    auto compare = dyn_cast_or_null<arith::CmpFOp>(op);
    bool isKnown = compare
                       ? compare.getPredicate() == arith::CmpFPredicate::OLT
                       : isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
                                         arith::SelectOp, math::AbsFOp, math::ExpOp, math::ErfcOp, math::TanhOp>(op);
    if (!depth || !isKnown) {
      return false;
    }
    os << " (" << op->getName();
    return llvm::all_of(op->getOperands(), [&](Value operand) { return describe(operand, depth - 1); });
  }

  double compute(Value v, double number) const {
    if (v == x) {
      return number;
    }
    if (std::optional<double> constant = numberOf(v)) {
      return *constant;
    }
    Operation *op = v.getDefiningOp();
    double a = compute(op->getOperand(0), number);
    auto b = [&] { return compute(op->getOperand(1), number); };
    return llvm::TypeSwitch<Operation *, double>(op)
        .Case<arith::AddFOp>([&](auto) { return a + b(); })
        .Case<arith::SubFOp>([&](auto) { return a - b(); })
        .Case<arith::MulFOp>([&](auto) { return a * b(); })
        .Case<arith::DivFOp>([&](auto) { return a / b(); })
        .Case<arith::NegFOp>([&](auto) { return -a; })
        .Case<arith::CmpFOp>([&](auto) { return a < b(); })
        .Case<arith::SelectOp>([&](auto) { return a != 0 ? b() : compute(op->getOperand(2), number); })
        .Case<math::AbsFOp>([&](auto) { return std::abs(a); })
        .Case<math::ExpOp>([&](auto) { return std::exp(a); })
        .Case<math::ErfcOp>([&](auto) { return std::erfc(a); })
        .Case<math::TanhOp>([&](auto) { return std::tanh(a); });
  }
};

} // namespace

/// What is rounded to become integers.
static Value roundedOf(Value integers) {
  auto converted = integers.getDefiningOp<arith::FPToSIOp>();
  auto rounded = converted ? converted.getIn().getDefiningOp<math::RoundEvenOp>() : math::RoundEvenOp();
  return rounded ? rounded.getOperand() : Value();
}

/// The variable and the function of what is rounded.
struct ByteCurve::Parts {
  Variable variable;
  Expression function;
};
std::optional<ByteCurve::Parts> ByteCurve::partsOf(Value integers) {
  constexpr int mostDepth = 12;
  Value result = roundedOf(integers);
  std::optional<Variable> variable = result ? variableOf(result, mostDepth) : std::nullopt;
  if (!variable) {
    return std::nullopt;
  }
  Parts parts{*variable, Expression(result, variable->x)};
  return parts.function ? std::optional(std::move(parts)) : std::nullopt;
}

std::optional<ByteCurve> ByteCurve::of(Writer &w, Value integers, int64_t zero, bool isSigned) {
  constexpr double mostError = 1.0 / 8;
  std::optional<Parts> parts = w.machine.words.lookUp.empty() ? std::nullopt : partsOf(integers);
  if (!parts) {
    return std::nullopt;
  }
  std::optional<ByteLines> lines =
      ByteLines::of([&](double x) { return parts->function(x) + static_cast<double>(zero); }, isSigned ? INT8_MIN : 0,
                    isSigned ? INT8_MAX : UINT8_MAX);
  if (!lines || lines->error > mostError) {
    return std::nullopt;
  }
  ByteCurve curve;
  curve.lines = *lines, curve.largest = parts->variable.largest, curve.text = parts->function.description();
  return curve;
}

Value ByteCurve::places(Writer &w, Value integers) const {
  std::optional<Parts> parts = partsOf(integers);
  if (!parts || parts->function.description() != text) {
    return nullptr;
  }
  Value x = parts->variable.x;
  Value factor = w.constant(1 / lines.unit, x.getType()), summand = w.constant(-lines.middle / lines.unit, x.getType());
  // Of sums times their scales and plus a bias it is these that are scaled: they are the same for all pixels.
  if (auto sum = x.getDefiningOp<arith::AddFOp>(); sum && sum.getLhs().getDefiningOp<arith::MulFOp>()) {
    summand = w.fma(sum.getRhs(), factor, summand), x = sum.getLhs();
  }
  if (auto product = x.getDefiningOp<arith::MulFOp>()) {
    factor = arith::MulFOp::create(w.b, w.loc, product.getRhs(), factor), x = product.getLhs();
  }
  onnx::Num place(w.b, w.loc, w.fma(x, factor, summand), w.b.getF32Type());
  constexpr double limit = 1 << 30;
  if (!(largest / lines.unit < limit)) {
    place = onnx::atMost(onnx::atLeast(place, -limit), limit);
  }
  return onnx::roundEven(place).to(w.b.getI32Type());
}

Value ByteCurve::bytes(Writer &w, Value places) const {
  auto type = cast<VectorType>(places.getType());
  auto call = [&](StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(w.b, w.loc, type, w.b.getStringAttr(name), operands)->getResult(0);
  };
  auto shifted = [&](Value v, int64_t by) {
    return arith::ShRSIOp::create(w.b, w.loc, v, w.constant(static_cast<double>(by), type)).getResult();
  };
  Value part = shifted(places, 10);
  auto lookUp = [&](ArrayRef<int16_t> table) {
    size_t half = table.size() / 2;
    auto constant = [&](ArrayRef<int16_t> numbers) -> Value {
      return arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(type, numbers));
    };
    return call(w.machine.words.lookUp, {constant(table.take_front(half)), part, constant(table.drop_front(half))});
  };
  Value product = call(w.machine.words.multiply, {places, lookUp(lines.slopes)});
  return shifted(LLVM::SAddSat::create(w.b, w.loc, product, lookUp(lines.offsets)), lines.fraction);
}

} // namespace ingot::lower
