// Writes int4: weights of products become blocks of four-bit integers with a scale each, and activations stay as they
// are.
#pragma once
#include "compiler/quantizer/Layers.h"

namespace ingot::quantizer {

/// The least number of values of a table that becomes int4.
constexpr int64_t kLeastOfInt4Table = 1 << 20;

/// A matrix whose rows are summed over. A block is some rows of one column.
struct BlockWeights {
  std::vector<int8_t> values; ///< 0 to 15
  std::vector<float> scales;  ///< one for each block of each column, block by block
  std::vector<int8_t> zeros;  ///< zero points, likewise: a weight is (value - zero) * scale
};

/// Rounds each weight to the nearest integer, with the scales and zero points that lose least.
BlockWeights roundBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block);

/// Returns about what rounding loses where each row is multiplied by a factor before: the squares of errors, each times
/// the power of what the row is multiplied with in a product. Scales are those of the blocks' extremes.
double lossOfBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block,
                    llvm::ArrayRef<double> power, llvm::ArrayRef<float> by);

/// Rounds by GPTQ: the rows that follow a row make up for what rounding it loses, weighted by the activations that were
/// observed. `factor` is inverseFactor() of the sum of x x' over them, a matrix of rows by rows.
BlockWeights compensateBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, int64_t block,
                              llvm::ArrayRef<double> factor);

/// Returns the layer's weights as rows by columns, whether they are transposed in the file or not.
std::vector<float> rowsByColumns(const Layer &layer, llvm::ArrayRef<float> values);
int64_t rowsOf(const Layer &layer);
int64_t columnsOf(const Layer &layer);

/// Puts DequantizeLinear with blocks in front of the layers' weights.
void writeInt4(Model &model, llvm::ArrayRef<Layer> layers, llvm::ArrayRef<BlockWeights> weights, int64_t block);

} // namespace ingot::quantizer
