// Makes instructions on 64 bits that a machine does not have calls of the support library (core/wide.c). LLVM would
// call a library that comes with a C compiler, which a program need not link. Floats are handed over as their bits:
//
//   %q = udiv i64 %a, %b         =>   %q = call i64 @ingot_wide_udiv(i64 %a, i64 %b)
//   %s = fadd double %x, %y      =>   %s = bitcast (call i64 @ingot_wide_add(i64 bits of %x, i64 bits of %y))
//   %c = fcmp ole double %x, %y  =>   %c = (call i32 @ingot_wide_compare(...) & 5) != 0
//
// The last one works since predicates of LLVM are sets of outcomes, 1 for equal, 2 for greater, 4 for less and 8 for
// unordered, of which the function returns one. Divisions by powers of two stay, since they are shifts and masks.
//
// Where a machine has no float32 either, LLVM calls the library of the C compiler (Platform::compilerCalls), which has
// sums and products but no functions. These become a square root in float64, which rounds to the right float32, and
// integer arithmetic for the larger and the smaller of two.
//
// This comes behind all passes, which know more of instructions than of calls.
#include "compiler/emit/CodeGen.h"
#include "compiler/target/Platform.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace {

struct Named {
  unsigned code; ///< the number of an instruction or an intrinsic
  const char *name;
};

constexpr Named integers[] = {
    {Instruction::UDiv, "udiv"}, {Instruction::URem, "urem"}, {Instruction::SDiv, "sdiv"}, {Instruction::SRem, "srem"}};
constexpr Named doubles[] = {
    {Instruction::FAdd, "add"}, {Instruction::FSub, "sub"}, {Instruction::FMul, "mul"}, {Instruction::FDiv, "div"}};
constexpr Named functions[] = {
    {Intrinsic::sqrt, "sqrt"}, {Intrinsic::maximum, "maximum"}, {Intrinsic::minimum, "minimum"}};

const char *nameOf(ArrayRef<Named> table, unsigned code) {
  const Named *row = llvm::find_if(table, [&](const Named &each) { return each.code == code; });
  return row == table.end() ? nullptr : row->name;
}

class WideCalls {
public:
  WideCalls(Module &ir, const ingot::target::Platform &platform)
      : ir(ir), builder(ir.getContext()), platform(platform) {}

  void run() {
    for (Function &function : ir) {
      for (Instruction &instruction : llvm::make_early_inc_range(instructions(function))) {
        builder.SetInsertPoint(&instruction);
        if (Value *result = replacement(instruction)) {
          instruction.replaceAllUsesWith(result);
          instruction.eraseFromParent();
        }
      }
    }
  }

private:
  Module &ir;
  IRBuilder<> builder;
  const ingot::target::Platform &platform;

  bool isFloat(Type *type) { return type->isFloatTy() && !platform.floats; }
  bool isDouble(Type *type) { return type->isDoubleTy() && !platform.doubles; }
  bool isLong(Type *type) { return type->isIntegerTy(64) && !platform.longDivision; }

  Value *replacement(Instruction &instruction) {
    if (auto *operation = dyn_cast<BinaryOperator>(&instruction)) {
      return binary(*operation);
    }
    if (auto *cast = dyn_cast<CastInst>(&instruction)) {
      return conversion(*cast);
    }
    if (auto *comparison = dyn_cast<FCmpInst>(&instruction)) {
      return compared(*comparison);
    }
    auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
    if (!intrinsic || isFloat(intrinsic->getType())) {
      return intrinsic ? floatFunction(*intrinsic) : nullptr;
    }
    return isDouble(intrinsic->getType()) ? function(*intrinsic) : nullptr;
  }

  /// Returns an integer type as long as a float, or the integer type itself.
  Type *bitsOf(Type *type) {
    return type->isFloatingPointTy() ? builder.getIntNTy(type->getPrimitiveSizeInBits()) : type;
  }

  Value *call(const Twine &name, Type *result, ArrayRef<Value *> arguments) {
    SmallVector<Value *> bits;
    SmallVector<Type *> types;
    for (Value *argument : arguments) {
      bits.push_back(builder.CreateBitCast(argument, bitsOf(argument->getType())));
      types.push_back(bits.back()->getType());
    }
    FunctionCallee callee =
        ir.getOrInsertFunction(("ingot_wide_" + name).str(), FunctionType::get(bitsOf(result), types, false));
    return builder.CreateBitCast(builder.CreateCall(callee, bits), result);
  }

  Value *binary(BinaryOperator &operation) {
    Type *type = operation.getType();
    Value *a = operation.getOperand(0), *b = operation.getOperand(1);
    bool isShift = PatternMatch::match(b, PatternMatch::m_Power2());
    const char *name = isDouble(type)             ? nameOf(doubles, operation.getOpcode())
                       : isLong(type) && !isShift ? nameOf(integers, operation.getOpcode())
                                                  : nullptr;
    return name ? call(name, type, {a, b}) : nullptr;
  }

  Value *conversion(CastInst &cast) {
    Value *x = cast.getOperand(0);
    Type *from = x->getType(), *to = cast.getType(), *i64 = builder.getInt64Ty();
    bool isNarrow = !isDouble(from) && !isDouble(to);
    if (isNarrow && !isLong(from) && !isLong(to)) {
      return nullptr;
    }
    std::string ofDouble = from->isDoubleTy() || to->isDoubleTy() ? "" : "float";
    switch (cast.getOpcode()) {
    case Instruction::FPExt:
      return call("from_float", to, {x});
    case Instruction::FPTrunc:
      return call("to_float", to, {x});
    case Instruction::SIToFP:
    case Instruction::UIToFP: {
      bool isSigned = cast.getOpcode() == Instruction::SIToFP;
      std::string integer = isSigned ? "int64" : "uint64";
      // Shorter integers are converted by way of 64 bits, which the library has functions for.
      Value *wide = builder.CreateIntCast(x, i64, isSigned);
      return call(ofDouble.empty() ? "from_" + integer : integer + "_to_float", to, {wide});
    }
    case Instruction::FPToSI:
    case Instruction::FPToUI: {
      std::string integer = cast.getOpcode() == Instruction::FPToSI ? "to_int64" : "to_uint64";
      Value *wide = call(ofDouble.empty() ? integer : ofDouble + "_" + integer, i64, {x});
      return builder.CreateTrunc(wide, to);
    }
    default:
      return nullptr;
    }
  }

  /// Compares by a function that answers with a bit; predicates of LLVM are made of the same bits.
  Value *compared(FCmpInst &comparison) {
    if (!isDouble(comparison.getOperand(0)->getType())) {
      return nullptr;
    }
    Value *order = call("compare", builder.getInt32Ty(), {comparison.getOperand(0), comparison.getOperand(1)});
    return builder.CreateIsNotNull(builder.CreateAnd(order, comparison.getPredicate()));
  }

  Value *function(IntrinsicInst &intrinsic) {
    Type *type = intrinsic.getType();
    // fmuladd leaves open whether the product is rounded, fma does not.
    if (intrinsic.getIntrinsicID() == Intrinsic::fmuladd) {
      Value *product = call("mul", type, {intrinsic.getArgOperand(0), intrinsic.getArgOperand(1)});
      return call("add", type, {product, intrinsic.getArgOperand(2)});
    }
    const char *name = nameOf(functions, intrinsic.getIntrinsicID());
    return name ? call(name, type, SmallVector<Value *>(intrinsic.args())) : nullptr;
  }

  /// Returns what a function of float32 is in other terms. float64 has more than twice the bits, so that its square
  /// root, rounded again, is what one rounding would have given.
  Value *floatFunction(IntrinsicInst &intrinsic) {
    Type *type = intrinsic.getType();
    switch (intrinsic.getIntrinsicID()) {
    case Intrinsic::sqrt: {
      Value *wide = call("from_float", builder.getDoubleTy(), {intrinsic.getArgOperand(0)});
      return call("to_float", type, {call("sqrt", builder.getDoubleTy(), {wide})});
    }
    case Intrinsic::maximum:
      return extreme(intrinsic.getArgOperand(0), intrinsic.getArgOperand(1), CmpInst::ICMP_SGT);
    case Intrinsic::minimum:
      return extreme(intrinsic.getArgOperand(0), intrinsic.getArgOperand(1), CmpInst::ICMP_SLT);
    default:
      return nullptr;
    }
  }

  /// Returns one of two floats by their order, in which -0 is below 0, or a NaN where one is there: the bits of floats
  /// are ordered as integers are, those of negative ones the other way round.
  Value *extreme(Value *a, Value *b, CmpInst::Predicate first) {
    Value *bits[] = {builder.CreateBitCast(a, builder.getInt32Ty()), builder.CreateBitCast(b, builder.getInt32Ty())};
    Value *keys[2], *isNan[2];
    for (int i = 0; i < 2; ++i) {
      Value *magnitude = builder.CreateAnd(bits[i], builder.getInt32(0x7fffffff));
      isNan[i] = builder.CreateICmpUGT(magnitude, builder.getInt32(0x7f800000));
      Value *mask = builder.CreateLShr(builder.CreateAShr(bits[i], 31), 1);
      keys[i] = builder.CreateXor(bits[i], mask);
    }
    Value *takesA = builder.CreateOr(isNan[0], builder.CreateICmp(first, keys[0], keys[1]));
    takesA = builder.CreateAnd(takesA, builder.CreateOr(isNan[0], builder.CreateNot(isNan[1])));
    return builder.CreateSelect(takesA, a, b);
  }
};

static_assert(FCmpInst::FCMP_OEQ == 1 && FCmpInst::FCMP_OGT == 2 && FCmpInst::FCMP_OLT == 4 && FCmpInst::FCMP_UNO == 8);

} // namespace

void ingot::emit::callForWideArithmetic(Module &ir, const target::MachineModel &machine) {
  target::Platform platform = target::platformOf(machine);
  if (!platform.floats || !platform.doubles || !platform.longDivision) {
    WideCalls(ir, platform).run();
  }
}
