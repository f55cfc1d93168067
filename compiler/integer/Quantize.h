// Quantized models in the form that integer kernels compute: docs/quantization.md.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

/// Whether anything in it is quantized, or a product of integers.
bool isQuantized(mlir::func::FuncOp function);

/// Products and convolutions of dequantized tensors become sums of integers, where `strict` does not ask for the order
/// of operations that the model has, and so do products with weights of few bits where the machine gains by it. What
/// stays dequantized may be folded from here on.
llvm::LogicalResult useIntegers(mlir::func::FuncOp function, bool strict, FormsOf formsOf);

} // namespace ingot::integer
