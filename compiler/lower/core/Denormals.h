// Floats that are too small to be normal.
#pragma once
#include "compiler/plan/Plan.h"
#include "compiler/target/MachineModel.h"

namespace ingot::lower {

/// Whether products of a kernel are likely to be of denormal floats, on a machine that is slow with them
/// (MachineModel::denormalBits). Not where accuracy is strict.
bool meetsDenormals(plan::KernelOp kernel, const target::MachineModel &machine);

/// Makes a kernel's function take denormal floats for zeros.
void takeDenormalsForZeros(mlir::func::FuncOp function, const target::MachineModel &machine);

} // namespace ingot::lower
