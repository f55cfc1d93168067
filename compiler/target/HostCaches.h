// Finds the sizes of the data caches of this host.
#pragma once
#include "compiler/target/MachineModel.h"

namespace ingot::target {

/// Overwrites the cache sizes of `machine` by those that Linux reports of this host; what is not reported stays.
void readHostCaches(MachineModel &machine);

} // namespace ingot::target
