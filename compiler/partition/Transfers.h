// Lets values cross to the memories in which they are read (plan -> plan).
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::partition {

/// Makes a plan.transfer of every value that is read in another memory than the one in which it is made. The function's
/// operands and results, but for bound ones (Bindings.h), and those of control ops, are in the host's. A value crosses
/// at most once in each direction: its transfer stands right behind it, so that it is under way while other kernels
/// run, and outside of the loop in which it is read.
void insertTransfers(mlir::func::FuncOp function);

} // namespace ingot::partition
