// Each row of a target's table of instructions is what LLVM has under that name: it has the type that Instructions.def
// says, and LLVM makes code of it for the machines that the row is for.
#include "compiler/target/Target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace ingot::target;

namespace {

/// Returns a type of LLVM; null: there is none.
Type *typeOf(OperandType operand, int64_t lanes, LLVMContext &context) {
  auto vectorOf = [&](Type *element) -> Type * {
    EXPECT_GT(lanes, 0) << "vectors have no length where a row counts for any number of lanes";
    return FixedVectorType::get(element, unsigned(std::max<int64_t>(1, lanes)) * 32 / element->getScalarSizeInBits());
  };
  switch (operand) {
  case OperandType::Int8s:
    return vectorOf(Type::getInt8Ty(context));
  case OperandType::Int16s:
    return vectorOf(Type::getInt16Ty(context));
  case OperandType::Int32s:
    return vectorOf(Type::getInt32Ty(context));
  case OperandType::Bfloat16s:
    return vectorOf(Type::getBFloatTy(context));
  case OperandType::Floats:
    return vectorOf(Type::getFloatTy(context));
  case OperandType::Tile:
    return Type::getInt8Ty(context);
  case OperandType::Word:
    return Type::getInt32Ty(context);
  case OperandType::Int64:
    return Type::getInt64Ty(context);
  case OperandType::Pointer:
    return PointerType::getUnqual(context);
  case OperandType::None:
    break;
  }
  return nullptr;
}

FunctionType *typeOf(const InstructionRow &row, LLVMContext &context) {
  std::array<OperandType, 4> types = infoOf(row.instruction).types;
  Type *result = typeOf(types.front(), row.lanes, context);
  SmallVector<Type *> operands;
  for (OperandType each : ArrayRef(types).drop_front()) {
    if (Type *type = typeOf(each, row.lanes, context)) {
      operands.push_back(type);
    }
  }
  return FunctionType::get(result ? result : Type::getVoidTy(context), operands, /*isVarArg=*/false);
}

/// Returns the machine of the first level with such vectors.
std::optional<MachineModel> machineFor(const ingot::target::Target &target, const InstructionRow &row) {
  for (const Level &level : target.levels()) {
    Expected<MachineModel> machine = target.machine(level.spec);
    if (machine && (row.lanes == 0 || row.lanes == machine->lanes)) {
      return *machine;
    }
    consumeError(machine.takeError());
  }
  return std::nullopt;
}

/// Returns a module with a function that executes the instruction on its arguments.
std::unique_ptr<Module> functionOf(const InstructionRow &row, LLVMContext &context) {
  auto module = std::make_unique<Module>(row.intrinsic, context);
  FunctionType *type = typeOf(row, context);
  auto *function = Function::Create(type, Function::ExternalLinkage, "f", *module);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  SmallVector<Value *> operands;
  for (Argument &argument : function->args()) { // numbers of registers are constants
    operands.push_back(argument.getType()->isIntegerTy(8) ? static_cast<Value *>(builder.getInt8(1)) : &argument);
  }
  Intrinsic::ID id = Intrinsic::lookupIntrinsicID(row.intrinsic);
  Value *result = builder.CreateIntrinsic(type->getReturnType(), id, operands);
  type->getReturnType()->isVoidTy() ? builder.CreateRetVoid() : builder.CreateRet(result);
  return module;
}

template <typename Visit> void forEachRow(Visit visit) {
  for (const std::unique_ptr<ingot::target::Target> &target : allTargets()) {
    for (const InstructionRow &row : target->instructions()) {
      visit(*target, row);
    }
  }
}

} // namespace

TEST(Instructions, HaveLlvmsTypes) {
  size_t rows = 0;
  forEachRow([&](const ingot::target::Target &, const InstructionRow &row) {
    LLVMContext context;
    Intrinsic::ID id = Intrinsic::lookupIntrinsicID(row.intrinsic);
    ASSERT_NE(id, Intrinsic::not_intrinsic) << row.intrinsic;
    SmallVector<Type *> overloaded;
    EXPECT_TRUE(Intrinsic::getIntrinsicSignature(id, typeOf(row, context), overloaded))
        << row.intrinsic << " is no " << infoOf(row.instruction).name;
    ++rows;
  });
  EXPECT_GT(rows, 30U);
}

// Else LLVM ends the process: it cannot select an instruction that the CPU does not have.
TEST(Instructions, NeedWhatTheirRowsSay) {
  forEachRow([](const ingot::target::Target &target, const InstructionRow &row) {
    std::optional<MachineModel> machine = machineFor(target, row);
    ASSERT_TRUE(machine) << row.intrinsic;
    std::string error, features = machine->features + (*row.needs ? "," : "") + row.needs;
    Triple triple(machine->triple);
    const llvm::Target *llvmTarget = TargetRegistry::lookupTarget(triple, error);
    ASSERT_TRUE(llvmTarget) << error;
    std::unique_ptr<TargetMachine> codeGenerator(
        llvmTarget->createTargetMachine(triple, machine->cpu, features, TargetOptions(), Reloc::PIC_));
    LLVMContext context;
    std::unique_ptr<Module> module = functionOf(row, context);
    module->setTargetTriple(triple);
    module->setDataLayout(codeGenerator->createDataLayout());
    SmallVector<char, 0> code;
    raw_svector_ostream stream(code);
    legacy::PassManager passes;
    ASSERT_FALSE(codeGenerator->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile));
    passes.run(*module);
    EXPECT_FALSE(code.empty()) << row.intrinsic;
  });
}

// C++ source knows what an intrinsic does by its name.
TEST(Instructions, AreFoundByName) {
  forEachRow([](const ingot::target::Target &, const InstructionRow &row) {
    EXPECT_EQ(instructionOf(row.intrinsic), row.instruction) << row.intrinsic;
  });
  EXPECT_EQ(instructionOf("llvm.x86.sse2.pmadd"), std::nullopt);
}

TEST(Instructions, BelongToMachines) {
  using ingot::target::Instruction;
  auto machine = [](StringRef spec) { return cantFail(resolveMachine(spec)); };
  EXPECT_STREQ(machine("znver4").intrinsic(Instruction::ByteDot4), "llvm.x86.avx512.vpdpbusd.512");
  EXPECT_STREQ(machine("arrowlake").intrinsic(Instruction::ByteDot4), "llvm.x86.avx512.vpdpbusd.256");
  EXPECT_FALSE(machine("x86-64-v4").has(Instruction::ByteDot4)); // AVX-512 without VNNI
  EXPECT_STREQ(machine("x86-64-v2").intrinsic(Instruction::Int16Dot2), "llvm.x86.sse2.pmadd.wd");
  EXPECT_FALSE(machine("znver5").has(Instruction::TileConfigure));
  EXPECT_TRUE(machine("sapphirerapids").has(Instruction::TileBfloat16Dot));
  EXPECT_TRUE(machine("armv8.6-a").has(Instruction::ByteDot4));
  EXPECT_FALSE(machine("armv8-a").has(Instruction::ByteDot4));
}
