// Weights as integers.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace ingot::ptq {

struct Int8Weights {
  std::vector<int8_t> values;
  std::vector<float> scales; ///< of each place along the axis, or one
};

/// Symmetric: zero is zero. `least`: scales that are no smaller, so that a bias in steps of them fits into 32 bits.
Int8Weights quantizeWeights(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, int axis, bool perTensor,
                            llvm::ArrayRef<float> least = {});

/// The place along `axis` of each value is (i / inner) % count.
struct Strides {
  int64_t inner = 1, count = 1;
  Strides(llvm::ArrayRef<int64_t> dims, int axis);
  size_t place(size_t i) const { return i / size_t(inner) % size_t(count); }
};

} // namespace ingot::ptq
