// Brings quantized models into the form that integer kernels compute: docs/quantization.md.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

/// Whether anything in a function is quantized, or a product of integers.
bool isQuantized(mlir::func::FuncOp function);

/// Makes products and convolutions of dequantized tensors sums of integers, where `strict` does not ask for the order
/// of operations that the model has. Tensors that stay dequantized may be folded from here on, except weights that some
/// machines multiply as they are.
llvm::LogicalResult useIntegers(mlir::func::FuncOp function, bool strict);

/// Makes products and recurrences of floats by such weights ones of bytes where the machine gains by it; the other
/// weights may be folded. Returns whether there were any.
mlir::FailureOr<bool> useBytes(mlir::func::FuncOp function, FormsOf formsOf);

} // namespace ingot::integer
