// A first convolution: reads the caller's row-major image, of few channels, and writes channel blocks.
#pragma once
#include "compiler/lower/conv/DenseConv.h"

namespace ingot::lower {

/// Whether a convolution of bytes reads its image so, of four channels at most.
bool isByteStem(mlir::Operation *root, const target::MachineModel &machine);
KernelShape stemConvShape(plan::KernelOp kernel, const target::MachineModel &machine);
std::vector<target::Schedule> stemConvSchedules(plan::KernelOp kernel, const target::MachineModel &machine);
void buildStemConv(Build &build);

} // namespace ingot::lower
