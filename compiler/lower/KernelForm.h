// Compares kernels, so that those that are equal become one function.
#pragma once
#include "compiler/plan/Plan.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"

namespace ingot::lower {

/// The form of a kernel, by which equal kernels become one function: everything that a builder may look at. Two kernels
/// are compared by their operations, as MLIR's CSE does it.
class KernelForm {
public:
  explicit KernelForm(plan::KernelOp kernel);

  /// The sizes that the kernel finds or knows as dataDependentSizes, in the order of their first use.
  std::vector<support::Symbol> dataDependentSizes;

  friend bool operator==(const KernelForm &a, const KernelForm &b);
  struct Hash {
    size_t operator()(const KernelForm &form) const { return form.hash; }
  };

private:
  mlir::OwningOpRef<plan::KernelOp> kernel;
  std::vector<bool> constant; ///< whether each operand is constant
  llvm::hash_code hash{0};

  llvm::SmallVector<mlir::Operation *> operations() const;
};

} // namespace ingot::lower
