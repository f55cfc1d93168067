// Makes one model of several that differ in constants alone, so that one compilation runs them all: constants that
// differ are inputs, and each model says what it gives to them.
#pragma once
#include "compiler/quantizer/Model.h"
#include <optional>

namespace ingot::quantizer {

struct Alternatives {
  Model model;
  std::vector<std::vector<pb::TensorProto>> values; ///< of each model, for the inputs behind its own
};

/// Nothing: the models have other nodes, or constants of other shapes.
std::optional<Alternatives> alternativesOf(llvm::ArrayRef<Model> models);

} // namespace ingot::quantizer
