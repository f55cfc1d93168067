// Generates code on several cores: LLVM IR is cut into parts, each is compiled by a thread, and the objects are linked.
#pragma once
#include "compiler/emit/CodeGen.h"

namespace ingot::emit {

/// Compiles `ir` to an object, with `jobs` threads; 0: as many as there are processors. How a large module is cut
/// depends on its size only, so that the bytes are the same whatever `jobs` is. Consumes `ir`; `module` is where
/// diagnostics are reported.
mlir::FailureOr<llvm::SmallVector<char, 0>> generateObject(mlir::ModuleOp module, std::unique_ptr<llvm::Module> ir,
                                                           const target::MachineModel &machine,
                                                           const CodeOptions &options, unsigned jobs);

} // namespace ingot::emit
