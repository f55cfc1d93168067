// Counts how much a kernel does in one launch, to decide whether splitting it over threads can pay.
#pragma once
#include "compiler/support/Size.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::lower {

/// What one launch of a kernel takes.
struct KernelWork {
  /// About how many machine instructions it takes.
  support::Size instructions = 0;
  /// Whether `instructions` divides by sizes that may be zero, so that a run cannot simply compute it.
  bool dividesBySizes = false;
};
/// Counts the instructions of a kernel's loops. The loops over [begin, end) count as often as there are work items.
/// `lanes` is the length of the machine's vectors; `symbols` are those that the kernel's sizes are made of, as its
/// function takes them.
KernelWork workOf(mlir::func::FuncOp kernel, llvm::ArrayRef<support::Symbol> symbols, const support::Size &items,
                  int64_t lanes);
/// Returns `work` where every symbol is 256; the largest number where that cannot be computed.
int64_t typicalWork(const support::Size &work);

} // namespace ingot::lower
