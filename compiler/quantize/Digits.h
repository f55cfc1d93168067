// Products of floats by weights of few bits, as products of bytes.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::quantize {

void addDigits(mlir::RewritePatternSet &patterns);

} // namespace ingot::quantize
