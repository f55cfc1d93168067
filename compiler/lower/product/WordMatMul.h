// Computes products of bytes by constant matrices where there are no vectors: a row of the left factor by a few columns
// at a time, whose sums share a step of the row (bytes/WordProducts.h). Where columns are left over, the last ones are
// computed again. Where steps are vectors, so are the sums of four columns when they are finished.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Returns why an Int8MatMul is not computed so; empty: it is.
std::string whyNoWords(plan::KernelOp kernel, const target::MachineModel &machine);
/// Returns the cycles of a matrix: about a cycle for each instruction.
double wordCycles(plan::KernelOp kernel, const target::MachineModel &machine);
KernelShape wordMatMulShape(plan::KernelOp kernel, const target::MachineModel &machine);

} // namespace ingot::lower
