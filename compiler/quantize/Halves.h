// Products of float32 in bfloat16, as --accuracy fast allows.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::quantize {

/// Products with constant matrices become ones of bfloat16 with sums of float32: for machines that have an instruction
/// for these (MachineModel::halfDot).
llvm::LogicalResult useHalves(mlir::func::FuncOp function);

} // namespace ingot::quantize
