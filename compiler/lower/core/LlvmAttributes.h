// Makes the few attributes, types and ops of the llvm dialect that loop IR uses. Its header costs a minute to parse, so
// one file alone includes it.
#pragma once
#include "mlir/IR/Builders.h"

namespace ingot::lower {

/// Returns LLVM's type of a pointer.
mlir::Type pointerType(mlir::MLIRContext *context);
/// Returns an address, which is an index, as a pointer.
mlir::Value pointerTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address);
/// Returns an attribute for a loop's `llvm.loop_annotation` that keeps LLVM from unrolling it.
mlir::Attribute noUnrolling(mlir::MLIRContext *context);

/// Returns an optimization barrier: a value equal to `index`, of which the code generator cannot see how it was
/// computed. Without it, loop strength reduction computes divisions and minimums anew at every address in a loop that
/// depends on them. With the iteration of a loop as `iteration`, the value counts as another one in each iteration, so
/// that nothing that is loaded there is loaded ahead of the loop.
mlir::Value optimizationBarrier(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index,
                                mlir::Value iteration = nullptr);

} // namespace ingot::lower
