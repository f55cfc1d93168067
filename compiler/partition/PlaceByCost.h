// Finds the placement that costs least, by estimate.
#pragma once
#include "compiler/partition/Costs.h"

namespace ingot::partition {

/// Moves nodes, which are where the first device in the user's order takes them, to devices behind that one, where the
/// estimated run becomes shorter (by cost) and where a device's memory is too small. Nodes that moved say why.
/// Failure, with a message, where even then a memory is too small for what only its device can run.
mlir::LogicalResult placeByCost(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices,
                                llvm::MutableArrayRef<PlacedNode> nodes, const Costs &costs, const Policy &policy);

/// Returns for each node the number of its piece, -1 for those in the host's memory. A piece has nodes of one device
/// that depend on each other, as many as can be without a way out of the piece and back into it.
std::vector<int> numberPieces(llvm::ArrayRef<PlacedNode> nodes, const Costs &costs);

} // namespace ingot::partition
