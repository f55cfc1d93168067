// What all ways to compute attention have in common: where a row is, its scores, and what a row without keys gives.
#pragma once
#include "compiler/lower/attention/AttentionPlan.h"
#include "compiler/onnx/ops/Attention.h"

namespace ingot::lower {

/// Returns the coordinates of a row: the index along each axis that shares keys, then the query.
Ixs attentionRowAt(const AttentionProblem &p, Ix row);

/// Returns the score for a product of a query and a key: the ops of Attend's region on it, and on the other values that
/// `read` gives. All are vectors of `lanes` elements.
mlir::Value attentionScore(Writer &w, onnx::AttendOp op, llvm::ArrayRef<AttentionOther> others, mlir::Value product,
                           int64_t lanes, llvm::function_ref<mlir::Value(const AttentionOther &)> read);

/// Returns the number (i64) of the last key that the query at `at` looks at, where `space` is that of the scores. It
/// may be behind all keys, or before the first one.
mlir::Value lastKeyAt(Writer &w, Group &group, const AttentionOther &lastKey, const Space &space, const Point &at);
/// Returns how many keys there are up to the last one (i64).
Ix keysUpTo(Writer &w, const AttentionProblem &p, mlir::Value last);

/// Returns (i1) whether a row whose weights have this sum gives 0, since it has no key to look at; null where no row
/// does.
mlir::Value isEmptyRow(Writer &w, onnx::AttendOp op, const AttentionProblem &p, mlir::Value sum);

/// Returns the point of the result of [outer..., row..., column], with `lanes` columns.
Point attentionResultAt(onnx::AttendOp op, const Point &axes);

} // namespace ingot::lower
