// Makes the weights of a model visible as such, before anything is quantized.
#pragma once
#include "compiler/quantizer/Model.h"

namespace ingot::quantizer {

/// Makes Constant nodes initializers, removes Identity of one, and puts BatchNormalization behind a convolution into
/// its weights, of which each convolution gets its own. With `forProducts`, matrices that are transposed in front of
/// products are transposed in the file, Gemm with constant weights becomes a product and a sum without factors, and
/// rows of tables that nobody reads are dropped.
void prepare(Model &model, bool forProducts);

/// Returns the first node that is quantized or dequantized already, or a product of integers; null: there is none.
const pb::NodeProto *quantizedNode(Model &model);

} // namespace ingot::quantizer
