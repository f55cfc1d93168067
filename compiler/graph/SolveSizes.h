// Solves for symbols that the model allows only one value: "999*batch=999" means that batch is 1.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::graph {

/// Gives such symbols their values in all that is computed from the function's arguments; the run checks them. Returns
/// whether there were any: types have to be inferred anew then.
bool solveSizes(mlir::func::FuncOp function);

} // namespace ingot::graph
