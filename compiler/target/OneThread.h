// Knows machines on which nobody but its caller works on a kernel, as on a microcontroller.
#pragma once
#include "compiler/target/MachineModel.h"

namespace ingot::target {

/// More instructions than a kernel has.
inline constexpr int64_t neverSplit = 1 << 30;

/// Says of a machine that its kernels are not split.
inline void setOneThread(MachineModel &machine) { machine.tuning.leastWorkToSplit = neverSplit; }

/// Returns whether the kernels of a machine are not split.
inline bool isOneThread(const MachineModel &machine) { return machine.tuning.leastWorkToSplit >= neverSplit; }

} // namespace ingot::target
