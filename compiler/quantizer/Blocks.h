// Writes weights of products as blocks of integers of 2, 4 or 8 bits with a scale and a zero point each; activations
// stay as they are.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot::quantizer {

/// The least number of values of a table that becomes blocks.
constexpr int64_t kLeastOfBlockTable = 1 << 20;

/// The number of bits of a weight, and how many rows of one column share a scale.
struct BlockForm {
  int bits = 4;
  int64_t rows = 32;
  float most() const { return float((1 << bits) - 1); } ///< the largest integer
};

/// A matrix whose rows are summed over, or several of one size, one behind the other. A block is some rows of one
/// column.
struct BlockWeights {
  BlockForm form;
  std::vector<uint8_t> values;
  std::vector<float> scales;  ///< one for each block of each column, block by block
  std::vector<uint8_t> zeros; ///< zero points, likewise: a weight is (value - zero) * scale
};

/// Rounds each weight to the nearest integer, with the scales and zero points that lose least.
BlockWeights roundBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, BlockForm form);

/// Returns about what rounding loses where each row is multiplied by a factor before: the squares of errors, each times
/// the power of what the row is multiplied with in a product. Scales are those of the blocks' extremes.
double lossOfBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, BlockForm form,
                    llvm::ArrayRef<double> power, llvm::ArrayRef<float> by);

/// Rounds by GPTQ: the rows that follow a row make up for what rounding it loses, weighted by the activations that were
/// observed. `factor` is inverseFactor() of the sum of x x' over them, a matrix of rows by rows.
BlockWeights compensateBlocks(llvm::ArrayRef<float> weights, int64_t rows, int64_t columns, BlockForm form,
                              llvm::ArrayRef<double> factor);

/// Rounds each weight once more, row by row, to what is best where all other weights are as they are. In GPTQ
/// each row makes up for the rounding of the rows in front of it alone. `moments` has the upper triangle of the sum of
/// x x'.
void refineBlocks(BlockWeights &blocks, llvm::ArrayRef<float> weights, int64_t rows, int64_t columns,
                  llvm::ArrayRef<float> moments);

/// Returns the form with blocks that are as long as each other, where that takes no more of them: not all runtimes read
/// a last one that is shorter. Kernels want a multiple of 16.
BlockForm fitted(BlockForm form, const Layer &layer);
/// Returns the layer's matrices as rows by columns, whether they are transposed in the file or not.
std::vector<float> rowsByColumns(const Layer &layer, llvm::ArrayRef<float> values);
/// Makes blocks of each of the layer's matrices, given as rows by columns.
BlockWeights blocksByMatrix(const Layer &layer, llvm::ArrayRef<float> weights,
                            llvm::function_ref<BlockWeights(llvm::ArrayRef<float>)> round);
BlockWeights roundBlocks(const Layer &layer, llvm::ArrayRef<float> weights, BlockForm form);
/// Returns the floats that blocks stand for, as the layer has its weights in the file.
std::vector<float> valuesOf(const BlockWeights &weights, const Layer &layer);
/// Returns the bytes of a layer's blocks, with scales and zero points.
int64_t bytesOf(const Layer &layer, BlockForm form);
int64_t rowsOf(const Layer &layer);
int64_t columnsOf(const Layer &layer);

/// Puts DequantizeLinear with blocks in front of the layers' weights.
void writeBlocks(Model &model, llvm::ArrayRef<Layer> layers, llvm::ArrayRef<BlockWeights> weights);

} // namespace ingot::quantizer
