// Runs an op's emit() once, on scalars, into a scratch block; the arith and math operations found there become a flat
// program, which is interpreted for chunks of elements: every value is a row of a chunk's elements, every operation is
// one loop over rows. Floats are computed in double and rounded to f32 after each operation, which for + - * / and sqrt
// is what f32 arithmetic gives (double has more than twice its digits); a value of a narrower type is rounded to that.
// Integers are kept sign-extended.
//
//   emit() of Max of x, y, z      %1 = arith.maximumf %x, %y;  %2 = arith.maximumf %1, %z
//   program                       row 3 = max(row 0, row 1);  row 4 = max(row 3, row 2), for 512 elements at a time
//
// So a constant is folded by the same description of an operator of which its kernels are made.
#include "compiler/onnx/constants/EvaluateElementwise.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/support/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include <bit>
#include <cmath>
#include <deque>

using namespace mlir;

namespace ingot::onnx {
namespace {

/// A row of 512 scalars has 4 KiB, so that the rows of a usual op stay in the first cache, and the call of a kernel
/// costs little for each element.
constexpr int64_t chunk = 512;

/// A float of any type is kept as a double, an integer of any width as an int64.
union Scalar {
  double f;
  int64_t i;
};
using Row = std::vector<Scalar>;
/// An operation on rows: it takes the result's row, those of the operands, and the number of elements.
using Kernel = std::function<void(Scalar *, ArrayRef<const Scalar *>, int64_t)>;

/// Makes a kernel of a function of one or two doubles.
template <typename F> Kernel floats(F f) {
  return [f](Scalar *r, ArrayRef<const Scalar *> x, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      if constexpr (std::is_invocable_v<F, double, double>) {
        r[k].f = f(x[0][k].f, x[1][k].f);
      } else {
        r[k].f = f(x[0][k].f);
      }
    }
  };
}
template <typename F> Kernel integers(F f) {
  return [f](Scalar *r, ArrayRef<const Scalar *> x, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      r[k].i = f(x[0][k].i, x[1][k].i);
    }
  };
}
/// Integers are kept sign-extended, so operations on unsigned ones clear the bits above their width first.
uint64_t zeroExtended(int64_t v, unsigned width) {
  return width == 64 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << width) - 1);
}
/// A boolean is 0 or 1 rather than 0 or -1.
int64_t signExtended(int64_t v, unsigned width) { return width == 1 ? v & 1 : llvm::SignExtend64(uint64_t(v), width); }

template <typename F> Kernel unsignedIntegers(unsigned width, F f) {
  return integers(
      [=](int64_t a, int64_t b) { return static_cast<int64_t>(f(zeroExtended(a, width), zeroExtended(b, width))); });
}

/// Raises to powers. Squares, as of a variance, are products, which are exact for floats of 32 bits.
double power(double a, double b) { return b == 2 ? a * a : std::pow(a, b); }

/// Returns the operations on floats by their names.
const llvm::StringMap<Kernel> &floatKernels() {
  static const auto *all = new llvm::StringMap<Kernel>{
      {"arith.addf", floats([](double a, double b) { return a + b; })},
      {"arith.subf", floats([](double a, double b) { return a - b; })},
      {"arith.mulf", floats([](double a, double b) { return a * b; })},
      {"arith.divf", floats([](double a, double b) { return a / b; })},
      {"arith.negf", floats([](double a) { return -a; })},
      {"arith.maximumf", floats([](double a, double b) { return std::isnan(a) || a > b ? a : b; })},
      {"arith.minimumf", floats([](double a, double b) { return std::isnan(a) || a < b ? a : b; })},
      {"arith.extf", floats([](double a) { return a; })},
      {"arith.truncf", floats([](double a) { return a; })},
      {"math.copysign", floats([](double a, double b) { return std::copysign(a, b); })},
      {"arith.remf", floats([](double a, double b) { return std::fmod(a, b); })},
      {"math.powf", floats(power)},
      {"math.roundeven", floats([](double a) { return std::nearbyint(a); })},
#define X(name) {"math." #name, floats([](double a) { return std::name(a); })},
      X(exp) X(log) X(log1p) X(sqrt) X(erf) X(erfc) X(floor) X(ceil) X(trunc) X(sin) X(cos) X(tan) X(asin) X(acos)
          X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh)
#undef X
              {"math.absf", floats([](double a) { return std::fabs(a); })},
  };
  return *all;
}

/// Sums and products wrap around, which int64 of C++ may not: they are computed as uint64. A quotient by zero and a
/// shift beyond the width are undefined in MLIR; here they give 0, as long as the compiler does not stop.
Kernel integerKernel(StringRef name, unsigned w) {
  auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
  const llvm::StringMap<Kernel> all{
      {"arith.addi", integers([=](int64_t a, int64_t b) { return int64_t(u(a) + u(b)); })},
      {"arith.subi", integers([=](int64_t a, int64_t b) { return int64_t(u(a) - u(b)); })},
      {"arith.muli", integers([=](int64_t a, int64_t b) { return int64_t(u(a) * u(b)); })},
      {"arith.divsi", integers([=](int64_t a, int64_t b) { return b == -1 ? int64_t(-u(a))
                                                                  : b     ? a / b
                                                                          : 0; })},
      {"arith.remsi", integers([](int64_t a, int64_t b) { return b == -1 || b == 0 ? 0 : a % b; })},
      {"arith.maxsi", integers([](int64_t a, int64_t b) { return std::max(a, b); })},
      {"arith.minsi", integers([](int64_t a, int64_t b) { return std::min(a, b); })},
      {"arith.andi", integers([](int64_t a, int64_t b) { return a & b; })},
      {"arith.ori", integers([](int64_t a, int64_t b) { return a | b; })},
      {"arith.xori", integers([](int64_t a, int64_t b) { return a ^ b; })},
      {"arith.shli", integers([=](int64_t a, int64_t b) { return b >= 0 && b < w ? int64_t(u(a) << b) : 0; })},
      {"arith.shrui", unsignedIntegers(w, [=](uint64_t a, uint64_t b) { return b < w ? a >> b : 0; })},
      {"arith.shrsi", integers([=](int64_t a, int64_t b) { return a >> std::min<uint64_t>(u(b), 63); })},
      {"arith.divui", unsignedIntegers(w, [](uint64_t a, uint64_t b) { return b ? a / b : 0; })},
      {"arith.remui", unsignedIntegers(w, [](uint64_t a, uint64_t b) { return b ? a % b : 0; })},
      {"arith.maxui", unsignedIntegers(w, [](uint64_t a, uint64_t b) { return std::max(a, b); })},
      {"arith.minui", unsignedIntegers(w, [](uint64_t a, uint64_t b) { return std::min(a, b); })},
  };
  return all.lookup(name);
}

/// MLIR's own folder decides, so that predicates with NaN mean the same here.
Kernel comparison(arith::CmpFPredicate predicate) {
  return [=](Scalar *r, ArrayRef<const Scalar *> x, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      r[k].i = arith::applyCmpPredicate(predicate, APFloat(x[0][k].f), APFloat(x[1][k].f));
    }
  };
}
Kernel comparison(arith::CmpIPredicate predicate, unsigned width) {
  return [=](Scalar *r, ArrayRef<const Scalar *> x, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      APInt a(64, zeroExtended(x[0][k].i, width)), b(64, zeroExtended(x[1][k].i, width));
      r[k].i = arith::applyCmpPredicate(predicate, a.trunc(width), b.trunc(width));
    }
  };
}

/// An operation whose operand and result differ in kind, as conversions between floats and integers do.
template <typename F> Kernel unary(F f) {
  return [f](Scalar *r, ArrayRef<const Scalar *> x, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      f(r[k], x[0][k]);
    }
  };
}
int64_t toInteger(double v) { // values outside of int64 stay defined here, whatever a run makes of them
  return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 || std::isnan(v) ? INT64_MIN : static_cast<int64_t>(v);
}
/// Returns the conversion of an integer to the nearest float. It must round only once: an int64 above 2^53 that goes to
/// f32 by way of double would be rounded twice.
template <typename T> Kernel toFloat(Type type, T integer) {
  if (type.isF64()) {
    return unary([=](Scalar &r, Scalar x) { r.f = static_cast<double>(integer(x.i)); });
  }
  return unary([=](Scalar &r, Scalar x) { r.f = static_cast<float>(integer(x.i)); });
}

/// Returns an empty function for an operation that is not known here; the op is not folded then.
Kernel kernelOf(Operation &op) {
  unsigned width = 0; // bits of the operand
  if (op.getNumOperands() && op.getOperand(0).getType().isIntOrFloat()) {
    width = op.getOperand(0).getType().getIntOrFloatBitWidth();
  }
  StringRef name = op.getName().getStringRef();
  if (auto it = floatKernels().find(name); it != floatKernels().end()) {
    return it->second;
  }
  if (Kernel k = integerKernel(name, width)) {
    return k;
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    return comparison(compare.getPredicate());
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    return comparison(compare.getPredicate(), width);
  }
  if (isa<arith::SelectOp>(op)) {
    return [](Scalar *r, ArrayRef<const Scalar *> x, int64_t n) {
      for (int64_t k = 0; k < n; ++k) {
        r[k] = x[0][k].i ? x[1][k] : x[2][k];
      }
    };
  }
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op)) { // an i1 is kept as 0 or 1, but is extended to -1
    bool isBool = width == 1 && isa<arith::ExtSIOp>(op);
    return unary([=](Scalar &r, Scalar x) { r.i = isBool ? -x.i : x.i; });
  }
  if (isa<arith::ExtUIOp>(op)) {
    return unary([=](Scalar &r, Scalar x) { r.i = static_cast<int64_t>(zeroExtended(x.i, width)); });
  }
  if (isa<arith::SIToFPOp>(op)) {
    return toFloat(op.getResult(0).getType(), [](int64_t n) { return n; });
  }
  if (isa<arith::UIToFPOp>(op)) {
    return toFloat(op.getResult(0).getType(), [=](int64_t n) { return zeroExtended(n, width); });
  }
  if (isa<arith::FPToSIOp>(op)) {
    return unary([](Scalar &r, Scalar x) { r.i = toInteger(x.f); });
  }
  if (isa<arith::FPToUIOp>(op)) {
    return unary([](Scalar &r, Scalar x) {
      // Numbers from 2^63 on are a uint64, but no int64.
      r.i = x.f >= 0x1p63 && x.f < 0x1p64 ? static_cast<int64_t>(static_cast<uint64_t>(x.f)) : toInteger(x.f);
    });
  }
  if (isa<arith::BitcastOp>(op) && width == 32) { // the cast is between f32 and i32
    bool toBits = op.getOperand(0).getType().isF32();
    return unary([=](Scalar &r, Scalar x) {
      toBits ? r.i = std::bit_cast<int32_t>(static_cast<float>(x.f))
             : r.f = std::bit_cast<float>(static_cast<int32_t>(x.i));
    });
  }
  if (isa<math::AbsIOp>(op)) {
    return unary([](Scalar &r, Scalar x) { r.i = x.i < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x.i)) : x.i; });
  }
  return {};
}

/// Whether C libraries may round the op's result in different ways.
bool dependsOnLibrary(Operation &op) {
  return isa_and_nonnull<math::MathDialect>(op.getDialect()) &&
         !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::RoundEvenOp,
              math::SqrtOp, math::TruncOp>(op);
}

/// Vectors and strings are not computed here.
bool isNumber(Type type) {
  return isa<FloatType>(type) || (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64);
}

/// Rounds or wraps computed values to what the type can hold.
void wrapAround(Scalar *r, Type type, int64_t n) {
  auto each = [&](auto wrapped) {
    for (int64_t k = 0; k < n; ++k) {
      wrapped(r[k]);
    }
  };
  if (type.isF64()) {
    return;
  }
  if (type.isF32()) {
    return each([](Scalar &s) { s.f = static_cast<float>(s.f); });
  }
  if (isNarrowFloat(type)) {
    support::FloatFormat format = rowOf(type).format;
    return each([&](Scalar &s) { s.f = format.decode(format.encode(s.f)); });
  }
  each([width = type.getIntOrFloatBitWidth()](Scalar &s) { s.i = signExtended(s.i, width); });
}

/// Reads an element of a type of C++. It is an object and no function, so that loops over elements contain it.
template <typename T> struct ReadAs {
  void operator()(Scalar &s, const char *from) const {
    T v;
    std::memcpy(&v, from, sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      s.f = v;
    } else {
      s.i = v;
    }
  }
};
/// Writes elements to memory.
void write(const Row &row, int64_t n, char *to, Type type, const std::optional<FloatCodec> &codec) {
  int64_t size = elementBytes(type);
  if (type.isF32()) { // weights, of which there are millions
    for (int64_t k = 0; k < n; ++k, to += size) {
      auto f = static_cast<float>(row[k].f);
      std::memcpy(to, &f, sizeof f);
    }
    return;
  }
  for (int64_t k = 0; k < n; ++k, to += size) {
    if (codec) {
      codec->write(row[k].f, to);
    } else {
      std::memcpy(to, &row[k], size); // the low bytes come first (little endian)
    }
  }
}
/// Integers are read as they are, floats of all formats by their codec.
std::optional<FloatCodec> codecOf(Type type) {
  return isa<FloatType>(type) ? std::optional<FloatCodec>(type) : std::nullopt;
}

/// A constant operand, read chunk by chunk in the order of the result's elements.
struct Input {
  Type type;
  std::optional<FloatCodec> codec; ///< for floats
  std::vector<char> storage;
  ArrayRef<char> bytes;
  /// elements, for each of the result's axes; empty: the operand is dense in the result's own shape
  SmallVector<int64_t> strides;

  Input(ElementsAttr a, ArrayRef<int64_t> shape) : type(a.getElementType()), codec(codecOf(type)) {
    bytes = bytesOf(a, storage);
    auto own = cast<ShapedType>(a.getType()).getShape();
    if (own == shape) {
      return;
    }
    // Axes of one element, and those that the operand lacks, are walked with the stride 0, which repeats it.
    SmallVector<int64_t> dense = rowMajorStrides(own);
    strides.assign(shape.size(), 0);
    for (size_t i = 0; i < own.size(); ++i) {
      strides[shape.size() - own.size() + i] = own[i] == 1 ? 0 : dense[i];
    }
  }

  /// Fills the row with elements [first, first + n) of the result's order. `at` counts their coordinates as an odometer
  /// does, and `offset` follows by the strides, which are 0 along axes that are broadcast.
  void read(Row &row, int64_t first, int64_t n, ArrayRef<int64_t> shape) const {
    auto as = [&](auto one) { walk(row, first, n, shape, one); };
    if (type.isF32()) {
      return as(ReadAs<float>());
    }
    if (codec) {
      return as([&](Scalar &s, const char *from) { s.f = codec->read(from); });
    }
    switch (elementBytes(type)) {
    case 1:
      return as(ReadAs<int8_t>());
    case 2:
      return as(ReadAs<int16_t>());
    case 4:
      return as(ReadAs<int32_t>());
    default:
      return as(ReadAs<int64_t>());
    }
  }

private:
  /// Reads each element by `one`, in runs along the last axis.
  template <typename F> void walk(Row &row, int64_t first, int64_t n, ArrayRef<int64_t> shape, F one) const {
    int64_t size = elementBytes(type);
    if (strides.empty()) {
      for (int64_t k = 0; k < n; ++k) {
        one(row[k], bytes.data() + (first + k) * size);
      }
      return;
    }
    SmallVector<int64_t> at(shape.size());
    int64_t offset = 0, rest = first;
    for (size_t d = shape.size(); d-- > 0;) {
      at[d] = rest % shape[d], rest /= shape[d];
      offset += at[d] * strides[d];
    }
    for (int64_t k = 0; k < n;) {
      int64_t run = std::min(n - k, shape.back() - at.back());
      for (int64_t i = 0; i < run; ++i) {
        one(row[k + i], bytes.data() + (offset + i * strides.back()) * size);
      }
      k += run, at.back() += run, offset += run * strides.back();
      for (size_t d = shape.size(); d-- > 0 && at[d] == shape[d];) {
        offset -= at[d] * strides[d], at[d] = 0;
        if (d > 0) {
          ++at[d - 1], offset += strides[d - 1];
        }
      }
    }
  }
};

/// The program that a scratch block becomes, whose operations work on rows.
class Program {
public:
  /// Returns false where the op has an operand or an operation that cannot be computed here. The block's arguments
  /// stand for elements of the operands that are present.
  bool compile(Elementwise op, ArrayRef<ElementsAttr> operands) {
    auto module = op->getParentOfType<ModuleOp>();
    isReproducible = module && module->hasAttr(support::reproducibleName);
    OpBuilder b(op->getContext());
    b.getContext()->loadDialect<arith::ArithDialect, math::MathDialect>();
    b.setInsertionPointToEnd(&block);
    SmallVector<Value> x;
    for (ElementsAttr a : operands) {
      Type type = a ? valueType(a.getElementType()) : Type();
      if (type && !isNumber(type)) {
        return false;
      }
      x.push_back(a ? Value(block.addArgument(type, op.getLoc())) : Value());
      if (a) {
        rowOf(x.back());
      }
    }
    result = rowOf(op.emit(b, x));
    return llvm::all_of(block, [&](Operation &o) { return addStep(o); });
  }

  /// Returns the row of an argument; those of the arguments come first, in order.
  Row &argument(unsigned i) { return rows[i]; }
  const Row &run(int64_t n) {
    for (const Step &s : steps) {
      SmallVector<const Scalar *, 3> x;
      for (unsigned i : s.operands) {
        x.push_back(rows[i].data());
      }
      s.kernel(rows[s.result].data(), x, n);
      // What the type of a value cannot hold must not reach the next operation.
      wrapAround(rows[s.result].data(), s.type, n);
    }
    return rows[result];
  }

private:
  struct Step {
    Kernel kernel;
    SmallVector<unsigned, 3> operands;
    unsigned result;
    Type type;
  };
  Block block;
  llvm::DenseMap<Value, unsigned> numbers;
  std::vector<Row> rows;
  std::vector<Step> steps;
  unsigned result = 0;
  bool isReproducible = false; ///< C libraries, which differ in their functions, may not decide about bits

  unsigned rowOf(Value v) {
    auto [it, isNew] = numbers.try_emplace(v, rows.size());
    if (isNew) {
      rows.emplace_back(chunk);
    }
    return it->second;
  }

  /// A constant fills its row once; any other operation becomes a step that each chunk runs.
  bool addStep(Operation &op) {
    bool isNumeric = op.getNumResults() == 1 && isNumber(op.getResult(0).getType());
    if (!isNumeric || (isReproducible && dependsOnLibrary(op))) {
      return false;
    }
    unsigned to = rowOf(op.getResult(0));
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      Scalar s;
      if (auto f = dyn_cast<FloatAttr>(constant.getValue())) {
        s.f = f.getValueAsDouble();
      } else {
        APInt v = cast<IntegerAttr>(constant.getValue()).getValue();
        s.i = signExtended(v.getSExtValue(), v.getBitWidth());
      }
      rows[to].assign(chunk, s);
      return true;
    }
    Step step{kernelOf(op), {}, to, op.getResult(0).getType()};
    for (Value v : op.getOperands()) {
      step.operands.push_back(rowOf(v));
    }
    steps.push_back(step);
    return static_cast<bool>(step.kernel);
  }
};

bool isSplat(ElementsAttr a) { return !a || (isa<DenseElementsAttr>(a) && a.isSplat()); }

} // namespace

/// Where all operands have one value, it is computed once and becomes a splat, however large the result is.
ElementsAttr evaluateElementwise(Operation *op, ArrayRef<ElementsAttr> operands) {
  auto type = ranked(op->getResult(0));
  for (auto [operand, constant] : llvm::zip_equal(op->getOperands(), operands)) {
    if (present(operand) && !constant) {
      return {};
    }
  }
  Program program;
  if (!type || !type.hasStaticShape() || !program.compile(cast<Elementwise>(op), operands)) {
    return {};
  }
  Type element = type.getElementType();
  int64_t size = elementBytes(element), count = type.getNumElements();
  bool once = count > 0 && llvm::all_of(operands, isSplat);
  SmallVector<int64_t> shape(type.getShape());
  if (once) {
    shape.clear(), count = 1;
  }
  if (count * size > foldLimitBytes || !(isa<FloatType>(element) || element.isInteger())) {
    return {};
  }
  std::deque<Input> inputs; // a deque never moves its elements, whose bytes may lie in themselves
  for (ElementsAttr a : operands) {
    if (a) {
      auto own = tensorOf({}, a.getElementType());
      inputs.emplace_back(once ? ElementsAttr(cast<DenseElementsAttr>(a).resizeSplat(own)) : a, shape);
    }
  }
  std::vector<char> out(count * size);
  std::optional<FloatCodec> codec = codecOf(element);
  for (int64_t first = 0; first < count; first += chunk) {
    int64_t n = std::min(chunk, count - first);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].read(program.argument(i), first, n, shape);
    }
    write(program.run(n), n, out.data() + first * size, element, codec);
  }
  return once ? splatConstant(type, constantFromBytes(tensorOf({1}, element), std::move(out)))
              : constantFromBytes(type, std::move(out));
}

} // namespace ingot::onnx
