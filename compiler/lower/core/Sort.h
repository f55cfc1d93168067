// Loops that end by a condition, and sorting. Written for kernels that pick elements by their values.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// While test(state) (i1) holds: state = step(state). Returns the last state.
llvm::SmallVector<mlir::Value> repeatWhile(Writer &w, mlir::ValueRange start,
                                           llvm::function_ref<mlir::Value(mlir::ValueRange)> test,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> step);

/// Sorts order[0, count), i64 numbers of things, such that before(a, b) holds of those that come first. `before` must
/// be an order for the result to be one; whatever it is, nothing outside of `order` is touched.
void sort(Writer &w, Buffer order, Ix count, llvm::function_ref<mlir::Value(mlir::Value a, mlir::Value b)> before);

/// How many i64 numbers sortByHighHalf needs to count.
constexpr int64_t sortCounts = 256;

/// Sorts numbers[0, count) (i64) by their upper 32 bits as an unsigned number; equal ones keep their order. Takes time
/// in proportion to `count`; `spare` has room for as many, `counts` for sortCounts.
void sortByHighHalf(Writer &w, Buffer numbers, Buffer spare, Buffer counts, Ix count);

/// The number to sort by: `key` (i32) above `rest`, of which the lower 32 bits are kept.
mlir::Value keyed(Writer &w, mlir::Value key, mlir::Value rest);

/// The lower 32 bits of such a number.
mlir::Value restOf(Writer &w, mlir::Value number);

/// Unsigned numbers (i32) whose order is that of 32-bit floats from high to low; both zeros are one. NaN is in front of
/// all others or behind them, as its sign says.
mlir::Value highestFirst(Writer &w, mlir::Value x);

} // namespace ingot::lower
