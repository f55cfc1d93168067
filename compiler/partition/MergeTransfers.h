// Merges transfers of small values between the same two memories, at about the same time, into one (plan -> plan).
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

/// Replaces several plan.transfer by one of a plan.bundle, of which each reader has a view, where that saves latencies
/// of the link (Bundles.h). Returns the new transfers.
std::vector<MergedTransfer> mergeTransfers(mlir::func::FuncOp function, const Memories &memories);

} // namespace ingot::partition
