// Resizing along one axis as a table: for each result position the operand positions that it is made of, and their
// weights.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace ingot::onnx {

/// What Resize says of one axis.
struct AxisResize {
  int64_t from = 1, to = 1; ///< lengths
  float scale = 1;
  llvm::StringRef mode, coordinates, nearestMode;
  float cubicA = -0.75F;
  bool excludeOutside = false, antialias = false;
  float roiStart = 0, roiEnd = 1; ///< of tf_crop_and_resize
};

/// taps entries of each result position i: operand position index[t * to + i] and weight[t * to + i].
struct AxisTable {
  int64_t taps = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
  std::vector<char> inside; ///< of each result position: 0 where extrapolation_value stands (tf_crop_and_resize)
};
AxisTable tableOf(const AxisResize &axis);

} // namespace ingot::onnx
