// Makes the artifacts that are text, as strings.
#pragma once
#include "compiler/emit/DeviceCode.h"
#include "compiler/emit/Emit.h"

namespace ingot::emit {

/// Returns NAME.h: C99, and a class for C++17.
std::string headerText(const plan::ModelInfo &model);

/// Returns NAME.json. `files` are the names of the other artifacts, without folders.
std::string manifestText(const plan::ModelInfo &model, llvm::ArrayRef<DeviceCode> devices, int64_t codeBytes,
                         llvm::ArrayRef<std::string> files);

/// Returns NAME.d in make's syntax: every target depends on every dependency.
std::string depfileText(llvm::ArrayRef<std::string> targets, llvm::ArrayRef<std::string> dependencies);

} // namespace ingot::emit
