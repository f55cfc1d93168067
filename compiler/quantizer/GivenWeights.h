// Makes weights inputs of a model, so that one compilation runs it with any.
#pragma once
#include "compiler/quantizer/Layers.h"

namespace ingot::quantizer {

/// Makes the weights of layers, which are in the model's own graph, inputs behind its own, one for each layer in their
/// order.
void giveWeights(Model &model, llvm::ArrayRef<Layer> layers);

} // namespace ingot::quantizer
