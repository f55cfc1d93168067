// LLVM's code generator, with a text section for each function so that a linker can drop and order them.
#include "compiler/emit/CodeGen.h"
#include "compiler/emit/QuickCode.h"
#include "compiler/target/Platform.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
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
  Triple triple(Triple::normalize(machine.triple)); // so that the last word of thumbv6m-none-eabi is an ABI
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError("no code generator for '" + machine.triple + "': " + error);
    return nullptr;
  }
  TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  if (triple.isX86()) {
    // Whether a short loop begins in the middle of a line of decoded instructions is otherwise decided by all code in
    // front of it: a first convolution's took 1.6 times as long 16 bytes further on (Zen 5).
    options.LoopAlignment = machine.lineBytes;
  }
  // Without a scheduler, an allocator that looks at whole functions, and most of the rest, code takes a third of the
  // time to be made and two to three times as long to run.
  CodeGenOptLevel level = module->hasAttr(quickCodeName) ? CodeGenOptLevel::None
                          : module->hasAttr(fewRunsName) ? CodeGenOptLevel::Less
                                                         : CodeGenOptLevel::Aggressive;
  target::Platform platform = target::platformOf(machine);
  options.EmitStackSizeSection = platform.boundsStack; // for StackBound.cpp; it takes no room in a program
  Reloc::Model relocations = platform.positionIndependent ? Reloc::PIC_ : Reloc::Static;
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(triple, machine.cpu, machine.features, options, relocations, std::nullopt, level));
}

static cl::opt<bool> &optionCalled(StringRef name) {
  return *static_cast<cl::opt<bool> *>(cl::getRegisteredOptions().lookup(name));
}

void ingot::emit::CodeSettings::set(StringRef option, bool value) {
  before.push_back({option, optionCalled(option).getValue()});
  optionCalled(option).setValue(value);
}

ingot::emit::CodeSettings::CodeSettings(const CodeOptions &options) {
  // Where addresses depend on sizes that are not known, LLVM's strength reduction writes every address anew inside of
  // the loop, divisions included: they may not be executed where the loop is not, so it cannot keep them outside.
  // Products took three times as long.
  if (options.openSizes) {
    set("disable-lsr", true);
  }
  if (!options.gatherLoads) {
    set("misched-cluster", false);
  }
  // The scheduler behind register allocation renames registers. Tiles are used by their numbers, and not all are of one
  // size. (LLVM has it off for Intel's CPUs anyway.)
  if (options.tiles) {
    set("disable-post-ra", true);
  }
}

ingot::emit::CodeSettings::~CodeSettings() {
  for (auto [option, value] : before) {
    optionCalled(option).setValue(value);
  }
}

/// Keeps loads apart from the lrint of a vector where there is no AVX. LLVM 22 makes one instruction of both there,
/// which faults if the address is not a multiple of 16.
static void separateRoundedLoads(Module &ir, const TargetMachine &target) {
  for (Function &function : ir) {
    if (function.isDeclaration() || target.getSubtargetImpl(function)->checkFeatures("+avx")) {
      continue;
    }
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (call && call->getIntrinsicID() == Intrinsic::lrint && isa<LoadInst>(call->getArgOperand(0))) {
        call->setArgOperand(0, new FreezeInst(call->getArgOperand(0), "", call->getIterator()));
      }
    }
  }
}

bool ingot::emit::generateCode(Module &ir, TargetMachine &target, CodeFile kind, raw_pwrite_stream &out) {
  if (target.getTargetTriple().isX86()) {
    separateRoundedLoads(ir, target);
  }
  legacy::PassManager passes;
  CodeGenFileType type = kind == CodeFile::Object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if (target.addPassesToEmitFile(passes, out, nullptr, type, /*DisableVerify=*/true)) {
    return false;
  }
  passes.run(ir);
  return true;
}
