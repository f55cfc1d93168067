// Recurrent networks with dequantized weights, whose products read bytes.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

void addRecurrences(mlir::RewritePatternSet &patterns, FormsOf formsOf);

} // namespace ingot::integer
