// Convolution between row-major tensors of few channels, with constant weights: the lanes are neighbouring outputs of a
// row, since blocks of channels would be mostly empty, in memory as well as in registers.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Whether rows fill the lanes of a Conv better than its channels do.
bool isRowConv(mlir::Operation *op, const target::MachineModel &machine);

KernelShape rowConvShape(plan::KernelOp kernel);
void buildRowConv(Build &build);

} // namespace ingot::lower
