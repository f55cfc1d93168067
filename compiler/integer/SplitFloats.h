// Rewrites products of floats by weights of few bits as products of bytes.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

/// Adds patterns for those that are faster so where they are computed.
void addSplitProducts(mlir::RewritePatternSet &patterns, FormsOf formsOf);

} // namespace ingot::integer
