// Loops that end by a condition, and sorting. Written for kernels that pick elements by their values.
#pragma once
#include "compiler/lower/Writer.h"

namespace ingot::lower {

/// While test(state) (i1) holds: state = step(state). Returns the last state.
llvm::SmallVector<mlir::Value> repeatWhile(Writer &w, mlir::ValueRange start,
                                           llvm::function_ref<mlir::Value(mlir::ValueRange)> test,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> step);

/// Sorts order[0, count), i64 numbers of things, such that before(a, b) holds of those that come first. `before` must
/// be an order for the result to be one; whatever it is, nothing outside of `order` is touched.
void sort(Writer &w, Buffer order, Ix count, llvm::function_ref<mlir::Value(mlir::Value a, mlir::Value b)> before);

} // namespace ingot::lower
