// What products of other types than float32 cost the multipliers of a machine, for `bench --profile`.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// The multiplications with accumulation of float32 that a machine does in the time of those that a kernel takes: its
/// own ones, which are its ops' or shape.multiplyAdds. Nothing: they are its ops' and of float32.
std::optional<support::Size> floatMultiplyAdds(plan::KernelOp kernel, const KernelShape &shape,
                                               const target::MachineModel &machine);

} // namespace ingot::lower
