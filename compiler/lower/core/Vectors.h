// Rearranges and reduces vectors in registers.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// Transposes a square: lane j of rows[i] becomes lane i of result[j]. There are as many rows as lanes (a power of
/// two), and log2(lanes) rounds of shuffles of two vectors.
llvm::SmallVector<mlir::Value> transpose(Writer &w, llvm::SmallVector<mlir::Value> rows);

/// Returns lane 0 of each row, then lane 1 of each, and so on, in as many vectors as there are rows.
llvm::SmallVector<mlir::Value> interleave(Writer &w, llvm::ArrayRef<mlir::Value> rows);
/// Undoes interleave(): returns lanes 0, n, 2n, ... of n vectors that follow each other, then lanes 1, n + 1, ...
llvm::SmallVector<mlir::Value> deinterleave(Writer &w, llvm::ArrayRef<mlir::Value> vectors);

/// Returns the vector of int32 0, step, 2 step, ...
mlir::Value counting(Writer &w, int64_t lanes, int64_t step = 1);

/// Ways to combine many elements into one.
enum class Combine {
  Add,
  Mul,
  Max,
  Min,
  UnsignedMax,
  UnsignedMin,
  Larger, ///< the larger of two floats as one instruction, in which a NaN may get lost
};

/// Returns the element that changes nothing, as a scalar or splat of `type`.
mlir::Value neutral(Writer &w, Combine how, mlir::Type type);
/// Combines two values lane by lane: scalars or vectors, floats or integers (for i1 max is or, and min is and). Max and
/// Min give NaN where an operand is NaN.
mlir::Value combine(Writer &w, Combine how, mlir::Value a, mlir::Value b);
/// Combines all lanes of a vector into a scalar; a scalar stays.
mlir::Value across(Writer &w, Combine how, mlir::Value v);
/// Returns whether any lane (i1) holds; a scalar stays.
mlir::Value any(Writer &w, mlir::Value lanes);
/// Combines vectors of which each has a lane of every row, in the order in which across() combines these lanes.
mlir::Value acrossColumns(Writer &w, Combine how, llvm::SmallVector<mlir::Value> columns);
/// Combines the lanes of each vector, for as many vectors as lanes (a power of two). Lane i is what across() makes of
/// vector i, in the same order.
mlir::Value acrossEach(Writer &w, Combine how, llvm::SmallVector<mlir::Value> vectors);
/// Returns `count` as a scalar or splat of `type`.
mlir::Value counted(Writer &w, Ix count, mlir::Type type);
/// Combines several values into one, as a balanced tree.
mlir::Value tree(Writer &w, Combine how, llvm::SmallVector<mlir::Value> values);

} // namespace ingot::lower
