// Computes convolutions of row-major tensors with any groups, whose weights stay as they are. It serves what nothing
// faster takes.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Returns the shape of the kernel of a Conv or ConvTranspose.
KernelShape rowMajorConvShape(plan::KernelOp kernel, const target::MachineModel &machine);

/// Returns the shape of the kernel of an Int8Conv.
KernelShape rowMajorInt8ConvShape(plan::KernelOp kernel);

} // namespace ingot::lower
