// Builds scatters where work items are threads (MachineModel::itemsAreThreads). Each item owns some places of the
// result and nobody else writes these. It copies them, where the result lies elsewhere than the data, walks the updates
// in their order, and writes or combines those that go to a place of its own. So the last of equal indices wins, and
// sums have the order that they have on a host, without a wait among threads.
//
// The data is [outer][looked][inner], where indices address the places of `looked`. An update's places along the other
// axes are its own, so that an item reads the indices of its `outer` and `inner` alone:
//
//   ScatterND, tuples of 2, data [8, 9, 64]:    outer 1    looked 72    inner 64
//   ScatterElements, axis 1, data [8, 9, 64]:   outer 8    looked 9     inner 64
//
// `owners` items share the places of `looked`; each reads all of the indices. Where constant indices address a box
// whose axes are those of the data, nothing is read or walked: an item has one place, and computes which update goes
// there.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Writes the update at `from` to the place `to` of the result, or combines it with what is there.
using WriteUpdate = llvm::function_ref<void(Ix from, Ix to)>;

/// Returns the work items of a scatter.
support::Size ownersOfPlaces(mlir::Operation *scatter);
/// Returns whether its items compute where updates go, so that its indices are not read.
bool isOwnedBox(mlir::Operation *scatter);
/// Writes the body of its kernel.
void scatterToOwnPlaces(Build &build, WriteUpdate write);

/// Returns how many updates an item walks, one after the other; nothing where only the run knows.
std::optional<int64_t> updatesOfOwner(mlir::Operation *scatter);

} // namespace ingot::lower
