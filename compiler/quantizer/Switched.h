// Makes a model in which each layer can be computed as if it were quantized, alone or with others, by an input that a
// run sets: so one compilation tells how sensitive each layer is.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Range.h"
#include "compiler/quantizer/Weights.h"
#include <map>

namespace ingot::quantizer {

/// Adds an input for each layer, a bool without axes, behind the model's own and in the order of the layers.
void addSwitches(Model &model, llvm::ArrayRef<Layer> layers, const std::map<std::string, Encoding> &encodings,
                 WeightOptions options);

} // namespace ingot::quantizer
