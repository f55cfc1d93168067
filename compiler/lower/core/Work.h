// How much a kernel does in one launch, to decide whether splitting it over threads can pay.
#pragma once
#include "compiler/support/Size.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::lower {

/// About how many machine instructions one launch of a kernel takes: counted on its loops, with the work items as the
/// trip count of the loops over [begin, end). `lanes` is the length of the machine's vectors; `symbols` are those that
/// the kernel's sizes are made of, as its function takes them.
struct KernelWork {
  support::Size instructions = 0;
  bool dividesBySizes = false; ///< which may be zero: nothing that a run can compute without looking
};
KernelWork workOf(mlir::func::FuncOp kernel, llvm::ArrayRef<support::Symbol> symbols, const support::Size &items,
                  int64_t lanes);
/// The same where every symbol is 256; many where that cannot be told.
int64_t typicalWork(const support::Size &work);

} // namespace ingot::lower
