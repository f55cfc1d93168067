// Has files of this repository that are written into packages and programs, as the build put them into this one
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
llvm::ArrayRef<Text> boardTexts();   ///< of runtime_support/boards

} // namespace ingot::driver
