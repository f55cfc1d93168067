// The few attributes, types and ops of the llvm dialect that loop IR uses. Its header costs a minute to parse: one file
// includes it.
#pragma once
#include "mlir/IR/Builders.h"

namespace ingot::lower {

/// Attribute of a function that uses tiles (Tiles.h), which a run has to ask for.
inline constexpr llvm::StringLiteral tilesName = "ingot.tiles";

mlir::Type pointerType(mlir::MLIRContext *context);
/// An address, which is an index, as a pointer.
mlir::Value pointerTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address);
/// For a loop's `llvm.loop_annotation`: LLVM shall not unroll it.
mlir::Attribute noUnrolling(mlir::MLIRContext *context);

/// The same index, of which the code generator cannot tell how it was computed. Without it, loop strength reduction
/// computes divisions and minimums anew at every address in a loop that depends on them. With a `turn` of a loop it is
/// another one in each, so that nothing that is loaded there is loaded ahead of the loop.
mlir::Value opaque(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index, mlir::Value turn = nullptr);

} // namespace ingot::lower
