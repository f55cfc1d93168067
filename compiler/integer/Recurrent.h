// Rewrites recurrent networks with dequantized weights, so that their products read bytes.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

/// Adds patterns that make products of recurrences with parts of a dequantized W products with dequantized weights, as
/// others are.
void addRecurrentProducts(mlir::RewritePatternSet &patterns);
/// Keeps dequantized R as it is until it is known who computes the recurrence, which then may read bytes.
void keepRecurrentWeights(mlir::func::FuncOp function);
void addRecurrences(mlir::RewritePatternSet &patterns, FormsOf formsOf);

} // namespace ingot::integer
