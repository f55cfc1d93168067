// NAME.so, by LLVM's linker in this process.
#pragma once
#include "llvm/Support/Error.h"
#include <string>

namespace ingot::emit {

/// libingot_rt.a: beside an installed compiler (../lib), else where the build put it. Empty when it is nowhere.
std::string findRuntimeLibrary();

/// Links the object and the part of the support library that it needs into `output`, which exports NAME_run,
/// NAME_model and NAME_workspace_bytes only and needs no other library.
llvm::Error linkSharedLibrary(const std::string &object, const std::string &runtime, const std::string &model,
                              const std::string &output);

} // namespace ingot::emit
