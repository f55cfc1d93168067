// Symbols that the model lets have one value only: "999*batch=999" means that batch is 1.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Gives such symbols their values, in all that is computed from the function's arguments; the run checks them. True
/// when there were any: types are to be inferred anew.
bool solveSizes(mlir::func::FuncOp function);

} // namespace ingot::graph
