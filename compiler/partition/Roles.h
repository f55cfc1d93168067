// Decides which ops are computed by kernels, and so have a place to run.
#pragma once
#include "mlir/IR/Operation.h"
#include <vector>

namespace ingot::partition {

/// Whether an op only renames memory: it becomes a plan.view, where that memory is.
bool isView(mlir::Operation &op);
/// Whether sizes are read where the code is written, and not as a tensor by the run.
bool isParameterUse(mlir::OpOperand &use);
/// Whether an op runs on a device, rather than being a constant (or what becomes one), a view, a parameter,
/// control flow, or a kernel already.
bool isComputed(mlir::Operation &op);
/// Returns the blocks of a function and of its control flow, outer ones first; what a kernel's root holds is a part of
/// it.
std::vector<mlir::Block *> blocksOf(mlir::Operation *function);
/// Returns the value whose memory `v` names, through views.
mlir::Value viewed(mlir::Value v);

} // namespace ingot::partition
