// Replaces math ops that the machine has no instruction for by arithmetic. Two tables map an op's name to the function
// of math/Functions.h that writes it, in f32 or f64. Rounds follow each other until a walk finds no such op, since an
// expansion may contain ops (math.floor) that some machines lack as well. Some ops are expanded together with their
// neighbours where that is cheaper or more exact, as in a sigmoid:
//
//   %e = math.exp %x;  %s = arith.addf %e, 1;  %y = arith.divf %z, %s    =>    z / expandOnePlusExp(x)
//
// At the end conversions of floats below 32 bits (Conversions) become integer arithmetic on their codes.
#include "compiler/emit/Lowering.h"
#include "compiler/emit/math/Functions.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/support/Attributes.h"
#include "compiler/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::emit;

namespace {

using Unary = Value (*)(const FloatBuilder &, Value);
using Binary = Value (*)(const FloatBuilder &, Value, Value);

Value expandRsqrt(const FloatBuilder &f, Value x) { return f.div(f.constant(1.0), f.sqrt(x)); }

const llvm::StringMap<Unary> &unaryTable() {
  static const llvm::StringMap<Unary> table = {
      {"math.exp", expandExp},     {"math.exp2", expandExp2},
      {"math.expm1", expandExpM1}, {"math.log", expandLog},
      {"math.log1p", expandLog1p}, {"math.log2", expandLog2},
      {"math.log10", expandLog10}, {"math.tanh", expandTanh},
      {"math.erf", expandErf},     {"math.erfc", expandErfc},
      {"math.sin", expandSin},     {"math.cos", expandCos},
      {"math.tan", expandTan},     {"math.asin", expandAsin},
      {"math.acos", expandAcos},   {"math.atan", expandAtan},
      {"math.sinh", expandSinh},   {"math.cosh", expandCosh},
      {"math.asinh", expandAsinh}, {"math.acosh", expandAcosh},
      {"math.atanh", expandAtanh}, {"math.cbrt", expandCbrt},
      {"math.rsqrt", expandRsqrt}, {"math.ceil", expandCeil},
      {"math.floor", expandFloor}, {"math.trunc", expandTrunc},
      {"math.round", expandRound}, {"math.roundeven", expandRoundEven},
  };
  return table;
}

const llvm::StringMap<Binary> &binaryTable() {
  static const llvm::StringMap<Binary> table = {
      {"math.powf", expandPow}, {"math.atan2", expandAtan2}, {"arith.remf", expandRemainder}};
  return table;
}

/// Whether the conversion to LLVM turns an op of the math dialect into instructions, or a call of the support library.
/// Rounding of float64 is not native on platforms without instructions for float64: it is expanded then
/// (math/Rounding.cpp).
bool isNative(Operation *op, const target::Platform &platform) {
  bool rounds = isa<math::CeilOp, math::FloorOp, math::TruncOp, math::RoundOp, math::RoundEvenOp>(op);
  if (rounds && !platform.doubles && getElementTypeOrSelf(op->getResult(0).getType()).isF64()) {
    return false;
  }
  return llvm::is_contained(platform.nativeMath, op->getName().stripDialect());
}

/// Expands `op` by one of the two functions, in f64 or in f32; floats below 32 bits are converted to f32 and back.
void expand(Operation *op, Unary unary, Binary binary, bool ldexp) {
  OpBuilder builder(op);
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  FloatBuilder own(builder, op->getLoc(), type, ldexp);
  FloatBuilder f = own.with(element.isF64() ? 64 : 32);
  Value first = f.convert(op->getOperand(0));
  unary = op->hasAttr(plan::negativeName)      ? expandExpOfNegative
          : op->hasAttr(support::fractionName) ? expandLog1pOfFraction
                                               : unary;
  Value result = unary ? unary(f, first) : binary(f, first, f.convert(op->getOperand(1)));
  op->getResult(0).replaceAllUsesWith(own.convert(result));
  op->erase();
}

void replace(Operation *op, Value with) {
  op->getResult(0).replaceAllUsesWith(with);
  op->erase();
}

std::optional<double> numberOf(Value v) {
  APFloat number(0.0);
  return matchPattern(v, m_ConstantFloat(&number)) ? std::optional(number.convertToDouble()) : std::nullopt;
}

/// Returns the other operand where `op` is an `Op` (a sum or a product) one of whose operands is the constant `number`;
/// otherwise null.
template <typename Op> Value besides(double number, Operation *op) {
  auto combined = dyn_cast<Op>(op);
  for (int i = 0; combined && i < 2; ++i) {
    if (numberOf(op->getOperand(i)) == number) {
      return op->getOperand(1 - i);
    }
  }
  return nullptr;
}

/// Replaces z * (1 / divisor) by z / divisor where nothing else uses the reciprocal, as in z * sigmoid(x): this saves
/// an operation and a rounding.
void divideFactors(Value divisor) {
  for (Operation *reciprocal : llvm::make_early_inc_range(divisor.getUsers())) {
    bool isReciprocal = isa<arith::DivFOp>(reciprocal) && numberOf(reciprocal->getOperand(0)) == 1.0;
    auto product =
        isReciprocal && reciprocal->hasOneUse() ? dyn_cast<arith::MulFOp>(*reciprocal->user_begin()) : nullptr;
    if (!product) {
      continue;
    }
    Value factor = product.getOperand(product.getLhs() == reciprocal->getResult(0) ? 1 : 0);
    OpBuilder builder(product);
    replace(product, arith::DivFOp::create(builder, product.getLoc(), factor, divisor));
    reciprocal->erase();
  }
}

/// Replaces z / (1 + e^x) by z * r with r = 1 / (1 + e^x), which takes a factor from a table in two vector registers by
/// the instruction `intrinsic`. The error of r is up to 2.25e-4 (math/Functions.h), so this is only for results that
/// become bytes (support::roundedToBytesName).
void multiplyByTable(math::ExpOp exp, const FloatBuilder &f, StringAttr intrinsic) {
  OpBuilder &b = f.opBuilder();
  auto type = cast<VectorType>(exp.getType());
  Value inverse = expandInverseForBytes(f, exp.getOperand(), [&](ArrayRef<float> table, Value number) {
    auto vectorOfTable = [&](ArrayRef<float> values) -> Value {
      return arith::ConstantOp::create(b, f.location(), DenseElementsAttr::get(type, values));
    };
    size_t lanes = type.getNumElements();
    return LLVM::CallIntrinsicOp::create(
               b, f.location(), type, intrinsic,
               {vectorOfTable(table.take_front(lanes)), f.bits(number), vectorOfTable(table.drop_front(lanes))})
        ->getResult(0);
  });
  for (Operation *sum : llvm::make_early_inc_range(exp->getUsers())) {
    for (Operation *division : llvm::make_early_inc_range(sum->getUsers())) {
      Value factor = division->getOperand(0);
      OpBuilder at(division);
      replace(division, numberOf(factor) == 1.0
                            ? inverse
                            : arith::MulFOp::create(at, division->getLoc(), factor, inverse).getResult());
    }
    sum->erase();
  }
  exp->erase();
}

/// Expands e^x together with the sum 1 + e^x where all uses of it are such sums and all uses of those are as divisors,
/// as in a sigmoid. Returns false, and changes nothing, where they are not.
bool expandDivisor(math::ExpOp exp, const FloatBuilder &f, StringAttr permute) {
  bool divides = !exp->use_empty() && llvm::all_of(exp->getUsers(), [](Operation *sum) {
    return besides<arith::AddFOp>(1.0, sum) && llvm::all_of(sum->getUses(), [](OpOperand &use) {
             return isa<arith::DivFOp>(use.getOwner()) && use.getOperandNumber() == 1;
           });
  });
  if (!divides) {
    return false;
  }
  bool roundedToBytes = exp->hasAttr(support::roundedToBytesName);
  if (roundedToBytes && permute && permute.getType() == exp.getType()) {
    multiplyByTable(exp, f, permute);
    return true;
  }
  Value divisor = expandOnePlusExp(f, exp.getOperand(), roundedToBytes);
  for (Operation *sum : llvm::make_early_inc_range(exp->getUsers())) {
    replace(sum, divisor);
  }
  exp->erase();
  divideFactors(divisor);
  return true;
}

/// Expands an erfc that is halved, erfc(c t) / 2 as GELU has it (support::tailName), as one function. Returns false
/// where `erfc` is not like that.
bool expandHalvedErfc(math::ErfcOp erfc, const FloatBuilder &f) {
  Operation *halved = erfc->hasAttr(support::tailName) && erfc->hasOneUse() ? *erfc->user_begin() : nullptr;
  auto scaled = erfc.getOperand().getDefiningOp<arith::MulFOp>();
  std::optional<double> scale = scaled ? numberOf(scaled.getRhs()) : std::nullopt;
  if (!halved || !scale || !besides<arith::MulFOp>(0.5, halved)) {
    return false;
  }
  replace(halved, expandHalfOfErfc(f, scaled.getLhs(), *scale));
  erfc->erase();
  return true;
}

/// Whether the bits of an op's result must be the same whatever else is in its kernel, so that it may not be expanded
/// with its neighbours.
bool isStrict(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  return function && function->hasAttr(plan::strictName);
}

/// Expands a function together with the ops around it where they form one of the patterns above; returns whether it
/// did.
bool expandWithNeighbours(Operation *op, bool ldexp, StringAttr permute) {
  Type type = op->getResult(0).getType();
  OpBuilder builder(op);
  FloatBuilder f(builder, op->getLoc(), type, ldexp);
  if (!getElementTypeOrSelf(type).isF32()) {
    return false;
  }
  if (auto exp = dyn_cast<math::ExpOp>(op); exp && !exp->hasAttr(plan::negativeName)) {
    return !isStrict(op) && expandDivisor(exp, f, permute);
  }
  auto erfc = dyn_cast<math::ErfcOp>(op);
  return erfc && expandHalvedErfc(erfc, f);
}

bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

/// Returns the name of the intrinsic that permutes the floats of two vectors, as an attribute whose type is that of the
/// result; null where the machine has no such instruction.
StringAttr permuteOf(MLIRContext *context, const target::MachineModel &machine) {
  auto type = VectorType::get({machine.lanes}, Float32Type::get(context));
  const char *permute = machine.intrinsic(target::Instruction::PermuteFloats);
  return permute ? StringAttr::get(permute, type) : StringAttr();
}

/// Expands the conversions (extf, truncf, bitcast) from and to floats below 32 bits that have no instruction. Such a
/// float is represented by its code, the integer of its bits in one or two bytes. For floats below 8 bits, the ops that
/// cut a byte to the code's 4 or 6 bits and extend it again are removed, too.
///
///   %i = arith.bitcast %b : i16 to bf16;  %f = arith.extf %i : bf16 to f32    =>    widenFloat(%b)
class Conversions {
public:
  Conversions(ModuleOp module, const Machines &machines) : machines(machines), b(module.getContext()) {
    module.walk([&](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp>(op) &&
          (isNarrow(op->getOperand(0).getType()) || isNarrow(op->getResult(0).getType()))) {
        found.push_back(op);
      }
    });
  }

  void expand() {
    for (Operation *op : found) {
      b.setInsertionPoint(op);
      expand(op);
    }
    for (Operation *op : llvm::reverse(found)) {
      if (!op->use_empty()) {
        continue;
      }
      Operation *before = op->getOperand(0).getDefiningOp();
      op->erase();
      if (isa_and_nonnull<arith::TruncIOp>(before) && before->use_empty()) {
        before->erase();
      }
    }
  }

private:
  const Machines &machines;
  OpBuilder b;
  SmallVector<Operation *> found;
  llvm::DenseMap<Value, Value> codes;

  static const support::FloatFormat &formatOf(Type type) {
    return support::elementType(cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics()).format;
  }
  static Type withElement(Type type, Type element) {
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type codeType(Type narrow) {
    return withElement(narrow, b.getIntegerType(getElementTypeOrSelf(narrow).getIntOrFloatBitWidth() > 8 ? 16 : 8));
  }

  Value codeOf(Value x) {
    if (Value code = codes.lookup(x)) {
      return code;
    }
    unsigned bits = formatOf(x.getType()).bits();
    Value code = arith::BitcastOp::create(b, x.getLoc(), withElement(x.getType(), b.getIntegerType(bits)), x);
    return bits < 8 ? arith::ExtUIOp::create(b, x.getLoc(), codeType(x.getType()), code).getResult() : code;
  }

  void expand(Operation *op) {
    Value in = op->getOperand(0), out = op->getResult(0);
    bool widens = isNarrow(in.getType());
    const support::FloatFormat &format = formatOf(widens ? in.getType() : out.getType());
    bool isNative =
        getElementTypeOrSelf(widens ? in.getType() : out.getType()).isF16() && machines.of(op).f16Conversions;
    if (isa<arith::TruncFOp>(op)) {
      if (!isNative || getElementTypeOrSelf(in.getType()).isF64()) {
        Value code = emit::narrowFloat(b, op->getLoc(), in, format);
        codes[out] = arith::TruncIOp::create(b, op->getLoc(), codeType(out.getType()), code);
        if (isNative) {
          out.replaceAllUsesWith(arith::BitcastOp::create(b, op->getLoc(), out.getType(), codes[out]));
        }
      }
    } else if (isNative) {
      return;
    } else if (isa<arith::ExtFOp>(op)) {
      out.replaceAllUsesWith(emit::widenFloat(b, op->getLoc(), codeOf(in), format));
    } else if (widens) {
      replaceBits(out, codeOf(in), format.bits());
    } else if (auto low = in.getDefiningOp<arith::TruncIOp>(); low && format.bits() < 8) {
      codes[out] = arith::AndIOp::create(b, op->getLoc(), low.getIn(), constant(in, (1 << format.bits()) - 1));
    } else {
      codes[out] = in;
    }
  }

  Value constant(Value narrow, int64_t n) {
    Type type = codeType(narrow.getType());
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), n);
    if (auto vector = dyn_cast<VectorType>(type)) {
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    }
    return arith::ConstantOp::create(b, narrow.getLoc(), attr);
  }

  void replaceBits(Value bits, Value code, unsigned width) {
    if (width >= 8) {
      return bits.replaceAllUsesWith(code);
    }
    for (Operation *user : llvm::make_early_inc_range(bits.getUsers())) {
      if (isa<arith::ExtUIOp>(user) && user->getResult(0).getType() == code.getType()) {
        user->getResult(0).replaceAllUsesWith(code);
        user->erase();
      }
    }
  }
};

} // namespace

/// Collects the ops that have no instruction on the machine of their function.
static SmallVector<Operation *> findMath(ModuleOp module, const Machines &machines) {
  SmallVector<Operation *> found;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    target::Platform platform = target::platformOf(machines.of(function));
    function.walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) ? !isNative(op, platform) : isa<arith::RemFOp>(op)) {
        found.push_back(op);
      }
    });
  }
  return found;
}

static LogicalResult expandAll(ArrayRef<Operation *> found, const Machines &machines) {
  for (Operation *op : found) {
    const target::MachineModel &machine = machines.of(op);
    if (machine.target && machine.target->replaceMath(op, machine)) {
      continue;
    }
    StringRef name = op->getName().getStringRef();
    auto unary = unaryTable().find(name);
    auto binary = binaryTable().find(name);
    bool isUnary = unary != unaryTable().end();
    if (!isUnary && binary == binaryTable().end()) {
      return op->emitOpError("has no expansion into instructions");
    }
    bool ldexp = machine.scaleByPowerOfTwo;
    if (!expandWithNeighbours(op, ldexp, permuteOf(op->getContext(), machine))) {
      expand(op, isUnary ? unary->second : nullptr, isUnary ? nullptr : binary->second, ldexp);
    }
  }
  return success();
}

LogicalResult ingot::emit::expandMath(ModuleOp module, const Machines &machines) {
  makeDefined(module);
  SmallVector<Operation *> found = findMath(module, machines);
  while (!found.empty()) {
    if (failed(expandAll(found, machines))) {
      return failure();
    }
    found = findMath(module, machines);
  }
  Conversions(module, machines).expand();
  return success();
}
