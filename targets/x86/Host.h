// What `native` asks of the operating system.
#pragma once
#include "compiler/target/MachineModel.h"

namespace ingot::targets::x86 {

/// Overwrites the cache sizes of `machine` by those that Linux reports of this host; what is not reported stays.
void readHostCaches(target::MachineModel &machine);

} // namespace ingot::targets::x86
