// Writes loops that end by a condition, and sorting, for kernels that pick elements by their values.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// Repeats state = step(state) while test(state) (i1) holds. Returns the last state.
llvm::SmallVector<mlir::Value> repeatWhile(Writer &w, mlir::ValueRange start,
                                           llvm::function_ref<mlir::Value(mlir::ValueRange)> test,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> step);

/// Sorts order[0, count), i64 numbers of things, such that things for which before(a, b) holds come first. The result
/// is only sorted if `before` is an order; whatever it is, nothing outside of `order` is touched.
void sort(Writer &w, Buffer order, Ix count, llvm::function_ref<mlir::Value(mlir::Value a, mlir::Value b)> before);

/// How many i64 numbers sortByHighHalf needs for counting.
constexpr int64_t sortCounts = 256;

/// Sorts numbers[0, count) (i64) by their upper 32 bits as an unsigned number; equal ones keep their order. It takes
/// time in proportion to `count`. `spare` has room for as many numbers, `counts` for sortCounts.
void sortByHighHalf(Writer &w, Buffer numbers, Buffer spare, Buffer counts, Ix count);

/// Returns a number to sort by: `key` (i32) above `rest`, of which the lower 32 bits are kept.
mlir::Value keyed(Writer &w, mlir::Value key, mlir::Value rest);

/// Returns the lower 32 bits of such a number.
mlir::Value restOf(Writer &w, mlir::Value number);

/// Returns an unsigned number (i32) for a 32-bit float, such that these numbers have the order of the floats from high
/// to low. Both zeros are one number. NaN is in front of all others or behind them, as its sign says.
mlir::Value highestFirst(Writer &w, mlir::Value x);

} // namespace ingot::lower
