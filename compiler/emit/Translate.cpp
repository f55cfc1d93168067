// LLVM dialect to LLVM IR. What is exported is decided here, once: NAME_run and NAME_model; declarations are ingot_*;
// everything else is local to the object.
#include "compiler/emit/CodeGen.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

std::string ingot::emit::weightsSymbol(StringRef model) { return (model + "_weights").str(); }
std::string ingot::emit::weightsSection(StringRef model) { return (".rodata." + model + "_weights").str(); }

/// The declaration becomes hidden, so that code reaches it relative to the program counter, and a section for the bytes
/// is kept open by a byte without a symbol.
static void reserveWeights(Module &ir, StringRef model) {
  GlobalVariable *weights = ir.getGlobalVariable(ingot::emit::weightsSymbol(model));
  if (!weights) {
    return;
  }
  weights->setConstant(true);
  weights->setVisibility(GlobalValue::HiddenVisibility);
  weights->setDSOLocal(true);
  weights->setAlignment(Align(64));
  Type *byte = Type::getInt8Ty(ir.getContext());
  auto *place = new GlobalVariable(ir, byte, /*isConstant=*/true, GlobalValue::PrivateLinkage,
                                   ConstantInt::get(byte, 0), "weights_place");
  place->setSection(ingot::emit::weightsSection(model));
  place->setAlignment(Align(64));
  appendToCompilerUsed(ir, {place});
}

/// LLVM's messages become diagnostics of the module; the stack size that prepareFunctions asked about is one.
static void report(const DiagnosticInfo *info, void *moduleOp) {
  mlir::ModuleOp module = mlir::ModuleOp::getFromOpaquePointer(moduleOp);
  std::string text;
  raw_string_ostream stream(text);
  DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  if (info->getSeverity() == DS_Error) {
    module.emitError(text);
  } else if (info->getSeverity() == DS_Warning) {
    module.emitWarning(text);
  }
}

std::unique_ptr<Module> ingot::emit::translate(mlir::ModuleOp module, LLVMContext &context, TargetMachine &target,
                                               const plan::ModelInfo &model) {
  context.setDiagnosticHandlerCallBack(report, const_cast<void *>(module.getAsOpaquePointer()));
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<Module> ir = mlir::translateModuleToLLVMIR(module, context, model.name);
  if (!ir) {
    return nullptr;
  }
  ir->setSourceFileName(model.name);
  ir->setTargetTriple(target.getTargetTriple());
  ir->setDataLayout(target.createDataLayout());
  for (Function &function : *ir) {
    if (!function.isDeclaration() && function.getName() != model.name + "_run") {
      function.setLinkage(GlobalValue::InternalLinkage);
    }
  }
  for (GlobalVariable &global : ir->globals()) {
    if (!global.isDeclaration()) {
      global.setLinkage(GlobalValue::InternalLinkage);
    }
  }
  reserveWeights(*ir, model.name);
  return ir;
}
