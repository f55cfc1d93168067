// Writes LSTMs whose state is rounded by each run: DynamicQuantizeLSTM of com.microsoft, whose products are all of
// bytes.
#pragma once
#include "compiler/quantizer/Layers.h"

namespace ingot::quantizer {

/// Whether a layer has this form: an LSTM in the model's own graph, whose first axis is that of the steps.
bool hasRunForm(const Model &model, const Layer &layer);

/// Gives it to layers, whose nodes stay where they are.
void writeRunForms(Model &model, llvm::ArrayRef<Layer> layers);

} // namespace ingot::quantizer
