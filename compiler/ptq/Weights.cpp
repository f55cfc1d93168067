#include "compiler/ptq/Weights.h"
#include <algorithm>
#include <cmath>

namespace ingot::ptq {

Strides::Strides(llvm::ArrayRef<int64_t> dims, int axis) : count(dims[axis]) {
  for (int64_t dim : dims.drop_front(axis + 1)) {
    inner *= dim;
  }
}

Int8Weights quantizeWeights(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, int axis, bool perTensor,
                            llvm::ArrayRef<float> least) {
  constexpr int kMost = 127;
  Strides strides(dims, axis);
  std::vector<float> largest(perTensor ? 1 : size_t(strides.count));
  for (size_t i = 0; i < values.size(); ++i) {
    float &own = largest[perTensor ? 0 : strides.place(i)];
    own = std::max(own, std::fabs(values[i]));
  }
  Int8Weights result;
  for (size_t c = 0; c < largest.size(); ++c) {
    float scale = largest[c] > 0 ? std::max(largest[c] / kMost, 1e-12f) : 1;
    result.scales.push_back(std::max(scale, least.empty() ? 0 : least[c]));
  }
  result.values.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    float steps = std::nearbyint(values[i] / result.scales[perTensor ? 0 : strides.place(i)]);
    result.values[i] = int8_t(std::clamp<float>(steps, -kMost, kMost));
  }
  return result;
}

} // namespace ingot::ptq
