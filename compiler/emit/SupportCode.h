// Puts functions of the support library, and of the C compiler's library, into the code of a model that may refer to
// nothing outside its object (--symbols none).
#pragma once
#include "compiler/emit/CodeGen.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::emit {

/// Returns the library's functions as bitcode for processors of this architecture; empty where the build has none.
llvm::StringRef supportBitcode(llvm::Triple::ArchType architecture);

/// Defines, as functions of the module's own, whatever it calls or its machine code would call. Errors name the
/// functions that are in no library and stand at the kernels that call them.
mlir::LogicalResult addSupportCode(mlir::ModuleOp module, std::unique_ptr<llvm::Module> &ir,
                                   const target::MachineModel &machine, const CodeOptions &how, unsigned jobs);

} // namespace ingot::emit
