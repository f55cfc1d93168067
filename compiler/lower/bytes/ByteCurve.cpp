#include "compiler/lower/bytes/ByteCurve.h"
#include "compiler/lower/core/Instructions.h"
#include "compiler/onnx/ScalarMath.h"
#include "compiler/support/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace ingot::lower {

// These make segments.

static int64_t saturated(int64_t n) { return std::clamp<int64_t>(n, INT16_MIN, INT16_MAX); }

/// Returns the product of two fractions of 2^15.
static int64_t product(int64_t a, int64_t b) { return (a * b + (1 << 14)) >> 15; }

int64_t CurveSegments::at(int64_t integer) const {
  size_t part = partOf(integer);
  if (degree == Lines) {
    return saturated(product(integer, slopes[part]) + offsets[part]) >> fraction;
  }
  int64_t place = (integer & (width() - 1)) * parts() - (1 << 15);
  int64_t slope = slopes[part] + product(place >> bendShift, bends[part]);
  return saturated(product(place, slope) + offsets[part]) >> fraction;
}

namespace {

/// The integers of a range of numbers.
struct Range {
  double middle, unit;
  double number(double integer) const { return middle + unit * integer; }
};

/// The coefficients of a part, if they fit.
struct Coefficients {
  double offset, slope, bend = 0;
};

/// Returns the line that is off by the least in a part that begins there; at an end of the range one that ends where
/// the function does, since all numbers beyond it are there.
Coefficients lineOf(llvm::function_ref<double(double)> f, Range range, double start, double width, bool isEnd) {
  constexpr int samples = 8;
  double first = f(range.number(start)), slope = (f(range.number(start + width)) - first) / width;
  double least = 0, most = 0; // how far the function lies above its chord
  for (int i = 1; i < samples && !isEnd; ++i) {
    double by = i * width / samples, above = f(range.number(start + by)) - first - slope * by;
    least = std::min(least, above), most = std::max(most, above);
  }
  return {first + (least + most) / 2 - slope * start, slope * (1 << 15)};
}

/// Returns the parabola through the function where Chebyshev's polynomial of the third degree is zero; at an end of the
/// range it goes through both ends of the part.
Coefficients parabolaOf(llvm::function_ref<double(double)> f, Range range, double start, double width, bool isEnd) {
  double half = width / 2, center = start + half, place = isEnd ? 1 : std::sqrt(0.75);
  double there = f(range.number(center)), below = f(range.number(center - place * half)),
         above = f(range.number(center + place * half));
  return {there, (above - below) / (2 * place), (above + below - 2 * there) / (2 * place * place)};
}

/// Returns segments with `fraction` bits behind the point, where all coefficients fit.
std::optional<CurveSegments> segmentsOf(llvm::function_ref<double(double)> f, CurveSegments::Degree degree, Range range,
                                        int64_t fraction) {
  CurveSegments segments;
  segments.degree = degree, segments.middle = range.middle, segments.unit = range.unit, segments.fraction = fraction;
  double one = std::ldexp(1.0, static_cast<int>(fraction)), largestBend = 1;
  auto width = static_cast<double>(segments.width());
  std::array<Coefficients, CurveSegments::mostParts> all{};
  for (int64_t start = INT16_MIN; start < INT16_MAX; start += segments.width()) {
    auto from = static_cast<double>(start);
    bool isEnd = start == INT16_MIN || start + segments.width() > INT16_MAX;
    Coefficients c = degree == CurveSegments::Lines ? lineOf(f, range, from, width, isEnd)
                                                    : parabolaOf(f, range, from, width, isEnd);
    c = {std::rint((c.offset + 0.5) * one), std::rint(c.slope * one), c.bend * one};
    if (!(std::abs(c.offset) <= INT16_MAX && std::abs(c.slope) + std::abs(c.bend) <= INT16_MAX)) {
      return std::nullopt;
    }
    all[segments.partOf(start)] = c, largestBend = std::max(largestBend, std::abs(c.bend));
  }
  constexpr int64_t bendUnit = 256, mostBend = 127 * bendUnit;
  while (largestBend * std::ldexp(2.0, static_cast<int>(segments.bendShift)) <= mostBend) {
    ++segments.bendShift;
  }
  for (auto [i, c] : llvm::enumerate(all)) {
    segments.offsets[i] = static_cast<int16_t>(c.offset), segments.slopes[i] = static_cast<int16_t>(c.slope);
    double bend = std::ldexp(c.bend, static_cast<int>(segments.bendShift)) / bendUnit;
    segments.bends[i] = static_cast<int16_t>(std::rint(bend) * bendUnit);
  }
  return segments;
}

/// Returns how far from `f` a result may be before it becomes a byte, in steps, where the integers are what they are
/// rounded to.
double errorOf(const CurveSegments &segments, llvm::function_ref<double(double)> f, double least, double most) {
  constexpr int64_t stride = 61;
  double one = std::ldexp(1.0, static_cast<int>(segments.fraction)), largest = 0;
  auto cut = [&](double y) { return std::clamp(y, least - 0.5, most + 0.5); };
  Range range{segments.middle, segments.unit};
  CurveSegments exact = segments; // segments with all bits of what becomes a byte
  exact.fraction = 0;
  for (int64_t integer = INT16_MIN; integer <= INT16_MAX; integer += stride) {
    double made = cut(static_cast<double>(exact.at(integer)) / one - 0.5), at = static_cast<double>(integer);
    for (double x : {range.number(at - 0.5), range.number(at + 0.5)}) {
      largest = std::max(largest, std::abs(made - cut(f(x))));
    }
  }
  return largest;
}

constexpr double far = 1e12; ///< a number from which on a function stays the same

/// Returns the least magnitude from which on, whatever the sign of numbers, `f` is within `allowed` of its value far
/// away. Functions like these do not come back between two numbers of one magnitude.
double endOf(llvm::function_ref<double(double)> f, double sign, double allowed) {
  constexpr double near = 1e-12;
  double limit = f(sign * far), at = far;
  for (double ratio : {1.5, 1.02}) {
    while (at > near && std::abs(f(sign * at / ratio) - limit) <= allowed) {
      at /= ratio;
    }
  }
  return at;
}

} // namespace

std::optional<CurveSegments> CurveSegments::of(llvm::function_ref<double(double)> f, Degree degree, double least,
                                               double most) {
  auto cut = [&](double x) { return std::clamp(f(x), least - 0.5, most + 0.5); };
  double atLow = cut(-far), atHigh = cut(far);
  auto isCut = [&](double y) { return y <= least - 0.5 || y >= most + 0.5; };
  std::optional<CurveSegments> best;
  for (double allowed : {0.02, 0.04, 0.07}) { // accuracy that is lost at the ends is won between them
    double low = -endOf(cut, -1, allowed), high = endOf(cut, 1, allowed);
    Range range{(low + high) / 2, (high - low) / 65534};
    auto ended = [&](double x) {
      return x <= low && !isCut(atLow) ? atLow : x >= high && !isCut(atHigh) ? atHigh : f(x);
    };
    for (int64_t fraction = 7; fraction >= 4; --fraction) {
      std::optional<CurveSegments> segments = segmentsOf(ended, degree, range, fraction);
      if (!segments) {
        continue;
      }
      auto isByte = [&](int64_t integer, double y) {
        return std::clamp<double>(static_cast<double>(segments->at(integer)), least, most) ==
               std::clamp(std::rint(y), least, most);
      };
      bool isRight = isByte(INT16_MIN, atLow) && isByte(INT16_MAX, atHigh);
      segments->error = isRight ? std::max(allowed, errorOf(*segments, f, least, most)) : 1;
      if (!best || segments->error < best->error) {
        best = segments;
      }
      break;
    }
  }
  return best;
}

// These read functions.

namespace {

std::optional<double> numberOf(Value v) {
  APFloat number(0.0);
  return matchPattern(v, m_ConstantFloat(&number)) ? std::optional(number.convertToDouble()) : std::nullopt;
}

/// The operand of a function of which only bytes are left, with a bound of its magnitude.
struct Variable {
  Value x;
  double largest = 0;
};
std::optional<Variable> variableOf(Value v, int depth) {
  Operation *op = v.getDefiningOp();
  if (!op || !depth || !isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    return std::nullopt;
  }
  if (auto bound = op->getAttrOfType<FloatAttr>(support::roundedToBytesName)) {
    Value x = op->getOperand(0); // an exponential is that of a multiple
    auto negated = isa<math::ExpOp>(op) ? x.getDefiningOp<arith::NegFOp>() : arith::NegFOp();
    auto product = isa<math::ExpOp>(op) ? x.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
    x = negated ? negated.getOperand() : product && numberOf(product.getRhs()) ? product.getLhs() : x;
    return Variable{x, bound.getValueAsDouble()};
  }
  for (Value operand : op->getOperands()) {
    if (std::optional<Variable> found = variableOf(operand, depth - 1)) {
      return found;
    }
  }
  return std::nullopt;
}

using Formula = double (*)(double, double, double);

/// Returns what an operation computes; null: it is not known here.
Formula formulaOf(Operation *op) {
  auto compare = dyn_cast<arith::CmpFOp>(op);
  if (compare && compare.getPredicate() != arith::CmpFPredicate::OLT) {
    return nullptr;
  }
  return llvm::TypeSwitch<Operation *, Formula>(op)
      .Case<arith::AddFOp>([](auto) { return [](double a, double b, double) { return a + b; }; })
      .Case<arith::SubFOp>([](auto) { return [](double a, double b, double) { return a - b; }; })
      .Case<arith::MulFOp>([](auto) { return [](double a, double b, double) { return a * b; }; })
      .Case<arith::DivFOp>([](auto) { return [](double a, double b, double) { return a / b; }; })
      .Case<arith::NegFOp>([](auto) { return [](double a, double, double) { return -a; }; })
      .Case<arith::CmpFOp>([](auto) { return [](double a, double b, double) { return a < b ? 1.0 : 0.0; }; })
      .Case<arith::SelectOp>([](auto) { return [](double a, double b, double c) { return a != 0 ? b : c; }; })
      .Case<math::AbsFOp>([](auto) { return [](double a, double, double) { return std::abs(a); }; })
      .Case<math::ExpOp>([](auto) { return [](double a, double, double) { return std::exp(a); }; })
      .Case<math::ErfcOp>([](auto) { return [](double a, double, double) { return std::erfc(a); }; })
      .Case<math::TanhOp>([](auto) { return [](double a, double, double) { return std::tanh(a); }; })
      .Default(Formula());
}

/// A function of a number as its operations, in their order.
class Expression {
public:
  Expression(Value result, Value x) : steps{{}}, isWhole(false) {
    indices[x] = 0;
    isWhole = add(result).has_value();
  }
  explicit operator bool() const { return isWhole; }
  const std::string &description() const { return text; } ///< a text that is equal for equal functions

  double operator()(double x) const {
    SmallVector<double, mostSteps> values{x};
    for (const Step &step : ArrayRef(steps).drop_front()) {
      auto [a, b, c] = step.from;
      values.push_back(step.formula ? step.formula(values[a], values[b], values[c]) : step.number);
    }
    return values.back();
  }

private:
  static constexpr size_t mostSteps = 32;
  struct Step {
    Formula formula = nullptr; ///< null: it is a number, or x, which is the first step
    std::array<size_t, 3> from{};
    double number = 0;
  };
  SmallVector<Step, mostSteps> steps;
  llvm::SmallDenseMap<Value, size_t, mostSteps> indices;
  std::string text;
  bool isWhole;

  /// Returns the step that computes `v`.
  std::optional<size_t> add(Value v) {
    if (auto known = indices.find(v); known != indices.end()) {
      return known->second;
    }
    Step step;
    llvm::raw_string_ostream os(text);
    if (std::optional<double> number = numberOf(v)) {
      step.number = *number;
      os << llvm::format(" %a", *number);
    } else {
      Operation *op = v.getDefiningOp();
      step.formula = op ? formulaOf(op) : nullptr;
      if (!step.formula || steps.size() == mostSteps) {
        return std::nullopt;
      }
      for (auto [from, operand] : llvm::zip(step.from, op->getOperands())) {
        std::optional<size_t> index = add(operand);
        if (!index) {
          return std::nullopt;
        }
        from = *index;
      }
      os << ' ' << op->getName();
      for (size_t from : ArrayRef(step.from).take_front(op->getNumOperands())) {
        os << ' ' << from;
      }
    }
    steps.push_back(step);
    return indices[v] = steps.size() - 1;
  }
};

} // namespace

/// Returns the value that is rounded to become integers.
static Value roundedOf(Value integers) {
  auto converted = integers.getDefiningOp<arith::FPToSIOp>();
  auto rounded = converted ? converted.getIn().getDefiningOp<math::RoundEvenOp>() : math::RoundEvenOp();
  return rounded ? rounded.getOperand() : Value();
}

/// The variable and the function of the value that is rounded.
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

std::optional<ByteCurve> ByteCurve::of(Writer &w, KnownSegments &known, Value integers, int64_t zero, bool isSigned) {
  constexpr double mostError = 1.0 / 8;
  std::optional<Parts> parts = w.machine.has(Instruction::MultiplyInt16) ? partsOf(integers) : std::nullopt;
  if (!parts) {
    return std::nullopt;
  }
  std::string key =
      llvm::formatv("{0}, zero {1}{2}", parts->function.description(), zero, isSigned ? " signed" : "").str();
  auto [at, isNew] = known.try_emplace(key);
  if (isNew) {
    at->second =
        CurveSegments::of([&](double x) { return parts->function(x) + static_cast<double>(zero); },
                          w.machine.has(Instruction::PermuteInt16) ? CurveSegments::Lines : CurveSegments::Parabolas,
                          isSigned ? INT8_MIN : 0, isSigned ? INT8_MAX : UINT8_MAX);
  }
  if (!at->second || at->second->error > mostError) {
    return std::nullopt;
  }
  ByteCurve curve;
  curve.segments = *at->second, curve.largest = parts->variable.largest, curve.text = parts->function.description();
  return curve;
}

Value ByteCurve::places(Writer &w, Value integers) const {
  std::optional<Parts> parts = partsOf(integers);
  if (!parts || parts->function.description() != text) {
    return nullptr;
  }
  Value x = parts->variable.x;
  Value factor = w.constant(1 / segments.unit, x.getType()),
        summand = w.constant(-segments.middle / segments.unit, x.getType());
  // In sums times their scales plus a bias, the scales and the bias are scaled, since they are the same for all pixels.
  if (auto sum = x.getDefiningOp<arith::AddFOp>(); sum && sum.getLhs().getDefiningOp<arith::MulFOp>()) {
    summand = w.fma(sum.getRhs(), factor, summand), x = sum.getLhs();
  }
  if (auto product = x.getDefiningOp<arith::MulFOp>()) {
    factor = arith::MulFOp::create(w.b, w.loc, product.getRhs(), factor), x = product.getLhs();
  }
  onnx::Num place(w.b, w.loc, w.fma(x, factor, summand), w.b.getF32Type());
  constexpr double limit = 1 << 30;
  if (!(largest / segments.unit < limit)) {
    place = onnx::atMost(onnx::atLeast(place, -limit), limit);
  }
  return onnx::roundEven(place).to(w.b.getI32Type());
}

template <typename Shift> static Value shifted(Writer &w, Value v, int64_t by) {
  return by ? Shift::create(w.b, w.loc, v, w.constant(by, v.getType())).getResult() : v;
}

static Value withBits(Writer &w, Value v, int64_t bits) {
  return arith::OrIOp::create(w.b, w.loc, v, w.constant(bits, v.getType()));
}

Value ByteCurve::onLines(Writer &w, Value places) const {
  constexpr int64_t belowPart = 10; // bits
  auto type = cast<VectorType>(places.getType());
  Value part = shifted<arith::ShRSIOp>(w, places, belowPart);
  auto lookUp = [&](ArrayRef<int16_t> table) {
    auto constant = [&](ArrayRef<int16_t> numbers) -> Value {
      return arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(type, numbers));
    };
    size_t half = table.size() / 2;
    return instruction(w, Instruction::PermuteInt16,
                       {constant(table.take_front(half)), part, constant(table.drop_front(half))});
  };
  Value rise = instruction(w, Instruction::MultiplyInt16, {places, lookUp(segments.slopes)});
  return LLVM::SAddSat::create(w.b, w.loc, rise, lookUp(segments.offsets));
}

/// Takes a byte of a number's coefficient from a table by the number of its part, which is in that byte; a byte that is
/// negative takes a zero.
Value ByteCurve::onParabolas(Writer &w, Value places) const {
  constexpr int64_t belowPart = 12, byte = 8, nothingLow = 0x80, nothingHigh = -0x8000, partHigh = 0x0F00;
  auto type = cast<VectorType>(places.getType());
  auto bytes = VectorType::get({2 * type.getNumElements()}, w.b.getI8Type());
  Value inLow = shifted<arith::ShRUIOp>(w, places, belowPart);
  Value inHigh = arith::AndIOp::create(w.b, w.loc, shifted<arith::ShRUIOp>(w, places, belowPart - byte),
                                       w.constant(partHigh, type));
  inLow = withBits(w, inLow, nothingHigh), inHigh = withBits(w, inHigh, nothingLow);
  auto shuffle = [&](ArrayRef<int16_t> table, Value part, int64_t shift) {
    SmallVector<int8_t> numbers;
    for (int64_t i = 0; i < bytes.getNumElements(); ++i) {
      numbers.push_back(static_cast<int8_t>(table[i % segments.parts()] >> shift));
    }
    Value constant = arith::ConstantOp::create(w.b, w.loc, DenseElementsAttr::get(bytes, ArrayRef<int8_t>(numbers)));
    Value found =
        instruction(w, Instruction::ShuffleBytes, {constant, vector::BitCastOp::create(w.b, w.loc, bytes, part)});
    return vector::BitCastOp::create(w.b, w.loc, type, found).getResult();
  };
  auto coefficient = [&](ArrayRef<int16_t> table) {
    return arith::OrIOp::create(w.b, w.loc, shuffle(table, inLow, 0), shuffle(table, inHigh, byte)).getResult();
  };
  auto multiplied = [&](Value a, Value b) { return instruction(w, Instruction::MultiplyInt16, {a, b}); };
  Value place =
      arith::XOrIOp::create(w.b, w.loc, shifted<arith::ShLIOp>(w, places, 16 - belowPart), w.constant(INT16_MIN, type));
  Value bend = multiplied(shifted<arith::ShRSIOp>(w, place, segments.bendShift), shuffle(segments.bends, inHigh, byte));
  Value slope = arith::AddIOp::create(w.b, w.loc, bend, coefficient(segments.slopes));
  return LLVM::SAddSat::create(w.b, w.loc, multiplied(place, slope), coefficient(segments.offsets));
}

Value ByteCurve::bytes(Writer &w, Value places) const {
  Value sums = segments.degree == CurveSegments::Lines ? onLines(w, places) : onParabolas(w, places);
  return shifted<arith::ShRSIOp>(w, sums, segments.fraction);
}

} // namespace ingot::lower
