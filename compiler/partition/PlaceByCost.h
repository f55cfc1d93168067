// Finds the placement that costs least by the estimate of Costs.h, among those whose data fits into the devices'
// memories, and groups the placed nodes into pieces for the report.
#pragma once
#include "compiler/partition/Costs.h"

namespace ingot::partition {

/// Moves nodes to later devices of the user's order. On entry each node is on the first device that accepts it. It
/// moves where that makes the estimated run shorter (unless `policy.byCost` is false), or where the device's memory is
/// too small. PlacedNode::whyNot then says why. Fails with a message if a memory is too small even for the nodes that
/// no other device accepts.
mlir::LogicalResult placeByCost(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices,
                                llvm::MutableArrayRef<PlacedNode> nodes, const Costs &costs, const Policy &policy);

/// Returns for each node the number of its piece, from 0; -1 for nodes in the host's memory. A piece consists of
/// connected nodes of one device and one block. It is convex: no path of dependencies leaves it and comes back.
std::vector<int> numberPieces(llvm::ArrayRef<PlacedNode> nodes, const Costs &costs);

} // namespace ingot::partition
