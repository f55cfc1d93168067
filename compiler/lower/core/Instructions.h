// Instructions of the machine (compiler/target/Instructions.def) in kernels.
#pragma once
#include "compiler/lower/core/Writer.h"

namespace ingot::lower {

using target::Instruction;

/// What an instruction that w.machine has makes of the operands, whose vectors fill a register; null: it has no result.
mlir::Value instruction(Writer &w, target::Instruction which, mlir::ValueRange operands);

} // namespace ingot::lower
