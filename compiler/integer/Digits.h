// Products of floats by weights of few bits, as products of bytes.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

/// What of them is faster as products of bytes on all machines that a model is compiled for.
struct DigitProducts {
  int64_t bits = 0;    ///< weights of so many at most; 0: none
  bool ofRows = false; ///< whatever the number of rows, and not of few alone
  bool two = false;    ///< digits, and not three
};

void addDigits(mlir::RewritePatternSet &patterns, DigitProducts products);

} // namespace ingot::integer
