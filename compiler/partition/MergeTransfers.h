// Makes small values that cross the same way at about the same time go in one copy (plan -> plan).
#pragma once
#include "compiler/partition/PlaceNodes.h"
#include "compiler/plan/Plan.h"

namespace ingot::partition {

/// The machines whose memories a run uses.
struct Memories {
  const target::MachineModel *host;
  llvm::SmallVector<const target::MachineModel *> devices = {}; ///< machines in the order of `plan.devices`
  /// Returns the size that estimates take for a symbol that stays open.
  std::function<int64_t(support::Symbol)> sizeOf = [](support::Symbol) { return Policy::usualSize; };
};

/// A copy of a bundle, and how many seconds faster it is than copies of its parts.
struct MergedTransfer {
  plan::TransferOp transfer;
  double saved;
};

/// Makes one plan.transfer of several where that gains by the latency of the link (Bundles.h): of a plan.bundle, of
/// which each reader sees its part.
std::vector<MergedTransfer> mergeTransfers(mlir::func::FuncOp function, const Memories &memories);

} // namespace ingot::partition
