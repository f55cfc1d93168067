// Translates the LLVM dialect to LLVM IR. What is exported is decided here, once: NAME_run, NAME_model and
// NAME_workspace_bytes; declarations are ingot_*; everything else is local to the object.
//
// Weights are a declaration while LLVM optimizes, a constant whose contents nobody knows, so that no pass folds loads
// from it. Afterwards defineWeights puts a variable of zeros in its place, in a section of its own, whose bytes the
// object's writer finds and fills (Object.cpp).
#include "compiler/emit/CodeGen.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "runtime_support/include/ingot.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

std::string ingot::emit::weightsSymbol(StringRef model) { return (model + "_weights").str(); }
std::string ingot::emit::weightsSection(StringRef model, StringRef constants) {
  return (constants + "." + weightsSymbol(model)).str();
}

llvm::Expected<std::unique_ptr<Module>> ingot::emit::exactCopy(const Module &ir) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  WriteBitcodeToFile(ir, stream, /*ShouldPreserveUseListOrder=*/true);
  return parseBitcodeFile(MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "copy"), ir.getContext());
}

void ingot::emit::requireLibraryVersion(Module &ir, StringRef model) {
  auto isLibrarys = [](const Function &function) {
    return function.isDeclaration() && !function.use_empty() && function.getName().starts_with("ingot_");
  };
  if (llvm::none_of(ir, isLibrarys)) { // the object links alone
    return;
  }
  Type *pointer = PointerType::get(ir.getContext(), 0);
  auto *version = new GlobalVariable(ir, Type::getInt8Ty(ir.getContext()), /*isConstant=*/true,
                                     GlobalValue::ExternalLinkage, nullptr, "ingot_abi_" + Twine(INGOT_ABI));
  auto *reference =
      new GlobalVariable(ir, pointer, /*isConstant=*/true, GlobalValue::InternalLinkage, version, model + "_abi");
  appendToUsed(ir, reference); // linkers that leave out sections keep it
}

void ingot::emit::defineWeights(Module &ir, StringRef model, StringRef constants) {
  GlobalVariable *declared = ir.getGlobalVariable(weightsSymbol(model));
  if (!declared) {
    return;
  }
  Type *type = declared->getValueType();
  auto *place = new GlobalVariable(ir, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                                   Constant::getNullValue(type), weightsSection(model, constants));
  if (!ir.getTargetTriple().isOSBinFormatELF()) {
    place->takeName(declared);
  }
  if (ir.getTargetTriple().isOSBinFormatWasm()) { // a linker would leave out a segment that is called .bss
    place->setSection(weightsSection(model, constants));
  }
  place->setAlignment(Align(64));
  declared->replaceAllUsesWith(place);
  declared->eraseFromParent();
}

/// The function that a message speaks of, in the module whose translation LLVM has; else the module.
static mlir::Location locationOf(const DiagnosticInfo &info, mlir::ModuleOp module) {
  const Function *function = nullptr;
  if (auto *limit = dyn_cast<DiagnosticInfoResourceLimit>(&info)) {
    function = &limit->getFunction();
  } else if (auto *unsupported = dyn_cast<DiagnosticInfoUnsupported>(&info)) {
    function = &unsupported->getFunction();
  }
  StringRef name = function ? function->getName() : "";
  mlir::Operation *known = module.lookupSymbol(name);
  known = !known && name.consume_back(ingot::emit::itemsSuffix) ? module.lookupSymbol(name) : known;
  return known ? known->getLoc() : module.getLoc();
}

static void report(const DiagnosticInfo *info, void *moduleOp) {
  mlir::ModuleOp module = mlir::ModuleOp::getFromOpaquePointer(moduleOp);
  std::string text;
  raw_string_ostream stream(text);
  DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
  StringRef message = text;
  message.consume_front("<unknown>:0:0: "); // code has no lines
  if (info->getSeverity() == DS_Error) {
    mlir::emitError(locationOf(*info, module), message);
  } else if (info->getSeverity() == DS_Warning) {
    mlir::emitWarning(locationOf(*info, module), message);
  }
}

void ingot::emit::reportTo(LLVMContext &context, mlir::ModuleOp module) {
  context.setDiagnosticHandlerCallBack(report, const_cast<void *>(module.getAsOpaquePointer()));
}

std::unique_ptr<Module> ingot::emit::translate(mlir::ModuleOp module, LLVMContext &context, TargetMachine &target,
                                               const plan::ModelInfo &model) {
  reportTo(context, module);
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
  if (GlobalVariable *weights = ir->getGlobalVariable(weightsSymbol(model.name))) {
    weights->setConstant(true);
    weights->setAlignment(Align(64));
  }
  return ir;
}
