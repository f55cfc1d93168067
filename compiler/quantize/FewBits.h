// Dequantized constants of few bits in front of products and Gathers.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::quantize {

/// Tables whose rows are dequantized when they have been gathered, as the model defines it.
void addFewBitsTables(mlir::RewritePatternSet &patterns);
/// Products with weights that stay as they are in memory; with `digits` (Digits.h), which are faster than floats, of
/// any number of rows.
void addFewBitsProducts(mlir::RewritePatternSet &patterns, bool digits);

} // namespace ingot::quantize
