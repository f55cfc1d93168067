// Finds the ops of a block that an op depends on: those that make its operands, and those that define a data-dependent
// size that only its types or attributes mention, as `s` here:
//
//   %n = onnx.NonZero %x                        defines the symbol s
//   %y = onnx.Expand %z to [s, 4]               depends on NonZero, though %n is no operand
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::partition {

/// The dependencies between the ops of a block. They are valid as long as no op of the block is made or erased.
class Dependencies {
public:
  explicit Dependencies(mlir::Block &block);

  /// Calls `f` with each op whose result `op` reads, and with each that defines a size that `op` mentions.
  void each(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> f) const;

private:
  /// By op, the other ops of the block that define a size which it, or an op in its regions, mentions.
  llvm::DenseMap<mlir::Operation *, llvm::SmallSetVector<mlir::Operation *, 2>> definingOps;
};

} // namespace ingot::partition
