// If and Loop: what is known about conditions and trip counts.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace ingot::graph {

/// Simplifies the ops of a block; see Simplify.cpp.
llvm::LogicalResult walkForward(mlir::Block &block, mlir::PatternRewriter &rewriter);

/// The op that says what must hold of sizes for a block to run: the function, or the yield of the branch of an If.
mlir::Operation *checksOwner(mlir::Block *block);

enum class Visit {
  Failed,   ///< reported
  Kept,     ///< the op is still there, and nothing before it is new
  Replaced, ///< the op is gone, or ops stand before it: what is there now needs a visit
};

/// Simplifies an If or a Loop and what is in it. An If whose condition is constant becomes the ops of its branch, a
/// Loop that turns never or once likewise; values that iterations do not change leave the loop.
Visit simplifyControl(mlir::Operation *op, mlir::PatternRewriter &rewriter);

} // namespace ingot::graph
