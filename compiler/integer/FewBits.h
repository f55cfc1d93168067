// Dequantized constants of few bits in front of products and Gathers.
#pragma once
#include "compiler/integer/Digits.h"

namespace ingot::integer {

/// Tables whose rows are dequantized when they have been gathered, as the model defines it.
void addFewBitsTables(mlir::RewritePatternSet &patterns);
/// Products with weights that stay as they are in memory, of few rows or as many as `digits` are faster for.
void addFewBitsProducts(mlir::RewritePatternSet &patterns, DigitProducts digits);

} // namespace ingot::integer
