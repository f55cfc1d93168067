// Decides which ops are computed by kernels, and so have a place to run.
#pragma once
#include "mlir/IR/Operation.h"
#include <vector>

namespace ingot::partition {

/// Whether an op only renames memory: it becomes a plan.view, where that memory is.
bool isView(mlir::Operation &op);
/// Whether an operand is needed only to build the code, such as the shape of a view, so that no kernel reads it as a
/// tensor when the model runs.
bool isParameterUse(mlir::OpOperand &use);
/// Whether an op runs on a device, rather than being a constant (or what becomes one), a view, a parameter,
/// control flow, or a kernel already.
bool isComputed(mlir::Operation &op);
/// Returns the blocks of a function and of the branches and loops in it, outer ones first. Regions of other ops, such
/// as the scores of an Attend, are not among them: they belong to the kernel of that op.
std::vector<mlir::Block *> blocksOf(mlir::Operation *function);
/// Returns the value whose memory `v` names, through views.
mlir::Value viewed(mlir::Value v);

} // namespace ingot::partition
