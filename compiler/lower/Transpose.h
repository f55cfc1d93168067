// Squares of vectors, transposed in registers.
#pragma once
#include "compiler/lower/Writer.h"

namespace ingot::lower {

/// As many vectors as each has lanes (a power of two): result i holds lane i of each.
llvm::SmallVector<mlir::Value> transposed(Writer &w, llvm::ArrayRef<mlir::Value> rows);

} // namespace ingot::lower
