// What the ops of a block wait for.
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::partition {

/// Good as long as no op of the block is made or erased.
class Needs {
public:
  explicit Needs(mlir::Block &block);

  /// The ops of which `op` reads a result, or a size that they find.
  void each(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> f) const;

private:
  /// Ops of the block that find sizes of which an op speaks: it waits for them as for its operands.
  llvm::DenseMap<mlir::Operation *, llvm::SmallSetVector<mlir::Operation *, 2>> findersOf;
};

} // namespace ingot::partition
