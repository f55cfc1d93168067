// LLVM's code generator, with a text section for each function so that a linker can drop and order them.
#include "compiler/emit/CodeGen.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

std::unique_ptr<TargetMachine> ingot::emit::createTargetMachine(mlir::ModuleOp module,
                                                                const target::MachineModel &machine) {
  Triple triple(machine.triple);
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError("no code generator for '" + machine.triple + "': " + error);
    return nullptr;
  }
  TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, machine.cpu, machine.features, options, Reloc::PIC_, std::nullopt, CodeGenOptLevel::Aggressive));
}

namespace {
/// An option of LLVM's code generator that is set while this lives: it has no other way in.
class ScopedOption {
public:
  ScopedOption(StringRef name, bool wanted, bool value) {
    if (wanted) {
      option = static_cast<cl::opt<bool> *>(cl::getRegisteredOptions().lookup(name));
      before = option->getValue();
      option->setValue(value);
    }
  }
  ~ScopedOption() {
    if (option) {
      option->setValue(before);
    }
  }
  ScopedOption(const ScopedOption &) = delete;
  ScopedOption &operator=(const ScopedOption &) = delete;

private:
  cl::opt<bool> *option = nullptr;
  bool before = false;
};
} // namespace

mlir::LogicalResult ingot::emit::generateCode(mlir::ModuleOp module, Module &ir, TargetMachine &target, CodeForm form,
                                              const CodeOptions &options, raw_pwrite_stream &out) {
  // Where addresses depend on sizes that are not known, LLVM's strength reduction writes every address anew inside of
  // the loop, divisions included: they may not be executed where the loop is not, so it cannot keep them outside.
  // Products took three times as long.
  ScopedOption strength("disable-lsr", options.openSizes, true);
  ScopedOption loads("misched-cluster", !options.gatherLoads, false);
  legacy::PassManager passes;
  CodeGenFileType type = form == CodeForm::Object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if (target.addPassesToEmitFile(passes, out, nullptr, type, /*DisableVerify=*/true)) {
    return module.emitError("the code generator cannot write this kind of file");
  }
  passes.run(ir);
  return mlir::success();
}
