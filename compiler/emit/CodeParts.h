// Generates code on several cores.
#pragma once
#include "compiler/emit/CodeGen.h"

namespace ingot::emit {

/// Makes an object of the module, on `jobs` threads; 0: on all processors. A large module is cut into parts by its size
/// and nothing else, so that the bytes are the same whatever `jobs` is. Consumes the module.
mlir::FailureOr<llvm::SmallVector<char, 0>> generateObject(mlir::ModuleOp module, std::unique_ptr<llvm::Module> ir,
                                                           const target::MachineModel &machine,
                                                           const CodeOptions &options, unsigned jobs);

} // namespace ingot::emit
