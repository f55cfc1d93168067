// Bytes as int16, for machines that multiply pairs of those and have no instruction for bytes.
#pragma once
#include "compiler/integer/MachineForms.h"
#include "compiler/onnx/formats/Convolutions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::integer {

bool isDepthwise(formats::Int8ConvOp op);
/// Whether it is a product or a convolution of bytes. Depthwise convolutions are of single channels.
bool multipliesBytes(mlir::Operation *op);

/// What products and convolutions of integers read becomes int16 where it is made, rather than for each panel of
/// weights that it is multiplied with; but for those whose sums are short (Int16Sums.h). Depthwise convolutions read a
/// byte once for all they do with it, and keep them. Returns whether there was one.
bool widenFactors(mlir::func::FuncOp function, FormsOf formsOf);

} // namespace ingot::integer
