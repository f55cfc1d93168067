// What makes the weights of a model visible as such, before anything is quantized.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// Constant nodes become initializers, Identity of one is gone, BatchNormalization behind a convolution is in its
/// weights, and weights that several convolutions share are then as many. `forProducts`: so are matrices that are
/// turned in front of products, and Gemm of constant weights is a product and a sum without factors.
void prepare(Model &model, bool forProducts);

/// The first node that is quantized or dequantized already, or a product of integers; null: there is none.
const pb::NodeProto *quantizedNode(Model &model);

} // namespace ingot::quantizer
