// Decides which ops become one kernel (onnx -> plan).
#pragma once
#include "compiler/partition/PlaceNodes.h"

namespace ingot::partition {

/// Bytes of arguments (ingot_launch.args) that a kernel of these ops takes at most.
int64_t argumentBytes(llvm::ArrayRef<mlir::Operation *> ops);

/// Notes on the function which devices have a memory of their own (plan.devices).
void nameDevices(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices);

/// Wraps all ops of the function that have a place in plan.kernel groups, each on one device (and views, which cost
/// nothing). A kernel's `target` is its device's spec.
void formKernels(mlir::func::FuncOp function, const DeviceMap &devicesOfOps);

} // namespace ingot::partition
