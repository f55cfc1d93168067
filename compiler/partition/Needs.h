// Tells what the ops of a block wait for.
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::partition {

/// The needs of ops, which hold as long as no op of the block is made or erased.
class Needs {
public:
  explicit Needs(mlir::Block &block);

  /// Calls `f` with the ops of which `op` reads a result, or a size that they find.
  void each(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> f) const;

private:
  /// The ops of the block that find sizes of which an op speaks: it waits for them as for its operands.
  llvm::DenseMap<mlir::Operation *, llvm::SmallSetVector<mlir::Operation *, 2>> findersOf;
};

} // namespace ingot::partition
