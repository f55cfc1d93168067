// Compares the multiplications of a kernel with those of float32, for `bench --profile`: a machine does four products
// of bytes in the time of one of float32, and half a one of float64.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Returns how many multiply-adds of float32 a machine does in the time of those that a kernel does
/// (shape.multiplyAdds, or those of its ops). Nothing: the kernel does those of its ops, in float32.
std::optional<support::Size> floatMultiplyAdds(plan::KernelOp kernel, const KernelShape &shape,
                                               const target::MachineModel &machine);

} // namespace ingot::lower
