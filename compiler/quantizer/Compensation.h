// Rounds the weights of a product by GPTQ, so that it makes up for its own rounding and for that of the layers in front
// (J. Li et al., "GPTAQ: Efficient Finetuning-Free Quantization for Asymmetric Calibration", 2025).
#pragma once
#include "compiler/quantizer/Blocks.h"
#include "compiler/quantizer/Channels.h"

namespace ingot::quantizer {

/// Sums up what a product reads: x, where the layers in front of it have the model's weights, and x^, where theirs are
/// rounded.
class ReadMoments {
public:
  explicit ReadMoments(int64_t channels = 0) : channels(channels) {}
  /// Takes in rows of both. A row with a value that is not finite is left out.
  void add(llvm::ArrayRef<float> exact, llvm::ArrayRef<float> rounded);
  void add(const ReadMoments &other);

  llvm::ArrayRef<float> moments() const { return own.moments(); } ///< the upper triangle of the sum of x^ x^'
  bool hasMoments() const { return own.hasMoments(); }
  /// Returns, for each row and column, the sum of x^ (x - x^)' by the weights.
  std::vector<float> missing(llvm::ArrayRef<float> weights, int64_t columns) const;
  /// Returns the squares of what the product is off with these values in place of its weights, less what it is off with
  /// its own ones.
  double loss(llvm::ArrayRef<float> weights, llvm::ArrayRef<float> values, int64_t columns) const;

private:
  int64_t channels;
  Channels own;
  std::vector<float> cross; ///< the sum of x^ (x - x^)'; empty: it is 0
};

/// Rounds the weights with which x^ gives what x gives with the given ones. `factor` is inverseFactor() of the moments.
BlockWeights compensated(const ReadMoments &read, llvm::ArrayRef<float> weights, int64_t rows, int64_t columns,
                         BlockForm form, llvm::ArrayRef<double> factor);

} // namespace ingot::quantizer
