// Has files of this repository that are written into packages, as the build put them into the program
// (cmake/IngotTexts.cmake).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace ingot::driver {

struct Text {
  llvm::StringLiteral name, text;
};

llvm::ArrayRef<Text> npmTexts();     ///< of compiler/driver/packaging/npm
llvm::ArrayRef<Text> supportTexts(); ///< of runtime_support: headers, and the core

} // namespace ingot::driver
