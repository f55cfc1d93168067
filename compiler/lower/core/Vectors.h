// Rearranging and reducing vectors in registers.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

/// rows[i] lane j -> result[j] lane i, for as many rows as lanes (a power of two): log2(lanes) rounds of two-operand
/// shuffles.
llvm::SmallVector<mlir::Value> transpose(Writer &w, llvm::SmallVector<mlir::Value> rows);

/// Lane 0 of each row, then lane 1 of each, and so on: as many vectors as rows.
llvm::SmallVector<mlir::Value> interleave(Writer &w, llvm::ArrayRef<mlir::Value> rows);

/// Ways to combine many elements into one.
enum class Combine {
  Add,
  Mul,
  Max,
  Min,
  UnsignedMax,
  UnsignedMin,
  Larger, ///< of floats, as Max, but a NaN may get lost: one instruction
};

/// The element that changes nothing, as a scalar or splat of `type`.
mlir::Value neutral(Writer &w, Combine how, mlir::Type type);
/// Two values, lane by lane; scalars or vectors, floats or integers (i1: max is or, min is and). Max and Min give NaN
/// where an operand is.
mlir::Value combine(Writer &w, Combine how, mlir::Value a, mlir::Value b);
/// All lanes of a vector into a scalar; a scalar stays.
mlir::Value across(Writer &w, Combine how, mlir::Value v);
/// Whether any lane (i1) holds; a scalar stays.
mlir::Value any(Writer &w, mlir::Value lanes);
/// The sum of each vector's lanes, for as many vectors as lanes (a power of two): lane i is that of vector i, added in
/// the order of across().
mlir::Value sumsOf(Writer &w, llvm::SmallVector<mlir::Value> vectors);
/// How many elements there are, as a scalar or splat of `type`.
mlir::Value counted(Writer &w, Ix count, mlir::Type type);
/// Several values into one, as a tree.
mlir::Value tree(Writer &w, Combine how, llvm::SmallVector<mlir::Value> values);

} // namespace ingot::lower
