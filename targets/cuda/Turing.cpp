// PTX describes which thread has what of a matrix by registers (test/targets/cuda/emulator/Matrices.cpp has it, too).
// mma.m16n8k16 (float16) is two of mma.m16n8k8, which has half the depth: the first one takes registers 0 and 1 of the
// left factor and register 0 of the right one, the second one the other registers. mma.m16n8k32 (bytes) is four of
// mma.m8n8k16, each of which takes one register of the left factor: eight rows, and half of the depth.
#include "targets/cuda/Turing.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace ingot::targets::cuda {
namespace {

/// Writes what is there in the place of one call; null where that has no result.
using Replacement = Value *(*)(IRBuilder<> & b, CallInst &call);

/// Calls an intrinsic of LLVM's for PTX, which is declared where it was not.
CallInst *callIntrinsic(IRBuilder<> &b, const Twine &name, Type *result, ArrayRef<Value *> arguments) {
  SmallVector<Type *> types(map_range(arguments, [](const Value *value) { return value->getType(); }));
  Module *ir = b.GetInsertBlock()->getModule();
  return b.CreateCall(ir->getOrInsertFunction(name.str(), FunctionType::get(result, types, false)), arguments);
}

/// Multiplies both halves of the depth, one after the other.
Value *multiplyHalves(IRBuilder<> &b, CallInst &call) {
  auto operand = [&](unsigned i) { return call.getArgOperand(i); };
  constexpr unsigned ofRight = 4, ofSums = 6;
  SmallVector<Value *, 4> sums = {operand(ofSums), operand(ofSums + 1), operand(ofSums + 2), operand(ofSums + 3)};
  Value *result = nullptr;
  for (unsigned half = 0; half < 2; ++half) {
    Value *operands[] = {
        operand(2 * half), operand(2 * half + 1), operand(ofRight + half), sums[0], sums[1], sums[2], sums[3]};
    result = callIntrinsic(b, "llvm.nvvm.mma.m16n8k8.row.col.f32.f32", call.getType(), operands);
    for (unsigned i = 0; half == 0 && i < sums.size(); ++i) {
      sums[i] = b.CreateExtractValue(result, i);
    }
  }
  return result;
}

/// Multiplies bytes: eight rows and half of the depth at a time.
Value *multiplyBytes(IRBuilder<> &b, CallInst &call) {
  constexpr unsigned ofRight = 4, ofSums = 6;
  StringRef types = call.getCalledFunction()->getName();
  types.consume_front("llvm.nvvm.mma.m16n8k32");
  auto *pair = StructType::get(b.getInt32Ty(), b.getInt32Ty());
  Value *result = PoisonValue::get(call.getType());
  for (unsigned rows = 0; rows < 2; ++rows) {
    Value *sums[] = {call.getArgOperand(ofSums + 2 * rows), call.getArgOperand(ofSums + 2 * rows + 1)};
    for (unsigned half = 0; half < 2; ++half) {
      Value *operands[] = {call.getArgOperand(2 * half + rows), call.getArgOperand(ofRight + half), sums[0], sums[1]};
      Value *both = callIntrinsic(b, "llvm.nvvm.mma.m8n8k16" + types, pair, operands);
      sums[0] = b.CreateExtractValue(both, 0), sums[1] = b.CreateExtractValue(both, 1);
    }
    result = b.CreateInsertValue(result, sums[0], 2 * rows);
    result = b.CreateInsertValue(result, sums[1], 2 * rows + 1);
  }
  return result;
}

/// Copies 16 bytes, or zeros where none are to be read.
Value *copyAtOnce(IRBuilder<> &b, CallInst &call) {
  auto *type = FixedVectorType::get(b.getInt32Ty(), 4);
  BasicBlock *before = call.getParent();
  Value *isThere = b.CreateICmpNE(call.getArgOperand(2), b.getInt32(0));
  Instruction *end = SplitBlockAndInsertIfThen(isThere, &call, /*Unreachable=*/false);
  Value *there = IRBuilder<>(end).CreateAlignedLoad(type, call.getArgOperand(1), Align(16));
  b.SetInsertPoint(&call);
  PHINode *all = b.CreatePHI(type, 2);
  all->addIncoming(there, end->getParent()), all->addIncoming(Constant::getNullValue(type), before);
  b.CreateAlignedStore(all, call.getArgOperand(0), Align(16));
  return nullptr;
}

Value *doNothing(IRBuilder<> &, CallInst &) { return nullptr; }

constexpr std::pair<const char *, Replacement> replacements[] = {
    {"llvm.nvvm.mma.m16n8k16.row.col.f32.f32", multiplyHalves},
    {"llvm.nvvm.mma.m16n8k32.row.col.u8.s8", multiplyBytes},
    {"llvm.nvvm.mma.m16n8k32.row.col.s8.u8", multiplyBytes},
    {"llvm.nvvm.cp.async.cg.shared.global.16.s", copyAtOnce},
    {"llvm.nvvm.cp.async.commit.group", doNothing},
    {"llvm.nvvm.cp.async.wait.group", doNothing},
};

} // namespace

void useOlderInstructions(Module &ir) {
  for (auto [name, replacement] : replacements) {
    Function *intrinsic = ir.getFunction(name);
    if (!intrinsic) {
      continue;
    }
    for (User *user : make_early_inc_range(intrinsic->users())) {
      auto &call = *cast<CallInst>(user);
      IRBuilder<> b(&call);
      if (Value *result = replacement(b, call)) {
        call.replaceAllUsesWith(result);
      }
      call.eraseFromParent();
    }
  }
}

} // namespace ingot::targets::cuda
