// Stands for what is not linked into programs that have LLVM in them (IngotStatic.cmake), although LLVM's linker refers
// to it: the code generators that no folder of targets/ names (INGOT_OTHER_GENERATORS), which it would have for
// optimizing at link time. None of our links does that. Polly, which that optimizer has too, is a package of its own in
// Debian.
//
// arc4random is there for systems with a glibc before 2.36, where LLVM's archives call for it.
#include "llvm/Plugins/PassPlugin.h"
#include <cstdint>
#include <cstdlib>
#include <unistd.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t number = 0;
  if (getentropy(&number, sizeof(number))) {
    std::abort();
  }
  return number;
}

llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {LLVM_PLUGIN_API_VERSION, "none", "", nullptr, nullptr}; }

#define WITHOUT(NAME)                                                                                                  \
  extern "C" void LLVMInitialize##NAME##TargetInfo() {}                                                                \
  extern "C" void LLVMInitialize##NAME##Target() {}                                                                    \
  extern "C" void LLVMInitialize##NAME##TargetMC() {}                                                                  \
  extern "C" void LLVMInitialize##NAME##AsmPrinter() {}                                                                \
  extern "C" void LLVMInitialize##NAME##AsmParser() {}
INGOT_OTHER_GENERATORS
