// Finds the ops of a block that must run before an op: those that make its operands, and those that find a
// data-dependent size of which it depends by its types or attributes only, as `s` here:
//
//   %n = onnx.NonZero %x                        finds the symbol s
//   %y = onnx.Expand %z to [s, 4]               waits for NonZero, though %n is no operand
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::partition {

/// What the ops of a block wait for. Valid as long as no op of the block is made or erased.
class Needs {
public:
  explicit Needs(mlir::Block &block);

  /// Calls `f` with each op whose result `op` reads, and with each that finds a size `op` mentions.
  void each(mlir::Operation *op, llvm::function_ref<void(mlir::Operation *)> f) const;

private:
  /// For an op those other ops of the block that find a size which it, or an op in its regions, mentions.
  llvm::DenseMap<mlir::Operation *, llvm::SmallSetVector<mlir::Operation *, 2>> definingOps;
};

} // namespace ingot::partition
