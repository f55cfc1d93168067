// Marks products of bytes whose sums are taken in int16, for machines that multiply pairs of bytes and saturate.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

/// Marks products and convolutions of integers by constant weights that are so small that no sum of a pair of products,
/// or of those of two dot products of four, leaves int16, whatever bytes they are multiplied with
/// (onnx::int16DotsName). Where some factor is also read by one whose weights are larger, none of those that read it is
/// marked: they want it as int16 (Int16Factors.h).
void markInt16Sums(mlir::func::FuncOp function, FormsOf formsOf);

} // namespace ingot::integer
