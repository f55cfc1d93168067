// Dequantized constants of few bits in front of products and Gathers.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

/// Tables whose rows are dequantized when they have been gathered, as the model defines it.
void addFewBitsTables(mlir::RewritePatternSet &patterns);
/// Products with weights that stay as they are in memory, of few rows or as many as digits are faster for (Digits.h).
void addFewBitsProducts(mlir::RewritePatternSet &patterns, FormsOf formsOf);

} // namespace ingot::integer
