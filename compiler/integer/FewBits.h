// Keeps dequantized constants of few bits in front of products and Gathers.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

/// Adds patterns for tables whose rows are dequantized when they have been gathered, as the model defines it.
void addFewBitsTables(mlir::RewritePatternSet &patterns);
/// Adds patterns for products with weights that stay as they are in memory: those of few rows, and, where it is known
/// who computes them, those of as many as digits are faster for (SplitFloats.h).
void addFewBitsProducts(mlir::RewritePatternSet &patterns, FormsOf formsOf = {});
/// Keeps the weights of products of many rows as they are until then.
void keepFewBits(mlir::func::FuncOp function);

} // namespace ingot::integer
