// Computes coordinates in single precision, as other runtimes do: which element is nearest then agrees with theirs.
#include "compiler/onnx/elements/Interpolation.h"
#include <algorithm>
#include <cmath>

namespace ingot::onnx {

/// Returns the place of result position i in the operand.
static float original(const AxisResize &a, int64_t i) {
  float x = static_cast<float>(i), n = static_cast<float>(a.from), m = static_cast<float>(a.to);
  if (a.coordinates == "asymmetric") {
    return x / a.scale;
  }
  if (a.coordinates == "align_corners") {
    return a.to == 1 ? 0 : x * (n - 1) / (m - 1);
  }
  if (a.coordinates == "pytorch_half_pixel") {
    return a.to > 1 ? (x + 0.5F) / a.scale - 0.5F : 0;
  }
  if (a.coordinates == "tf_half_pixel_for_nn") {
    return (x + 0.5F) / a.scale;
  }
  if (a.coordinates == "tf_crop_and_resize") {
    return a.to > 1 ? a.roiStart * (n - 1) + x * (a.roiEnd - a.roiStart) * (n - 1) / (m - 1)
                    : 0.5F * (a.roiStart + a.roiEnd) * (n - 1);
  }
  float half = (x + 0.5F) / a.scale - 0.5F;
  if (a.coordinates == "half_pixel_symmetric") {
    float adjustment = m / (a.scale * n);
    return n / 2 * (1 - adjustment) + half;
  }
  return half;
}

/// Without another mode, a place in the middle of two elements takes the lower one.
static int64_t nearest(const AxisResize &a, float x) {
  float below = std::floor(x);
  if (a.nearestMode == "floor") {
    return static_cast<int64_t>(below);
  }
  if (a.nearestMode == "ceil") {
    return static_cast<int64_t>(std::ceil(x));
  }
  if (a.nearestMode == "round_prefer_ceil") {
    return static_cast<int64_t>(std::floor(x + 0.5F));
  }
  if (a.nearestMode == "simple") { // opsets before 11
    return static_cast<int64_t>(a.scale < 1 ? std::ceil(x) : below);
  }
  return static_cast<int64_t>(x == below + 0.5F ? below : std::round(x));
}

static double linearWeight(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }
/// The weight of an element at this distance by Keys' cubic convolution, which reaches two elements to each side.
static double cubicWeight(double distance, double a) {
  double x = std::fabs(distance);
  if (x <= 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Taps beyond the edges read the outermost element, or weigh nothing with excludeOutside; weights are divided by their
/// sum. For linear, from 2 elements to 4 with half_pixel:
///
///   places    -0.25   0.25   0.75   1.25
///   index      0 0    0 1    0 1    1 1
///   weight    .25 .75 .75 .25 .25 .75 .75 .25
AxisTable tableOf(const AxisResize &a) {
  AxisTable table;
  bool isNearest = a.mode == "nearest", cubic = a.mode == "cubic";
  // The filter is stretched where an antialiased image shrinks.
  double stretch = a.antialias && a.to > 0 ? std::min(1.0F, a.scale) : 1;
  // The place of the first tap, from floor(x).
  int64_t reach = static_cast<int64_t>(std::floor((cubic ? -2 : -1) / stretch)) + 1;
  table.taps = isNearest ? 1 : 2 - 2 * reach;
  table.index.resize(table.taps * a.to);
  table.weight.resize(table.taps * a.to, 1);
  table.inside.resize(a.to, 1);
  for (int64_t i = 0; i < a.to; ++i) {
    float x = original(a, i);
    if (a.coordinates == "tf_crop_and_resize") {
      table.inside[i] = x >= 0 && x <= static_cast<float>(a.from - 1);
    }
    if (isNearest) {
      table.index[i] = std::clamp<int64_t>(nearest(a, x), 0, a.from - 1);
      continue;
    }
    auto first = static_cast<int64_t>(std::floor(x)) + reach;
    double sum = 0;
    for (int64_t t = 0; t < table.taps; ++t) {
      int64_t at = first + t;
      double distance = (static_cast<double>(at) - x) * stretch,
             w = cubic ? cubicWeight(distance, a.cubicA) : linearWeight(distance);
      bool outside = at < 0 || at >= a.from;
      w = outside && a.excludeOutside ? 0 : w;
      table.index[t * a.to + i] = std::clamp<int64_t>(at, 0, a.from - 1);
      table.weight[t * a.to + i] = w;
      sum += w;
    }
    for (int64_t t = 0; t < table.taps && sum != 0; ++t) {
      table.weight[t * a.to + i] /= sum;
    }
  }
  return table;
}

} // namespace ingot::onnx
