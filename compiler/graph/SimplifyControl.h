// Simplifies If and Loop by what is known about conditions and trip counts.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Simplifies the ops of a block; see Simplify.cpp.
llvm::LogicalResult walkForward(mlir::Block &block, mlir::PatternRewriter &rewriter);

/// Returns the op that says what must hold of sizes for a block to run: the function, or the yield of the branch of an
/// If.
mlir::Operation *checksOwner(mlir::Block *block);

enum class Visit {
  Failed,   ///< the op is wrong, which has been reported
  Kept,     ///< the op is still there, and no op before it is new
  Replaced, ///< the op is gone, or there are new ops before it, which need a visit
};

/// Simplifies an If or a Loop and the ops in it. An If whose condition is constant becomes the ops of its branch, and a
/// Loop of no or one iteration becomes the ops of its body. Values that iterations do not change leave the loop.
Visit simplifyControl(mlir::Operation *op, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
