// Marks inputs and outputs whose memory is a device's (plan -> plan).
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace ingot::partition {

/// The name of an input or output, and the device in whose memory the caller has it.
using Bindings = std::vector<std::pair<std::string, std::string>>;

/// Marks the function's arguments and results (plan.device), where insertTransfers() sees it. Errors are the user's: a
/// name or a device that the model does not have, a tensor that cannot be bound.
mlir::LogicalResult bindToDevices(mlir::func::FuncOp function, const Bindings &bindings);

} // namespace ingot::partition
