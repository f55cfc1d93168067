#include "compiler/quantizer/Channels.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::quantizer {
namespace {

constexpr size_t kLanes = 8; // sums that vectors have side by side

/// Returns a value as it counts: one that is not finite as 0, which changes nothing.
float finite(float value) { return std::fabs(value) <= std::numeric_limits<float>::max() ? value : 0; }

struct Extremes {
  float least = 0, greatest = 0;
  double squares = 0;
};

/// Returns the extremes of values of one channel, with 0 among them, and the sum of their squares.
Extremes extremesOf(llvm::ArrayRef<float> values) {
  float least[kLanes] = {}, greatest[kLanes] = {};
  double squares[kLanes] = {};
  size_t whole = values.size() / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      float value = finite(values[i + lane]);
      least[lane] = std::min(least[lane], value), greatest[lane] = std::max(greatest[lane], value);
      squares[lane] += double(value) * double(value);
    }
  }
  for (size_t i = whole; i < values.size(); ++i) {
    float value = finite(values[i]);
    least[0] = std::min(least[0], value), greatest[0] = std::max(greatest[0], value);
    squares[0] += double(value) * double(value);
  }
  Extremes all;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    all.least = std::min(all.least, least[lane]), all.greatest = std::max(all.greatest, greatest[lane]);
    all.squares += squares[lane];
  }
  return all;
}

} // namespace

void Channels::add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, int axis) {
  if (dims.empty() || values.empty()) {
    return;
  }
  AxisPlaces strides(dims, axis < 0 ? int(dims.size()) + axis : axis);
  auto channels = size_t(strides.count);
  for (std::vector<float> *own : {&magnitudes, &least, &greatest}) {
    own->resize(channels);
  }
  squares.resize(channels);
  auto inner = size_t(strides.inner);
  if (inner < kLanes) {
    for (size_t i = 0; i < values.size(); i += channels * inner) { // a value of each channel, or a few
      for (size_t c = 0; c < channels; ++c) {
        for (size_t k = i + c * inner; k < i + (c + 1) * inner; ++k) {
          float value = finite(values[k]);
          least[c] = std::min(least[c], value), greatest[c] = std::max(greatest[c], value);
          squares[c] += double(value) * double(value);
        }
      }
    }
  }
  for (size_t i = 0; i < values.size() && inner >= kLanes; i += inner) {
    size_t c = strides.place(i);
    Extremes run = extremesOf(values.slice(i, inner));
    least[c] = std::min(least[c], run.least), greatest[c] = std::max(greatest[c], run.greatest);
    squares[c] += run.squares;
  }
  for (size_t c = 0; c < channels; ++c) {
    magnitudes[c] = std::max(-least[c], greatest[c]);
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

void Channels::addMoments(const Channels &other) {
  products.resize(std::max(products.size(), other.products.size()));
  for (size_t i = 0; i < other.products.size(); ++i) {
    products[i] += other.products[i];
  }
}

bool Channels::hasMoments() const {
  return std::all_of(products.begin(), products.end(), [](float value) { return std::isfinite(value); }) &&
         std::any_of(products.begin(), products.end(), [](float value) { return value != 0; });
}

std::vector<double> Channels::powers() const {
  std::vector<double> result(squares);
  for (double &power : result) {
    power /= double(std::max<int64_t>(count, 1));
  }
  return result;
}

} // namespace ingot::quantizer
