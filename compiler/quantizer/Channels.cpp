#include "compiler/quantizer/Channels.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {

void Channels::add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, int axis) {
  if (dims.empty() || values.empty()) {
    return;
  }
  AxisPlaces strides(dims, axis < 0 ? int(dims.size()) + axis : axis);
  auto channels = size_t(strides.count);
  for (std::vector<float> *own : {&magnitudes, &least, &greatest}) {
    own->resize(channels);
  }
  sums.resize(channels), squares.resize(channels);
  PlaceWalk walk(strides);
  for (size_t i = 0; i < values.size(); ++i, walk.next()) {
    if (!std::isfinite(values[i])) {
      continue;
    }
    size_t place = walk.place();
    magnitudes[place] = std::max(magnitudes[place], std::fabs(values[i]));
    least[place] = std::min(least[place], values[i]), greatest[place] = std::max(greatest[place], values[i]);
    sums[place] += double(values[i]), squares[place] += double(values[i]) * double(values[i]);
  }
  count += int64_t(values.size()) / strides.count;
}

void Channels::addMoments(llvm::ArrayRef<float> values, int64_t channels) {
  products.resize(size_t(channels * channels));
  std::vector<const float *> finite;
  for (size_t row = 0; row + size_t(channels) <= values.size(); row += size_t(channels)) {
    const float *x = &values[row];
    if (std::all_of(x, x + channels, [](float value) { return std::isfinite(value); })) {
      finite.push_back(x);
    }
  }
  llvm::parallelFor(0, size_t(channels), [&](size_t i) {
    float *sum = &products[i * size_t(channels)];
    for (const float *x : finite) {
      for (size_t j = i; j < size_t(channels); ++j) {
        sum[j] += x[i] * x[j];
      }
    }
  });
}

bool Channels::hasMoments() const {
  return std::all_of(products.begin(), products.end(), [](float value) { return std::isfinite(value); }) &&
         std::any_of(products.begin(), products.end(), [](float value) { return value != 0; });
}

std::vector<float> Channels::means() const {
  std::vector<float> result(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    result[i] = float(sums[i] / double(std::max<int64_t>(count, 1)));
  }
  return result;
}

std::vector<double> Channels::powers() const {
  std::vector<double> result(squares);
  for (double &power : result) {
    power /= double(std::max<int64_t>(count, 1));
  }
  return result;
}

} // namespace ingot::quantizer
