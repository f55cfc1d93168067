// Convolution of row-major tensors, any groups, weights as they are: what nothing faster takes.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Of a Conv or ConvTranspose.
KernelShape plainConvShape(plan::KernelOp kernel, const target::MachineModel &machine);

/// Of an IntegerConv.
KernelShape plainIntegerConvShape(plan::KernelOp kernel);

} // namespace ingot::lower
