// Recurrent networks with dequantized weights, whose products read bytes.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

/// What recurrences make of dequantized W becomes products with dequantized weights, as others are.
void addRecurrentProducts(mlir::RewritePatternSet &patterns);
/// Keeps dequantized R as it is until it is known who computes the recurrence, which then may read bytes.
void keepRecurrentWeights(mlir::func::FuncOp function);
void addRecurrences(mlir::RewritePatternSet &patterns, FormsOf formsOf);

} // namespace ingot::integer
