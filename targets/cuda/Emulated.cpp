// Intrinsics and inline assembly become calls with a C interface, the block's memory an address that the emulator
// gives, and kernels get their parameters from words in memory. Pointers keep their address spaces, which x86-64 takes
// for one.
#include "targets/cuda/Emulated.h"
#include "compiler/emit/DeviceObject.h"
#include "compiler/emit/Linker.h"
#include "compiler/emit/Object.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace ingot::targets::cuda {
namespace {

constexpr StringLiteral prefix = "ingot_emulated_";

class Emulation {
public:
  explicit Emulation(Module &ir)
      : ir(ir), context(ir.getContext()), pointer(PointerType::get(context, 0)), i32(Type::getInt32Ty(context)),
        i64(Type::getInt64Ty(context)) {}

  /// Calls the emulator in the place of all intrinsics of PTX.
  void callForIntrinsics() {
    SmallVector<Function *> intrinsics;
    for (Function &function : ir) {
      if (function.getName().starts_with("llvm.nvvm.")) {
        intrinsics.push_back(&function);
      }
    }
    for (Function *intrinsic : intrinsics) {
      for (User *user : make_early_inc_range(intrinsic->users())) {
        replace(*cast<CallInst>(user));
      }
      intrinsic->eraseFromParent();
    }
  }

  /// Calls the emulator in the place of inline assembly (Images.h).
  void callForAssembly() {
    SmallVector<CallInst *> calls;
    for (Function &function : ir) {
      for (Instruction &instruction : instructions(function)) {
        auto *call = dyn_cast<CallInst>(&instruction);
        if (call && call->isInlineAsm()) {
          calls.push_back(call);
        }
      }
    }
    for (CallInst *call : calls) {
      std::string name = cast<InlineAsm>(call->getCalledOperand())->getAsmString().str();
      if (name.empty()) { // it was for LLVM alone
        call->eraseFromParent();
        continue;
      }
      name = prefix.str() + name.substr(0, name.find(' '));
      std::replace(name.begin(), name.end(), '.', '_');
      replaceAssembly(*call, name);
    }
  }

  /// Asks the emulator for the block's memory, at each place that speaks of it.
  void askForSharedMemory() {
    GlobalVariable *shared = ir.getNamedGlobal(sharedName);
    if (!shared) {
      return;
    }
    convertUsersOfConstantsToInstructions(shared);
    FunctionCallee where = ir.getOrInsertFunction((prefix + "shared").str(), pointer, i64);
    for (Use &use : make_early_inc_range(shared->uses())) {
      auto *user = cast<Instruction>(use.getUser());
      auto *phi = dyn_cast<PHINode>(user);
      IRBuilder<> b(phi ? phi->getIncomingBlock(use)->getTerminator() : user);
      use.set(b.CreateAddrSpaceCast(b.CreateCall(where, ConstantInt::get(i64, 0)), shared->getType()));
    }
    shared->eraseFromParent();
  }

  /// Calls the emulator before what reads and writes memory that is not on the thread's stack.
  void watch() {
    SmallVector<Instruction *> accesses;
    for (Function &function : ir) {
      for (Instruction &instruction : instructions(function)) {
        if (isa<LoadInst, StoreInst, AtomicCmpXchgInst, AtomicRMWInst>(instruction)) {
          accesses.push_back(&instruction);
        }
      }
    }
    FunctionCallee access =
        ir.getOrInsertFunction((prefix + "access").str(), Type::getVoidTy(context), pointer, i32, i32);
    for (Instruction *instruction : accesses) {
      auto *load = dyn_cast<LoadInst>(instruction);
      auto *store = dyn_cast<StoreInst>(instruction);
      Value *at = load ? load->getPointerOperand() : store ? store->getPointerOperand() : instruction->getOperand(0);
      if (isa<AllocaInst>(getUnderlyingObject(at))) {
        continue;
      }
      Type *type = load ? load->getType() : instruction->getOperand(store ? 0 : 1)->getType();
      uint64_t bytes = ir.getDataLayout().getTypeStoreSize(type);
      IRBuilder<> b(instruction);
      b.CreateCall(access, {generic(b, at), ConstantInt::get(i32, bytes),
                            ConstantInt::get(i32, load    ? 0
                                                  : store ? 1
                                                          : 2)});
    }
  }

  /// Makes a kernel's parameters words in memory.
  void takeWords(StringRef name) {
    Function *kernel = ir.getFunction(name);
    kernel->setName(name + "_thread");
    kernel->setLinkage(GlobalValue::InternalLinkage);
    kernel->setCallingConv(CallingConv::C);
    auto *type = FunctionType::get(Type::getVoidTy(context), pointer, false);
    Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, name, ir);
    IRBuilder<> b(BasicBlock::Create(context, "", entry));
    SmallVector<Value *> arguments;
    for (auto [i, parameter] : enumerate(kernel->args())) {
      Value *word = b.CreateConstGEP1_64(i64, entry->getArg(0), i);
      arguments.push_back(b.CreateLoad(parameter.getType(), word));
    }
    b.CreateCall(kernel, arguments);
    b.CreateRetVoid();
  }

private:
  Module &ir;
  LLVMContext &context;
  PointerType *pointer;
  Type *i32, *i64;

  static bool isByAddress(const Type *type) {
    return !type->isVoidTy() && !type->isIntegerTy() && !type->isFloatTy() && !type->isDoubleTy() &&
           !type->isPointerTy();
  }

  Value *generic(IRBuilder<> &b, Value *at) {
    return at->getType() == pointer ? at : b.CreateAddrSpaceCast(at, pointer);
  }

  /// Returns an array on the stack.
  static AllocaInst *room(CallInst &call, Type *type) {
    IRBuilder<> b(&*call.getFunction()->getEntryBlock().getFirstInsertionPt());
    return b.CreateAlloca(type);
  }

  void replaceAssembly(CallInst &call, StringRef name) {
    SmallVector<Type *> types(map_range(call.args(), [](const Use &use) { return use->getType(); }));
    auto *operands = StructType::get(context, types);
    AllocaInst *from = room(call, operands), *to = room(call, call.getType());
    IRBuilder<> b(&call);
    for (auto [i, argument] : enumerate(call.args())) {
      b.CreateStore(argument, b.CreateStructGEP(operands, from, unsigned(i)));
    }
    auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer, i64}, false);
    Value *bytes = ConstantInt::get(i64, ir.getDataLayout().getTypeStoreSize(call.getType()));
    b.CreateCall(ir.getOrInsertFunction(name, type), {to, from, bytes});
    call.replaceAllUsesWith(b.CreateLoad(call.getType(), to));
    call.eraseFromParent();
  }

  void replace(CallInst &call) {
    std::string name = (prefix + call.getCalledFunction()->getName()).str();
    std::replace(name.begin(), name.end(), '.', '_');
    IRBuilder<> b(&call);
    Type *result = call.getType();
    AllocaInst *resultRoom = isByAddress(result) ? room(call, result) : nullptr;
    SmallVector<Value *> arguments;
    if (resultRoom) {
      arguments.push_back(resultRoom);
    }
    for (Value *argument : call.args()) {
      if (isByAddress(argument->getType())) {
        AllocaInst *copy = room(call, argument->getType());
        b.CreateStore(argument, copy);
        argument = copy;
      } else if (argument->getType()->isPointerTy()) {
        argument = generic(b, argument);
      }
      arguments.push_back(argument);
    }
    SmallVector<Type *> types(map_range(arguments, [](const Value *value) { return value->getType(); }));
    auto *type = FunctionType::get(resultRoom ? Type::getVoidTy(context) : result, types, false);
    Value *value = b.CreateCall(ir.getOrInsertFunction(name, type), arguments);
    if (resultRoom) {
      value = b.CreateLoad(result, resultRoom);
    }
    if (!result->isVoidTy()) {
      call.replaceAllUsesWith(value);
    }
    call.eraseFromParent();
  }
};

/// Returns any x86-64 with AVX2 and FMA: fused operations stay what they are.
target::MachineModel emulator() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  target::MachineModel machine;
  machine.spec = "emulated";
  machine.triple = "x86_64-unknown-linux-gnu";
  machine.cpu = "x86-64-v3";
  return machine;
}

/// Nothing but the emulator and what copies memory may be missing.
Error checkNames(StringRef object) {
  Expected<emit::ObjectFacts> facts = emit::inspectObject(object);
  if (!facts) {
    return facts.takeError();
  }
  erase_if(facts->undefined, [](StringRef name) { return name.starts_with(prefix) || name.starts_with("mem"); });
  return facts->undefined.empty() ? Error::success()
                                  : createStringError("its kernels refer to '" + join(facts->undefined, "', '") + "'");
}

} // namespace

Expected<std::string> emulatedImage(std::unique_ptr<Module> ir, ArrayRef<std::string> kernels, bool watched,
                                    mlir::ModuleOp module) {
  target::MachineModel machine = emulator();
  std::unique_ptr<TargetMachine> target = emit::createTargetMachine(module, machine);
  if (!target) {
    return createStringError("LLVM has no code for x86-64");
  }
  Emulation emulation(*ir);
  emulation.callForIntrinsics();
  emulation.callForAssembly();
  emulation.askForSharedMemory();
  if (watched) {
    emulation.watch();
  }
  for (const std::string &kernel : kernels) {
    emulation.takeWords(kernel);
  }
  ir->setTargetTriple(target->getTargetTriple());
  ir->setDataLayout(target->createDataLayout());
  auto object = emit::writeDeviceCode(*ir, *target, machine, emit::CodeFile::Object);
  if (!object) {
    return object.takeError();
  }
  StringRef bytes(object->data(), object->size());
  if (Error error = checkNames(bytes)) {
    return error;
  }
  return emit::linkShared(bytes, "linking the kernels");
}

} // namespace ingot::targets::cuda
