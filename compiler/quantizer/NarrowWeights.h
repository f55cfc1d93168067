// Writes weights as narrow floats, which an operator in front of the layers widens: float16 with a Cast to float32, or
// float8e4m3fn with a scale for each output channel and a DequantizeLinear.
#pragma once
#include "compiler/quantizer/Layers.h"

namespace ingot::quantizer {

/// The largest number that float16 has.
constexpr float kMostOfHalf = 65504;

/// Returns a tensor of float32 as one of float16, each value the nearest.
pb::TensorProto halfOf(const pb::TensorProto &tensor, const std::string &name);
/// Returns how far the nearest float16 is from a value.
double errorOfHalf(float value);

/// Makes the weights of layers and tables float16, of which none may be beyond the largest one. What is computed stays
/// float32.
void writeHalfWeights(Model &model, llvm::ArrayRef<Layer> layers);

/// Makes them float8e4m3fn. The scales of a table are its columns'.
void writeFloat8Weights(Model &model, llvm::ArrayRef<Layer> layers);

} // namespace ingot::quantizer
