// Brings a model to a newer version of ONNX's operators, node by node, since a quantized model may need operators that
// are newer than the model.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// Raises the model's opset to `version` at least. It is an error that a node has a definition for which there is no
/// newer one.
llvm::Error raiseOpset(Model &model, int64_t version);

} // namespace ingot::quantizer
