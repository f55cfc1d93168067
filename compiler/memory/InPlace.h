// Decides which values may be written where others lie: a launch's result in the place of an operand, and the next
// value of a loop in the place of the present one.
#pragma once
#include "compiler/onnx/ops/Control.h"
#include "compiler/plan/Plan.h"

namespace ingot::memory {

/// Returns the bytes that a value takes in its layout.
support::Size bytesOf(mlir::Value v);

/// Returns whether iterations change the size of a loop's result.
bool changes(mlir::Value result);

/// Returns whether the room for the next value of carried value `i` can be asked for before the iteration. That is so
/// where the next value is the present one extended, and its size is known by then.
bool mayAskBefore(onnx::LoopOp loop, unsigned i);

/// Returns the operands of a launch in whose place its first result may be written, as far as the launch alone tells:
/// the kernel allows it, the types agree, and no other operand is the same value. Whether the operand is still needed
/// afterwards is another question.
llvm::SmallVector<mlir::Value> replaceable(plan::LaunchOp launch);

/// Returns whether `next`, the next value of carried value `i`, may be written where the present one lies: every read
/// of the present one comes before, or the launch that makes `next` reads it in place.
bool mayReplace(onnx::LoopOp loop, unsigned i, mlir::Value next);

/// Returns whether nothing reads `v`, or a view of it, behind `launch`.
bool readsComeBefore(mlir::Value v, plan::LaunchOp launch);

} // namespace ingot::memory
