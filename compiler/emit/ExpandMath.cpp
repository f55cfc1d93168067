// A table from math ops to the functions that write them as arithmetic, applied in one walk: the functions emit no op
// that would have to be expanded again.
#include "compiler/emit/Lowering.h"
#include "compiler/emit/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot::emit;

namespace {

using Unary = Value (*)(const FloatBuilder &, Value);
using Binary = Value (*)(const FloatBuilder &, Value, Value);

Value expandRsqrt(const FloatBuilder &f, Value x) { return f.div(f.constant(1.0), f.sqrt(x)); }

const llvm::StringMap<Unary> &unaryTable() {
  static const llvm::StringMap<Unary> table = {
      {"math.exp", expandExp},     {"math.exp2", expandExp2}, {"math.expm1", expandExpM1}, {"math.log", expandLog},
      {"math.log1p", expandLog1p}, {"math.log2", expandLog2}, {"math.log10", expandLog10}, {"math.tanh", expandTanh},
      {"math.erf", expandErf},     {"math.erfc", expandErfc}, {"math.sin", expandSin},     {"math.cos", expandCos},
      {"math.tan", expandTan},     {"math.asin", expandAsin}, {"math.acos", expandAcos},   {"math.atan", expandAtan},
      {"math.sinh", expandSinh},   {"math.cosh", expandCosh}, {"math.asinh", expandAsinh}, {"math.acosh", expandAcosh},
      {"math.atanh", expandAtanh}, {"math.cbrt", expandCbrt}, {"math.rsqrt", expandRsqrt},
  };
  return table;
}

const llvm::StringMap<Binary> &binaryTable() {
  static const llvm::StringMap<Binary> table = {
      {"math.powf", expandPow}, {"math.atan2", expandAtan2}, {"arith.remf", expandRemainder}};
  return table;
}

/// Ops of the math dialect that the conversion to LLVM turns into instructions.
bool isNative(Operation *op) {
  static const llvm::StringSet<> native = {"absf",      "absi",     "ceil",  "floor", "trunc",  "round",
                                           "roundeven", "sqrt",     "fma",   "ctpop", "ctlz",   "cttz",
                                           "copysign",  "isfinite", "isinf", "isnan", "clampf", "isnormal"};
  return native.contains(op->getName().stripDialect());
}

/// Expands `op` in f32 or f64; narrower floats go through f32.
void expand(Operation *op, Unary unary, Binary binary, bool ldexp) {
  OpBuilder builder(op);
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  FloatBuilder own(builder, op->getLoc(), type, ldexp);
  FloatBuilder f = own.with(element.isF64() ? 64 : 32);
  Value first = f.convert(op->getOperand(0));
  unary = op->hasAttr("ingot.negative") ? expandExpOfNegative : unary;
  Value result = unary ? unary(f, first) : binary(f, first, f.convert(op->getOperand(1)));
  op->getResult(0).replaceAllUsesWith(own.convert(result));
  op->erase();
}

} // namespace

LogicalResult ingot::emit::expandMath(ModuleOp module, const target::MachineModel &machine) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()) ? !isNative(op) : isa<arith::RemFOp>(op)) {
      found.push_back(op);
    }
  });
  for (Operation *op : found) {
    StringRef name = op->getName().getStringRef();
    auto unary = unaryTable().find(name);
    auto binary = binaryTable().find(name);
    bool isUnary = unary != unaryTable().end();
    if (!isUnary && binary == binaryTable().end()) {
      return op->emitOpError("has no expansion into instructions");
    }
    auto function = op->getParentOfType<FunctionOpInterface>();
    auto cpu = function ? function->getAttrOfType<StringAttr>("ingot.cpu") : StringAttr();
    bool otherCpu = cpu && cpu.getValue() != machine.cpu;
    expand(op, isUnary ? unary->second : nullptr, isUnary ? nullptr : binary->second,
           otherCpu ? function->hasAttr("ingot.ldexp") : machine.scaleByPowerOfTwo);
  }
  return success();
}
