// Makes a model in which each layer can be computed as if it were quantized, alone or with others, by an input that a
// run sets: so one compilation tells how sensitive each layer is.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Range.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace ingot::quantizer {

/// What a layer computes with when it is quantized.
struct Rounded {
  std::optional<Encoding> input;           ///< of what it reads; nothing: that stays as it is
  std::vector<std::vector<float>> weights; ///< those of weightsOf(), after rounding
};

/// Adds an input for each layer, a bool without axes, behind the model's own and in the order of the layers. `round`
/// says what it switches.
void addSwitches(Model &model, llvm::ArrayRef<Layer> layers,
                 llvm::function_ref<Rounded(const Index &index, const Layer &layer)> round);

} // namespace ingot::quantizer
