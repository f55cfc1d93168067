// The address of weights that are not in the object. Loop IR knows them as the declaration @NAME_weights, which only
// NAME_run uses, or each NAME_..._run of several bodies; here every use becomes a pointer that is loaded once, where
// the run begins:
//
//   if (!exec || !exec->weights) return NULL;  if (exec->weights % 64) return ALIGNMENT;
#include "compiler/emit/CodeGen.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace {

class WeightsLoader {
public:
  WeightsLoader(Function &run, int argument) : run(run), argument(argument), builder(run.getContext()) {}

  /// Splits the entry behind its stack variables; the pointer.
  Value *load() {
    BasicBlock *entry = &run.getEntryBlock();
    rest = entry->splitBasicBlock(entry->getFirstNonPHIOrDbgOrAlloca());
    entry->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(entry);
    Value *exec = run.getArg(run.arg_size() - 1);
    Type *pointer = builder.getPtrTy();
    failIf(builder.CreateIsNull(exec), INGOT_ERROR_NULL);
    // context, threads, parallel_for, weights
    auto *fields = StructType::get(run.getContext(), SmallVector<Type *>(4, pointer));
    LoadInst *weights = builder.CreateLoad(pointer, builder.CreateStructGEP(fields, exec, 3), "weights");
    weights->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(run.getContext(), {}));
    failIf(builder.CreateIsNull(weights), INGOT_ERROR_NULL);
    Type *word = builder.getIntPtrTy(run.getDataLayout());
    Value *low = builder.CreateAnd(builder.CreatePtrToInt(weights, word), INGOT_WEIGHTS_ALIGN - 1);
    failIf(builder.CreateIsNotNull(low), INGOT_ERROR_ALIGNMENT);
    builder.CreateBr(rest);
    builder.SetInsertPoint(rest, rest->begin());
    builder.CreateAlignmentAssumption(run.getDataLayout(), weights, INGOT_WEIGHTS_ALIGN);
    return weights;
  }

private:
  void failIf(Value *condition, int kind) {
    BasicBlock *next = BasicBlock::Create(run.getContext(), "", &run, rest);
    BasicBlock *fail = BasicBlock::Create(run.getContext(), "", &run);
    builder.CreateCondBr(condition, fail, next, MDBuilder(run.getContext()).createUnlikelyBranchWeights());
    builder.SetInsertPoint(fail);
    builder.CreateRet(builder.getInt32(uint32_t(INGOT_STATUS(kind, argument))));
    builder.SetInsertPoint(next);
  }

  Function &run;
  int argument;
  IRBuilder<> builder;
  BasicBlock *rest = nullptr;
};

} // namespace

mlir::LogicalResult ingot::emit::takeWeights(mlir::ModuleOp module, Module &ir, const plan::ModelInfo &model) {
  GlobalVariable *declared = ir.getGlobalVariable(weightsSymbol(model.name));
  if (!model.takesWeights() || !declared) {
    return mlir::success();
  }
  convertUsersOfConstantsToInstructions({declared});
  SetVector<Function *> runs;
  for (User *user : declared->users()) {
    auto *instruction = dyn_cast<Instruction>(user);
    Function *run = instruction ? instruction->getFunction() : nullptr;
    if (!run || !run->getName().starts_with(model.name + "_") || !run->getName().ends_with("_run")) {
      return module.emitError("weights are used outside of @" + model.name + "_run");
    }
    runs.insert(run);
  }
  int argument = int(model.inputs.size() + model.outputs.size() + 1);
  for (Function *run : runs) {
    Value *loaded = WeightsLoader(*run, argument).load();
    declared->replaceUsesWithIf(loaded, [&](Use &use) {
      auto *instruction = dyn_cast<Instruction>(use.getUser());
      return instruction && instruction->getFunction() == run;
    });
  }
  declared->eraseFromParent();
  return mlir::success();
}
