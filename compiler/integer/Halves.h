// Products and convolutions of float32 in bfloat16, as --accuracy fast allows.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

/// Products with constant matrices become ones of bfloat16 with sums of float32: for machines that have an instruction
/// for these (Instruction::Bfloat16Dot). So do convolutions, for machines with tiles (TileBfloat16Dot);
/// vectors of bfloat16 are no match for Winograd's algorithm.
llvm::LogicalResult useHalves(mlir::func::FuncOp function, FormsOf formsOf);

} // namespace ingot::integer
