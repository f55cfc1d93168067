// Writes the zeros around the images of a kernel's blocked results.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Writes them where the first work item is run.
void zeroHalos(Build &build, plan::KernelOp kernel);

} // namespace ingot::lower
