// How much a kernel does in one launch, to decide whether splitting it over threads can pay.
#pragma once
#include "compiler/support/Size.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::lower {

/// About how many machine instructions one launch of a kernel takes: counted on its loops, with the work items as the
/// trip count of the loops over [begin, end), and every symbol taken as 256. `lanes` is the length of the machine's
/// vectors.
int64_t workOf(mlir::func::FuncOp kernel, const support::Size &items, int64_t lanes);

} // namespace ingot::lower
