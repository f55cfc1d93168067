// Recurrent networks with dequantized weights, whose products read bytes.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::integer {

/// From how large an R on, in bytes as float32, products with bytes are faster on all machines that a model is compiled
/// for.
struct StateProducts {
  int64_t ofOneRow = 0; ///< of a batch of one
  int64_t ofRows = 0;   ///< of others
  bool two = false;     ///< an element of the state is two digits, and not three
};

void addRecurrences(mlir::RewritePatternSet &patterns, StateProducts products);

} // namespace ingot::integer
