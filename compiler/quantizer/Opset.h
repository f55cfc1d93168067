// Brings a model to a newer version of ONNX's operators, node by node: what a quantized form needs may be newer than
// the model.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// To at least `version`. An error where a node has a form that has no newer one.
llvm::Error raiseOpset(Model &model, int64_t version);

} // namespace ingot::quantizer
