// Which values may be written where others lie: what a launch replaces, and what a loop carries or extends.
#pragma once
#include "compiler/onnx/ops/Control.h"
#include "compiler/plan/Plan.h"

namespace ingot::memory {

/// What a value takes in its layout.
support::Size bytesOf(mlir::Value v);

/// Whether iterations change the size of a loop's result.
bool changes(mlir::Value result);

/// Whether room for the next value, the present one extended, can be asked for before the iteration.
bool mayAskBefore(onnx::LoopOp loop, unsigned i);

/// The operands of a launch in whose place its first result may be written, as far as the launch knows.
llvm::SmallVector<mlir::Value> replaceable(plan::LaunchOp launch);

/// Whether the next value of a carried one may be written where the present one lies.
bool mayReplace(onnx::LoopOp loop, unsigned i, mlir::Value next);

/// Whether nothing but `launch` reads `v` or a view of it from `launch` on.
bool readsComeBefore(mlir::Value v, plan::LaunchOp launch);

} // namespace ingot::memory
