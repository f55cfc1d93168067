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
/// While it lives, LLVM does not reduce the strength of addresses in loops. Where they depend on sizes that are not
/// known, it writes every address anew inside of the loop, divisions included: they may not be executed where the loop
/// is not, so it cannot keep them outside. Products took three times as long.
class WithoutStrengthReduction {
public:
  explicit WithoutStrengthReduction(bool open) {
    if (open) {
      option = static_cast<cl::opt<bool> *>(cl::getRegisteredOptions().lookup("disable-lsr"));
      option->setValue(true);
    }
  }
  ~WithoutStrengthReduction() {
    if (option) {
      option->setValue(false);
    }
  }
  WithoutStrengthReduction(const WithoutStrengthReduction &) = delete;
  WithoutStrengthReduction &operator=(const WithoutStrengthReduction &) = delete;

private:
  cl::opt<bool> *option = nullptr; ///< the only way in: LLVM has no setting of the code generator for it
};
} // namespace

mlir::LogicalResult ingot::emit::generateCode(mlir::ModuleOp module, Module &ir, TargetMachine &target, CodeForm form,
                                              bool openSizes, raw_pwrite_stream &out) {
  WithoutStrengthReduction simple(openSizes);
  legacy::PassManager passes;
  CodeGenFileType type = form == CodeForm::Object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if (target.addPassesToEmitFile(passes, out, nullptr, type, /*DisableVerify=*/true)) {
    return module.emitError("the code generator cannot write this kind of file");
  }
  passes.run(ir);
  return mlir::success();
}
