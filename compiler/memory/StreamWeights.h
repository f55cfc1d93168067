// Lets a run read its weights piece by piece, from where they have no address (--weights stream).
#pragma once
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::memory {

struct StreamLimits {
  int64_t least = 0;           ///< constants of fewer bytes are not streamed
  std::optional<int64_t> most; ///< bytes that streamed weights may take at one time
};

/// Lets the launches of `function` wait for reads of their weights (StreamWeights.cpp); other constants stay in the
/// host's part of `table`. The same constants are in the streamed section once for each set of them that a launch
/// reads. Fails with a table where launches need more weights than may be there at one time.
mlir::LogicalResult streamWeights(mlir::func::FuncOp function, plan::WeightTable &table, const StreamLimits &limits);

/// Forgets the host's constants that none of the functions has an address of any more, and moves the others together.
void keepUnstreamed(llvm::ArrayRef<mlir::func::FuncOp> functions, plan::WeightTable &table);

} // namespace ingot::memory
