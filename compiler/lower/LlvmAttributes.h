// The few attributes and types of the llvm dialect that loop IR uses. Its header costs a minute to parse: one file
// includes it.
#pragma once
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

namespace ingot::lower {

mlir::Type pointerType(mlir::MLIRContext *context);
/// For a loop's `llvm.loop_annotation`: LLVM shall not unroll it.
mlir::Attribute noUnrolling(mlir::MLIRContext *context);

} // namespace ingot::lower
