// Describes resizing along one axis as a table: for each result position the operand positions that it is made of, and
// their weights.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace ingot::onnx {

/// The attributes of a Resize for one axis.
struct AxisResize {
  int64_t from = 1, to = 1; ///< lengths
  float scale = 1;
  llvm::StringRef mode, coordinates, nearestMode;
  float cubicA = -0.75F;
  bool excludeOutside = false, antialias = false;
  float roiStart = 0, roiEnd = 1; ///< the region of tf_crop_and_resize
};

/// The table has `taps` entries for each result position i: operand position index[t * to + i] and weight[t * to + i].
struct AxisTable {
  int64_t taps = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
  std::vector<char> inside; ///< for each result position: 0 where extrapolation_value stands (tf_crop_and_resize)
};
AxisTable tableOf(const AxisResize &axis);

} // namespace ingot::onnx
