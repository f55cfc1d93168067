// int4: weights of products as blocks of four-bit integers with a scale each, activations as they are.
#pragma once
#include "compiler/quantizer/Layers.h"

namespace ingot::quantizer {

/// A matrix of rows that are summed over, by columns: blocks are along the rows.
struct BlockWeights {
  std::vector<int8_t> values; ///< -8 to 7
  std::vector<float> scales;  ///< of each block of each column, block by block
};

/// To the nearest.
BlockWeights roundBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block);

/// By GPTQ: what rounding a row loses is made up for by the rows that follow it, as the activations that were observed
/// want it. `factor` is inverseFactor() of the sum of x x' over them, rows by rows.
BlockWeights compensateBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block,
                              llvm::ArrayRef<double> factor);

/// The layer's weights as rows by columns, whether they are transposed in the file or not.
std::vector<float> rowsByColumns(const Layer &layer, llvm::ArrayRef<float> values);
int64_t rowsOf(const Layer &layer);
int64_t columnsOf(const Layer &layer);

/// DequantizeLinear with blocks in front of a layer's weights.
void writeInt4(Model &model, llvm::ArrayRef<Layer> layers, llvm::ArrayRef<BlockWeights> weights, int64_t block);

} // namespace ingot::quantizer
