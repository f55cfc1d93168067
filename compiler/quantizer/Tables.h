// Writes tables of embeddings as bytes, whatever becomes of the products.
#pragma once
#include "compiler/quantizer/Layers.h"

namespace ingot::quantizer {

/// Tables in bytes are worth it from fewer values on than those of four bits, whose errors are larger.
constexpr int64_t kLeastOfByteTable = 1 << 16;

/// Returns a layer whose axis is that of its scales in bytes: those of a table are its columns'.
inline Layer scaledBy(Layer layer) {
  layer.axis = isTable(layer) ? 1 : layer.axis;
  return layer;
}

/// Makes tables int8, with a scale for each column: rows are gathered as bytes, and what is gathered is dequantized. So
/// no run touches more of a table than it reads. Layers are found by their names.
void writeTables(Model &model, llvm::ArrayRef<Layer> tables);

} // namespace ingot::quantizer
