// Rewrites products and convolutions of float32 in bfloat16, as --accuracy fast allows.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

/// Makes products with constant matrices ones of bfloat16 with sums of float32, for machines that have an instruction
/// for these (Instruction::Bfloat16Dot). Convolutions become so for machines with tiles (TileBfloat16Dot); vectors of
/// bfloat16 are no match for Winograd's algorithm. Returns whether there were any.
mlir::FailureOr<bool> useBfloat16(mlir::func::FuncOp function, FormsOf formsOf);

} // namespace ingot::integer
