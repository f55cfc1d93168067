// Groups the ops of a function, whose devices are known, into kernels: plan.kernel ops, one for each group (onnx ->
// plan).
#pragma once
#include "compiler/partition/PlaceNodes.h"

namespace ingot::partition {

/// Returns the most bytes of arguments (ingot_launch.args) that a launch of a kernel of these ops takes.
int64_t argumentBytes(llvm::ArrayRef<mlir::Operation *> ops);

/// Sets the function's attribute `plan.devices` to the specs of the devices with a memory of their own, in the order of
/// --target. The number of a device in plan IR is its position there plus 1; 0 is the host. Without such devices there
/// is no attribute.
void nameDevices(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices);

/// Replaces all ops that have an entry in `devicesOfOps` by plan.kernel ops, each of which computes ops of one device
/// and has its spec as `target`, and ops that only rename memory by plan.view. FormKernels.cpp says which ops form a
/// kernel.
void formKernels(mlir::func::FuncOp function, const DeviceMap &devicesOfOps);

} // namespace ingot::partition
