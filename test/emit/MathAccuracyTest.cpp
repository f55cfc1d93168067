// Every math function that emit writes as arithmetic, compiled for each x86 level at its vector length and as a scalar,
// against libm in a wider type: errors in units in the last place over the function's range and over random bit
// patterns, and special values exactly (infinities, NaN, signs of zeros, denormals).
#include "compiler/emit/Emit.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cmath>
#include <dlfcn.h>
#include <random>

using namespace ingot;

namespace {

constexpr int64_t count = 1 << 15;
using Wide = long double;

struct Function {
  const char *op;
  Wide (*one)(Wide);
  Wide (*two)(Wide, Wide);
  double low, high;    ///< where half of the values lie; the others are any bits
  double limit;        ///< |x| up to which results are compared
  double ulp32, ulp64; ///< allowed error; 0: the type is unsupported
  /// What computes {0}, of type {1}, from %a and what all formulas share; of these no infinity is compared.
  const char *formula = nullptr;
  double ofTable = 0; ///< the error, of no unit, of what is looked up (PermuteFloats); 0: it is not
};

Wide sigmoid(Wide x) { return 1 / (1 + expl(-x)); }
Wide silu(Wide x) { return x / (1 + expl(-x)); }
/// Of softmax, which takes exponentials of nothing positive: right to two ulp, but of those that are far from 1 without
/// a fused multiply-add.
Wide weight(Wide x) { return expl(-fabsl(x)); }
/// The part of Softplus that is not x: log1p of a fraction.
Wide rest(Wide x) { return log1pl(expl(-fabsl(x))); }
Wide gelu(Wide x) { return x * erfcl(-x * sqrtl(0.5L)) / 2; }

constexpr const char *sigmoidText = "%n{0} = arith.negf %a : {1}\n%e{0} = math.exp %n{0} : {1}\n"
                                    "%s{0} = arith.addf %e{0}, %one : {1}\n%v{0} = arith.divf %one, %s{0} : {1}\n";
constexpr const char *siluText = "%n{0} = arith.negf %a : {1}\n%e{0} = math.exp %n{0} : {1}\n"
                                 "%s{0} = arith.addf %e{0}, %one : {1}\n%q{0} = arith.divf %one, %s{0} : {1}\n"
                                 "%v{0} = arith.mulf %a, %q{0} : {1}\n";
/// A SiLU of which only a byte is left: it is exact within 2^-18, or comes from tables.
constexpr const char *siluOfByteText = "%n{0} = arith.negf %a : {1}\n%e{0} = math.exp %n{0} {{ingot.bytes} : {1}\n"
                                       "%s{0} = arith.addf %e{0}, %one : {1}\n%v{0} = arith.divf %a, %s{0} : {1}\n";
constexpr const char *weightText = "%t{0} = math.absf %a : {1}\n%n{0} = arith.negf %t{0} : {1}\n"
                                   "%v{0} = math.exp %n{0} {{ingot.negative} : {1}\n";
constexpr const char *restText = "%t{0} = math.absf %a : {1}\n%n{0} = arith.negf %t{0} : {1}\n"
                                 "%e{0} = math.exp %n{0} : {1}\n%v{0} = math.log1p %e{0} {{ingot.fraction} : {1}\n";
constexpr const char *geluText = "%t{0} = math.absf %a : {1}\n%u{0} = arith.minimumf %t{0}, %ten : {1}\n"
                                 "%s{0} = arith.mulf %u{0}, %root : {1}\n%e{0} = math.erfc %s{0} {{ingot.tail} : {1}\n"
                                 "%h{0} = arith.mulf %e{0}, %half : {1}\n%p{0} = arith.mulf %u{0}, %h{0} : {1}\n"
                                 "%m{0} = arith.maximumf %a, %zero : {1}\n%v{0} = arith.subf %m{0}, %p{0} : {1}\n";

const Function functions[] = {
    {"math.exp", expl, nullptr, -110, 95, HUGE_VAL, 1.1, 1.2},
    {"math.exp2", exp2l, nullptr, -155, 130, HUGE_VAL, 1.2, 2},
    {"math.expm1", expm1l, nullptr, -5, 5, HUGE_VAL, 2, 2},
    {"math.log", logl, nullptr, 0, 4, HUGE_VAL, 1.1, 1.1},
    {"math.log1p", log1pl, nullptr, -1, 3, HUGE_VAL, 2, 2},
    {"math.log2", log2l, nullptr, 0, 4, HUGE_VAL, 0.51, 4},
    {"math.log10", log10l, nullptr, 0, 4, HUGE_VAL, 0.51, 4},
    {"math.tanh", tanhl, nullptr, -12, 12, HUGE_VAL, 2, 2.5},
    {"math.erf", erfl, nullptr, -5, 5, HUGE_VAL, 1.2, 2},
    {"math.erfc", erfcl, nullptr, -5, 2, 2, 30, 400},
    {"math.sin", sinl, nullptr, -30, 30, HUGE_VAL, 0.51, 2},
    {"math.cos", cosl, nullptr, -30, 30, HUGE_VAL, 0.51, 2},
    {"math.tan", tanl, nullptr, -30, 30, HUGE_VAL, 0.51, 4},
    {"math.asin", asinl, nullptr, -1, 1, HUGE_VAL, 0.51, 4},
    {"math.acos", acosl, nullptr, -1, 1, HUGE_VAL, 0.51, 4},
    {"math.atan", atanl, nullptr, -4, 4, HUGE_VAL, 2, 2},
    {"math.sinh", sinhl, nullptr, -90, 90, HUGE_VAL, 0.51, 4},
    {"math.cosh", coshl, nullptr, -90, 90, HUGE_VAL, 0.51, 4},
    {"math.asinh", asinhl, nullptr, -4, 4, HUGE_VAL, 0.51, 4},
    {"math.acosh", acoshl, nullptr, 0.5, 4, HUGE_VAL, 0.51, 4},
    {"math.atanh", atanhl, nullptr, -1, 1, HUGE_VAL, 0.51, 4},
    {"math.cbrt", cbrtl, nullptr, -4, 4, HUGE_VAL, 0.51, 2},
    {"math.powf", nullptr, powl, -3, 3, HUGE_VAL, 0.51, 400},
    {"math.atan2", nullptr, atan2l, -3, 3, HUGE_VAL, 0.51, 4},
    {"arith.remf", nullptr, fmodl, -9, 9, HUGE_VAL, 0.0001, 0.0001},
    {"sigmoid", sigmoid, nullptr, -16, 16, 16, 16, 2, sigmoidText},
    {"silu", silu, nullptr, -16, 16, 16, 16, 2.5, siluText},
    {"silu of a byte", silu, nullptr, -16, 16, 16, 64, 2.5, siluOfByteText, 2.25e-4},
    {"weight", weight, nullptr, -40, 40, 87, 72, 1.2, weightText},
    {"rest of softplus", rest, nullptr, -16, 16, 87, 3.5, 3.5, restText},
    {"gelu", gelu, nullptr, -2, 5, 2, 24, 40, geluText},
};

/// One module: @math_run(x, y, a result for each function, workspace, exec).
std::string moduleText(llvm::StringRef type, int64_t lanes) {
  std::string memref = llvm::formatv("memref<{0}x{1}>", count, type);
  std::string value = lanes == 1 ? type.str() : llvm::formatv("vector<{0}x{1}>", lanes, type).str();
  std::string prefix = lanes == 1 ? "memref" : "vector", suffix = lanes == 1 ? "" : ", " + value;
  std::string parameters, body;
  const std::pair<const char *, const char *> constants[] = {
      {"zero", "-0.0"}, {"half", "0.5"}, {"one", "1.0"}, {"ten", "10.0"}, {"root", "0.7071067811865476"}};
  for (auto [name, number] : constants) {
    body += llvm::formatv(lanes == 1 ? "%{0} = arith.constant {1} : {2}\n" : "%{0} = arith.constant dense<{1}> : {2}\n",
                          name, number, value);
  }
  for (auto [number, function] : llvm::enumerate(functions)) {
    if (type == "f64" && function.ulp64 == 0) {
      continue;
    }
    parameters += llvm::formatv("%r{0}: {1}, ", number, memref);
    body +=
        function.formula
            ? llvm::formatv(/*Validate=*/false, function.formula, number, value).str()
            : llvm::formatv("%v{0} = {1} %a{2} : {3}\n", number, function.op, function.two ? ", %b" : "", value).str();
    body += llvm::formatv("{0}.store %v{1}, %r{1}[%i] : {2}{3}\n", prefix, number, memref, suffix);
  }
  return llvm::formatv("func.func @math_run(%x: {0}, %y: {0}, {1} %w: memref<1xi8>, %e: !llvm.ptr) -> i32 {{\n"
                       "%c0 = arith.constant 0 : index\n%cn = arith.constant {2} : index\n"
                       "%cs = arith.constant {3} : index\n%ok = arith.constant 0 : i32\n"
                       "scf.for %i = %c0 to %cn step %cs {{\n"
                       "%a = {4}.load %x[%i] : {0}{5}\n%b = {4}.load %y[%i] : {0}{5}\n{6}}\nreturn %ok : i32\n}\n",
                       memref, parameters, count, lanes, prefix, suffix, body);
}

plan::ModelInfo describe(bool isDouble) {
  plan::TensorInfo tensor{"t", isDouble ? 11 : 1, {count}, count * (isDouble ? 8 : 4)};
  plan::ModelInfo model;
  model.name = "math";
  model.inputs = {tensor, tensor};
  for (const Function &function : functions) {
    if (!isDouble || function.ulp64 != 0) {
      model.outputs.push_back(tensor);
    }
  }
  return model;
}

using GenericRun = int (*)(const void *const *, void *const *, int64_t *, void *, const void *);

/// Compiles and loads; the library stays loaded.
GenericRun compile(const target::MachineModel &machine, bool isDouble, int64_t lanes) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(moduleText(isDouble ? "f64" : "f32", lanes), &context);
  llvm::SmallString<128> folder;
  if (!module || llvm::sys::fs::createUniqueDirectory("ingot-math", folder)) {
    return nullptr;
  }
  emit::Options options;
  options.dir = folder.str().str();
  options.kinds = {emit::Kind::Shared};
  emit::Result result;
  GenericRun run = nullptr;
  plan::ModelInfo info = describe(isDouble);
  if (mlir::succeeded(emitModel(*module, machine, info, {}, options, result))) {
    void *library = dlopen((options.dir + "/math.so").c_str(), RTLD_NOW);
    auto model = library ? reinterpret_cast<const char *(*)()>(dlsym(library, "math_model")) : nullptr;
    // `run` is the last field but one of ingot_model.
    run = model ? *reinterpret_cast<const GenericRun *>(model() + 104) : nullptr;
  }
  llvm::sys::fs::remove_directories(folder);
  return run;
}

template <typename T> std::vector<T> specialValues() {
  T smallest = std::numeric_limits<T>::denorm_min(), largest = std::numeric_limits<T>::max();
  // The number that is closest to a multiple of pi/2.
  T nearTurns = sizeof(T) == 8 ? T(std::ldexp(6381956970095103.0, 797)) : T(std::ldexp(16367173.0, 72));
  std::vector<T> values = {0,        T(0.5),
                           1,        2,
                           3,        T(1e-30),
                           smallest, std::numeric_limits<T>::min(),
                           largest,  std::numeric_limits<T>::infinity(),
                           T(1e18),  nearTurns};
  for (size_t i = 0, n = values.size(); i < n; ++i) {
    values.push_back(-values[i]);
  }
  values.push_back(std::numeric_limits<T>::quiet_NaN());
  values.push_back(T(nan("0x1ff")));
  return values;
}

/// All pairs of special values, then the function's range, then any bits.
template <typename T> void fill(const Function &function, std::vector<T> &x, std::vector<T> &y) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> range(function.low, function.high);
  std::vector<T> special = specialValues<T>();
  for (size_t i = 0; i < count; ++i) {
    if (i < special.size() * special.size()) {
      x[i] = special[i / special.size()], y[i] = special[i % special.size()];
    } else if (i < count / 2) {
      x[i] = T(range(random)), y[i] = T(range(random));
      y[i] = i % 4 == 0 ? std::round(y[i]) : y[i];
    } else {
      uint64_t bits[2] = {random(), random()};
      memcpy(&x[i], &bits[0], sizeof(T)), memcpy(&y[i], &bits[1], sizeof(T));
    }
  }
}

/// Distance in units in the last place of the rounded reference; infinite when one is special and the other is not.
template <typename T> double error(T got, Wide reference) {
  T rounded = T(reference);
  if (std::isnan(rounded) || std::isnan(got)) {
    return std::isnan(rounded) && std::isnan(got) ? 0 : HUGE_VAL;
  }
  if (std::signbit(got) != std::signbit(rounded)) {
    return HUGE_VAL;
  }
  T ulp = std::nextafter(std::abs(rounded), std::numeric_limits<T>::infinity()) - std::abs(rounded);
  if (std::isinf(rounded) || std::isinf(got)) {
    // Within rounding of the largest number either is right.
    bool close =
        std::abs(reference) > Wide(std::numeric_limits<T>::max()) * (1 - 4 * std::numeric_limits<T>::epsilon());
    return got == rounded || close ? 0 : HUGE_VAL;
  }
  return double(std::abs(Wide(got) - reference) / ulp);
}

template <typename T> void check(llvm::StringRef spec, int64_t lanes) {
  constexpr bool isDouble = sizeof(T) == 8;
  llvm::Expected<target::MachineModel> machine = target::resolveMachine(spec);
  ASSERT_TRUE(bool(machine));
  if (std::string lacking = machine->target->hostLacks(*machine); !lacking.empty()) {
    GTEST_SKIP() << "this host lacks " << lacking;
  }
  GenericRun run = compile(*machine, isDouble, lanes);
  ASSERT_NE(run, nullptr);
  std::vector<std::vector<T>> results(std::size(functions), std::vector<T>(count));
  std::vector<T> x(count), y(count);
  std::vector<void *> outputs;
  for (auto [result, function] : llvm::zip(results, functions)) {
    if (!isDouble || function.ulp64 != 0) {
      outputs.push_back(result.data());
    }
  }
  for (auto [result, function] : llvm::zip(results, functions)) {
    double allowed = isDouble ? function.ulp64 : function.ulp32;
    if (allowed == 0) {
      continue;
    }
    bool isLookedUp = function.ofTable > 0 && !isDouble && machine->has(target::Instruction::PermuteFloats) &&
                      lanes == machine->lanes;
    double limit = isLookedUp ? 1e4 : function.limit;
    fill(function, x, y);
    const void *inputs[] = {x.data(), y.data()};
    ASSERT_EQ(run(inputs, outputs.data(), nullptr, nullptr, nullptr), 0);
    double worst = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (!(std::abs(x[i]) <= limit) && isLookedUp) {
        continue;
      }
      if (std::abs(x[i]) > limit && (function.formula || !std::isinf(x[i]))) {
        continue;
      }
      Wide right = function.one ? function.one(x[i]) : function.two(x[i], y[i]);
      double now =
          isLookedUp ? double(std::abs(Wide(result[i]) - right)) / function.ofTable * allowed : error(result[i], right);
      if (now > worst) {
        worst = now, at = i;
      }
    }
    EXPECT_LE(worst, allowed) << function.op << "(" << x[at] << ", " << y[at] << ") = " << result[at] << ", "
                              << (function.one ? function.one(x[at]) : function.two(x[at], y[at])) << " is right";
    if (std::getenv("INGOT_PRINT_ULP")) {
      printf("%-12s %s x%d %.2f ulp at %.9g\n", function.op, spec.str().c_str(), int(lanes), worst, double(x[at]));
    }
  }
}

TEST(MathAccuracy, ScalarV2) { check<float>("x86-64-v2", 1); }
TEST(MathAccuracy, VectorV2) { check<float>("x86-64-v2", 4); }
TEST(MathAccuracy, DoubleV2) { check<double>("x86-64-v2", 2); }

TEST(MathAccuracy, ScalarV3) { check<float>("x86-64-v3", 1); }
TEST(MathAccuracy, VectorV3) { check<float>("x86-64-v3", 8); }
TEST(MathAccuracy, DoubleV3) { check<double>("x86-64-v3", 4); }
TEST(MathAccuracy, VectorV4) { check<float>("x86-64-v4", 16); }
TEST(MathAccuracy, ScalarV4) { check<float>("x86-64-v4", 1); }

} // namespace
