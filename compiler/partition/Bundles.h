// Decides which small values go over a link in one copy, from figures alone. MergeTransfers.cpp keeps to it, and the
// costs of a placement foresee what it will do (Costs.cpp).
#pragma once
#include "compiler/target/Work.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace ingot::partition {

/// A value that crosses.
struct Crossing {
  double bytes = 0;
  double staging = 0; ///< seconds that it takes to copy it into the bundle and out of it, where it cannot lie there
  size_t ready = 0, wanted = 0; ///< places of the program: it may cross behind the first, and must ahead of the second
};

struct Bundle {
  llvm::SmallVector<size_t, 4> members; ///< numbers of values
  double saved;                         ///< seconds that the bundle saves
};

/// Returns the bundles for values in the order in which they are ready. A copy begins `link.latency` after it was asked
/// for: so much is saved by each value that goes along with others, less what it takes to stage it. Nothing waits for
/// that: none is wanted before the last is ready, and all together they take no longer than that latency on the link.
std::vector<Bundle> bundlesOf(llvm::ArrayRef<Crossing> values, const target::MachineModel::Link &link);

/// Returns the seconds in which the host copies so many bytes within its memory.
double stagingSeconds(double bytes, const target::MachineModel &host);

} // namespace ingot::partition
