// Stands for what is not linked into programs that have LLVM in them (IngotStatic.cmake), although LLVM's linker refers
// to it: the code generators that no folder of targets/ names (INGOT_OTHER_GENERATORS), which it would have for
// optimizing at link time. None of our links does that. Polly, which that optimizer has too, is a package of its own in
// Debian.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {LLVM_PLUGIN_API_VERSION, "none", "", nullptr, nullptr}; }

#define WITHOUT(NAME)                                                                                                  \
  extern "C" void LLVMInitialize##NAME##TargetInfo() {}                                                                \
  extern "C" void LLVMInitialize##NAME##Target() {}                                                                    \
  extern "C" void LLVMInitialize##NAME##TargetMC() {}                                                                  \
  extern "C" void LLVMInitialize##NAME##AsmPrinter() {}                                                                \
  extern "C" void LLVMInitialize##NAME##AsmParser() {}
INGOT_OTHER_GENERATORS
