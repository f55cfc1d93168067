// How fast bytes come that are read again and again, by the cache in which they stay.
#pragma once
#include "compiler/plan/Layout.h"
#include "compiler/target/MachineModel.h"

namespace ingot::lower {

/// Bytes a cycle, of so many that are read again and again.
double rateOf(double bytes, const target::MachineModel &machine);

/// Bytes a cycle of the kernel's weights when they are read for the first time in a run: they come from where the
/// weights of the whole model stay from one run to the next.
double weightRateOf(plan::KernelOp kernel, const target::MachineModel &machine);

} // namespace ingot::lower
