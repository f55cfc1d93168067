// int8 without data: weights are integers in the file, and the range of what is multiplied by them is found by each
// run.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Weights.h"

namespace ingot::quantizer {

/// DynamicQuantizeLinear, MatMulInteger or ConvInteger, and the product with both scales, in place of each layer. A
/// recurrent one gets DequantizeLinear in front of it.
void writeDynamic(Model &model, llvm::ArrayRef<Layer> layers, WeightForm form);

} // namespace ingot::quantizer
