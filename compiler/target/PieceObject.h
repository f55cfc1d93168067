// Checks the object files that targets bring.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace ingot::target {

/// Whether `object` can become a part of a library for `triple`: a relocatable ELF file for its architecture that
/// defines the function `symbol`, and refers to nothing but the support library.
llvm::Error checkPieceObject(llvm::StringRef object, llvm::StringRef symbol, llvm::StringRef triple);

} // namespace ingot::target
