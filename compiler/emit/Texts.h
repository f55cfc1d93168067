// Returns the text of artifacts that are text for every kind of output: header, manifest and dependency file.
#pragma once
#include "compiler/emit/DeviceCode.h"
#include "compiler/emit/Emit.h"

namespace ingot::emit {

/// Returns the text of NAME.h: declarations in C99, and a class where it is compiled as C++17.
std::string headerText(const plan::ModelInfo &model, const BuildSizes &sizes);

/// Returns the text of NAME.json.
std::string manifestText(const plan::ModelInfo &model, llvm::ArrayRef<DeviceCode> devices, const BuildInfo &build);

/// Returns the text of NAME.d in make's syntax: every target depends on every dependency.
std::string depfileText(llvm::ArrayRef<std::string> targets, llvm::ArrayRef<std::string> dependencies);

} // namespace ingot::emit
