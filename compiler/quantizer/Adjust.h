// Changes a model so that it computes the same in float and loses less when it is quantized.
#pragma once
#include "compiler/quantizer/Channels.h"
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Weights.h"
#include <map>

namespace ingot::quantizer {

/// Divides channels of activations with outliers by a factor that the weights are multiplied by (SmoothQuant): (largest
/// activation)^strength / (largest weight)^(1 - strength). This is done for MatMul and Gemm; the division is put into
/// the LayerNormalization that makes the value where nothing else reads it, else it is a Mul. Layers with one operand
/// share it. `channels` are those of the operands. Returns the number of values that were changed; layers have to be
/// found anew.
int smooth(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Channels> &channels,
           double strength);

/// Subtracts from a layer's bias the mean of what rounding its weights adds to its results, which follows from the mean
/// of each channel that it reads. Layers without a constant bias stay as they are. Returns how many were changed.
int correctBias(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Channels> &channels,
                WeightOptions options);

} // namespace ingot::quantizer
