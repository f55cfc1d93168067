// Compares kernels, so that those that are equal become one function.
#pragma once
#include "compiler/plan/Plan.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"

namespace ingot::lower {

/// What equal kernels have in common, by which they become one function: everything that a builder may look at. Two
/// kernels are compared by their operations, as MLIR's CSE does it.
class KernelKey {
public:
  explicit KernelKey(plan::KernelOp kernel);

  /// The sizes that the kernel finds or knows, which only data determine, in the order of their first use.
  std::vector<support::Symbol> dataDependentSizes;

  friend bool operator==(const KernelKey &a, const KernelKey &b);
  struct Hash {
    size_t operator()(const KernelKey &key) const { return key.hash; }
  };

private:
  mlir::OwningOpRef<plan::KernelOp> kernel;
  std::vector<bool> constant; ///< whether each operand is constant
  llvm::hash_code hash{0};

  llvm::SmallVector<mlir::Operation *> operations() const;
};

} // namespace ingot::lower
