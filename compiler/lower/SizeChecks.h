// Whether a model can run with given symbols, asked before any tensor is touched.
#pragma once
#include "compiler/lower/Writer.h"

namespace ingot::lower {

/// A size with its arithmetic watched: `bad` (i1) is true on overflow of 64 bits and on a division by less than one.
struct Watched {
  mlir::Value value; ///< i64
  mlir::Value bad;
};
Watched watched(Writer &w, const support::Size &size);

/// i1: whether "a=b" or "a" (which must not be negative) does not hold for the symbols.
mlir::Value violated(Writer &w, llvm::StringRef check);

/// i1: whether so many bytes are negative, or more than any machine's address space has.
mlir::Value impossible(Writer &w, const support::Size &bytes);

} // namespace ingot::lower
