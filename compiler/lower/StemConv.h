// A first convolution: reads the caller's row-major image, of few channels, and writes channel blocks.
#pragma once
#include "compiler/lower/DenseConv.h"

namespace ingot::lower {

KernelShape stemConvShape(plan::KernelOp kernel, const target::MachineModel &machine);
std::vector<target::Schedule> stemConvSchedules(plan::KernelOp kernel, const target::MachineModel &machine);
void buildStemConv(Build &build);

} // namespace ingot::lower
