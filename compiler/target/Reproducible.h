// Says what code may know of a machine where results are to have the same bits on all of them (--accuracy
// reproducible). Kernels ask the machine model alone, so this is the one place that decides it: what the model says of
// vectors, registers, caches and instructions is then the same for every machine, and with it the choice of algorithms,
// the order of sums, and that products are rounded before they are added up.
#pragma once
#include "compiler/target/MachineModel.h"

namespace ingot::target {

/// The version of what reproducible results are computed by. It counts up when a model may get other bits than before;
/// test/reproducible/bits.json has the bits of this version.
inline constexpr int64_t arithmeticVersion = 2;

/// Returns the machine as kernels may see it whose bits every machine has.
MachineModel reproducible(const MachineModel &machine);

} // namespace ingot::target
