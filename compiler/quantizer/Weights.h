// Weights as integers.
#pragma once
#include "compiler/quantizer/Layers.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::quantizer {

struct WeightForm {
  bool perTensor = false; ///< one scale for a weight in place of one for each output channel
  /// Scales are so large that sums of products of neighbouring input channels fit into 16 bits, whatever bytes they are
  /// multiplied with: machines that multiply pairs of bytes and have no instruction for quads can take them. Not so
  /// those of recurrent layers.
  bool shortSums = false;
};

struct Int8Weights {
  std::vector<int8_t> values;
  std::vector<float> scales; ///< of each output channel, or one
};

/// Why integers cannot stand for the values of a weight or a bias, "has 2 values that are infinite or no numbers";
/// empty: they can.
std::string problemOf(llvm::ArrayRef<float> values);
/// Why a weight is 0 in integers, though it is not 0; empty: it is not. A small bias may be.
std::string problemOfSmall(llvm::ArrayRef<float> values);

/// Symmetric: zero is zero. `least`: scales that are no smaller, so that a bias in steps of them fits into 32 bits.
Int8Weights quantizeWeights(llvm::ArrayRef<float> values, const Layer &layer, WeightForm form,
                            llvm::ArrayRef<float> least = {});

/// The place along `axis` of each value is (i / inner) % count.
struct Strides {
  int64_t inner = 1, count = 1;
  Strides(llvm::ArrayRef<int64_t> dims, int axis);
  size_t place(size_t i) const { return i / size_t(inner) % size_t(count); }
};

} // namespace ingot::quantizer
