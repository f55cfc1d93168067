// Writes int8 in QDQ form: QuantizeLinear and DequantizeLinear behind each value that a product reads, with ranges that
// were observed, and DequantizeLinear in front of its weights and its bias. For the scheme fp8 the bytes are
// float8e4m3fn.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Range.h"
#include "compiler/quantizer/Weights.h"
#include <map>

namespace ingot::quantizer {

/// Values of a model's own graph that are quantized, by name, each with the values whose scale it shares.
using Wanted = std::map<std::string, std::vector<std::string>>;

/// Returns the values that the layers read, and those that are moved there.
Wanted wantedBy(Model &model, llvm::ArrayRef<Layer> layers);

/// Returns the encoding of each wanted value: values that are moved into each other share the range that holds both,
/// unless one of them would lose more than two bits by that.
std::map<std::string, Encoding> encodingsOf(const Wanted &wanted, const std::map<std::string, FloatRange> &ranges,
                                            bool isSigned);

/// Writes the layers, which are in the model's own graph, and the values with these encodings.
void writeStatic(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Encoding> &encodings,
                 WeightOptions options);

/// Writes the weights of layers as bytes with a scale for each output channel; what they read and add stays float.
void writeByteWeights(Model &model, llvm::ArrayRef<Layer> layers, WeightOptions options);

} // namespace ingot::quantizer
