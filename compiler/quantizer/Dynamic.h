// Writes int8 without data: weights are integers in the file, and each run finds the range of the values that they are
// multiplied by.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Weights.h"

namespace ingot::quantizer {

/// Writes DynamicQuantizeLinear, MatMulInteger or ConvInteger, and the product with both scales in place of each layer.
/// A recurrent layer gets DequantizeLinear in front of its weights.
void writeDynamic(Model &model, llvm::ArrayRef<Layer> layers, WeightOptions options);

} // namespace ingot::quantizer
