// Decides which small values go over a link (of the host and a device) together, in one copy, from their sizes and
// times alone. MergeTransfers.cpp makes the copies that it decides, and Costs.cpp asks it for the costs of a placement.
//
//   values by order    a: ready 1, wanted 9    b: ready 2, wanted 7    c: ready 8, wanted 9
//   bundles            {a, b}, copied between positions 2 and 7; c is ready only when b is wanted already
#pragma once
#include "compiler/target/OpTime.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace ingot::partition {

/// A value that is copied over the link.
struct Crossing {
  double bytes = 0;
  double staging = 0; ///< seconds to copy it into the bundle and out of it; 0 where it has its place in the bundle
  /// Positions in the program: the value may be copied after `ready`, and must have been copied before `wanted`.
  size_t ready = 0, wanted = 0;
};

/// Values that are copied together.
struct Bundle {
  llvm::SmallVector<size_t, 4> members; ///< the values, by their index among those given
  double saved;                         ///< seconds that the bundle saves
};

/// Returns the bundles for values in the order in which they are ready, from first to last without going back. A bundle
/// of n values saves (n - 1) * link.latency seconds, less the staging of all; one that saves nothing is not made. No
/// value is delayed much: none is wanted before the last one is ready, and the bytes of a bundle take no longer on the
/// link than its latency.
std::vector<Bundle> bundlesOf(llvm::ArrayRef<Crossing> values, const target::MachineModel::Link &link);

/// Returns the seconds that the host takes to copy `bytes` within its memory, which reads and writes them.
double stagingSeconds(double bytes, const target::MachineModel &host);

} // namespace ingot::partition
