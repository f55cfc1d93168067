// Links NAME.so by LLVM's linker in this process.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ingot::emit {

/// Returns the file of a part of the support library for the machine that `triple` names: beside an installed compiler
/// (../lib), else where the build put it; for other machines than this one in the folder that has their name. Empty
/// when it is nowhere.
std::string findRuntimeFile(llvm::StringRef triple, llvm::StringRef name);

/// Links the object and the part of the support library that it needs into `output`, which exports NAME_run,
/// NAME_model and NAME_workspace_bytes only and needs no other library, unless it `decodesImages`.
llvm::Error linkSharedLibrary(const std::string &object, llvm::StringRef triple, const std::string &model,
                              const std::string &output, bool decodesImages);

} // namespace ingot::emit
