// Convolution from channel blocks to a few row-major channels, with constant weights: the heads of a detector, the last
// layer of a decoder. The lanes are the channels that are summed, since those of the result would be mostly empty.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Whether a Conv has so few output channels that lanes of inputs are faster than lanes of outputs.
bool isSumConv(mlir::Operation *op, const target::MachineModel &machine);

KernelShape sumConvShape(plan::KernelOp kernel, const target::MachineModel &machine);
void buildSumConv(Build &build);

} // namespace ingot::lower
