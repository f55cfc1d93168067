// Makes machine code of PTX by NVIDIA's assembler ptxas, where `cuda:...+cubin` asks for it: a driver need not compile
// then when the model is loaded.
#pragma once
#include "compiler/target/Image.h"

namespace ingot::targets::cuda {

/// Returns an image of machine code. `ptx` ends with a NUL; `needs` is what is known of its kernels, by their names, to
/// which it adds their registers and memory. The error says what to do where there is no ptxas: the program of
/// $INGOT_PTXAS, or else the one on the path.
llvm::Expected<target::Image> machineCode(llvm::StringRef ptx, llvm::StringRef architecture,
                                          llvm::ArrayRef<std::string> kernels, std::vector<target::KernelNeeds> needs);

} // namespace ingot::targets::cuda
