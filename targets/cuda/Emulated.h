// Makes the emulated image (Images.h): code for x86-64 of the LLVM IR that becomes PTX.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mlir {
class ModuleOp;
}

namespace llvm {
class Module;
}

namespace ingot::targets::cuda {

/// The name, in LLVM IR, of the memory that the threads of a block share.
inline constexpr llvm::StringLiteral sharedName = "ingot_shared_memory";

/// Returns a shared object. `ir` is optimized code for PTX; `watched`: it calls the emulator before each access to
/// memory. `module` gets the diagnostics.
llvm::Expected<std::string> emulatedImage(std::unique_ptr<llvm::Module> ir, llvm::ArrayRef<std::string> kernels,
                                          bool watched, mlir::ModuleOp module);

} // namespace ingot::targets::cuda
