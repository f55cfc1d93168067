// Changes of a model that compute the same in float and lose less when it is quantized.
#pragma once
#include "compiler/quantizer/Channels.h"
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Weights.h"
#include <map>

namespace ingot::quantizer {

/// SmoothQuant: channels of activations with outliers are divided by a factor that the weights are multiplied by,
/// (largest activation)^strength / (largest weight)^(1 - strength). Of MatMul and Gemm; the division is in the
/// LayerNormalization that makes the value where nothing else reads it, else a Mul. Layers with one operand share it.
/// `channels`: of the operands. Returns the number of values that were changed; layers have to be found anew.
int smooth(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Channels> &channels,
           double strength);

/// The mean of what rounding a layer's weights adds to its results, by the mean of each channel that it reads, is taken
/// from its bias. Layers without a constant bias stay as they are. Returns how many were changed.
int correctBias(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Channels> &channels,
                WeightForm form);

} // namespace ingot::quantizer
