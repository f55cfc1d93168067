#include "compiler/quantizer/Choice.h"
#include "compiler/quantizer/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {

/// Returns 1 / power of each channel of a layer's result. A channel that is nearly silent beside the others counts as
/// if it had a hundredth of their amplitude: what is lost there is lost beside the others.
static std::vector<double> inversePowers(const Layer &layer, const std::map<std::string, Channels> &powers) {
  size_t count = WeightChannels(layer).outputCount();
  auto found = powers.find(layer.y);
  if (found == powers.end() || found->second.largest().size() != count) {
    return std::vector<double>(count, 1);
  }
  std::vector<double> result = found->second.powers();
  double sum = 0;
  for (double power : result) {
    sum += power;
  }
  constexpr double kSilent = 1e-4;
  for (double &power : result) {
    power = 1 / (power + kSilent * sum / double(count) + 1e-30);
  }
  return result;
}

std::vector<double> costOfChannels(const Index &index, const Readers &readers,
                                   const std::map<std::string, Channels> &powers, size_t count) {
  std::vector<double> costs(count);
  for (const Layer *layer : readers) {
    WeightChannels channels(*layer);
    std::vector<double> inverse = inversePowers(*layer, powers);
    llvm::ArrayRef<float> values = floatsOf(*index.weight(layer->weight));
    channels.forEach(values.size(), [&](size_t i, size_t in, size_t out) {
      costs[in] += double(values[i]) * double(values[i]) * inverse[out];
    });
  }
  return costs;
}

double costOfWeights(const Index &index, const Readers &readers, const std::map<std::string, Channels> &powers,
                     llvm::ArrayRef<double> power, llvm::ArrayRef<float> by, WeightOptions options) {
  double sum = 0;
  for (const Layer *layer : readers) {
    WeightChannels channels(*layer);
    std::vector<double> inverse = inversePowers(*layer, powers);
    std::vector<float> values(floatsOf(*index.weight(layer->weight)));
    std::vector<double> weighted(power); // a channel's power, as the factor leaves it
    for (size_t c = 0; c < by.size(); ++c) {
      weighted[c] /= double(by[c]) * double(by[c]);
    }
    if (!by.empty()) {
      channels.forEach(values.size(), [&](size_t i, size_t in, size_t) { values[i] *= by[in]; });
    }
    ByteWeights rounded = quantizeWeights(values, *layer, options);
    channels.forEach(values.size(), [&](size_t i, size_t in, size_t out) {
      auto error = double(float(rounded.values[i]) * rounded.scales[options.perTensor ? 0 : out] - values[i]);
      sum += error * error * weighted[in] * inverse[out];
    });
  }
  return sum;
}

void ChannelErrors::add(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> dims, int axis) {
  if (values.empty()) {
    return;
  }
  constexpr int64_t one = 1;
  llvm::ArrayRef<int64_t> axes = dims.empty() ? llvm::ArrayRef(one) : dims; // a scalar is one channel
  AxisPlaces places(axes, axis < 0 ? int(axes.size()) + axis : std::min(axis, int(axes.size()) - 1));
  sums.resize(size_t(places.count));
  float inverse = 1 / to.scale, least = float(to.least() - to.zero), most = float(to.most() - to.zero);
  auto inner = size_t(places.inner);
  // Values that are not finite, or that stand for an infinity, count as if they were exact.
  constexpr float kMost = 1e18F;
  auto squareOf = [&](float value, float divisor) {
    float part = value / divisor, q = roundedToInteger(std::min(std::max(part * inverse, least), most));
    float error = (part - q * to.scale) * divisor;
    return std::fabs(value) <= kMost ? error * error : 0;
  };
  if (inner == 1) { // the channels are neighbours
    auto channels = size_t(places.count);
    std::vector<float> divisors(by.empty() ? std::vector<float>(channels, 1) : by);
    for (size_t i = 0; i < values.size(); i += channels) {
      for (size_t c = 0; c < channels; ++c) {
        sums[c] += double(squareOf(values[i + c], divisors[c]));
      }
    }
  }
  for (size_t i = 0; i < values.size() && inner > 1; i += inner) {
    size_t channel = places.place(i);
    float divisor = by.empty() ? 1 : by[channel], sum = 0;
    constexpr size_t kLanes = 8; // sums that vectors have side by side
    float lanes[kLanes] = {};
    size_t k = 0;
    for (; k + kLanes <= inner; k += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] += squareOf(values[i + k + lane], divisor);
      }
    }
    for (; k < inner; ++k) {
      sum += squareOf(values[i + k], divisor);
    }
    for (float lane : lanes) {
      sum += lane;
    }
    sums[channel] += double(sum);
  }
  count += int64_t(values.size()) / places.count;
}

double ChannelErrors::cost(llvm::ArrayRef<double> costs) const {
  double sum = 0;
  for (size_t c = 0; c < sums.size(); ++c) {
    sum += sums[c] * (costs.size() == sums.size() ? costs[c] : 1);
  }
  return sum / double(std::max<int64_t>(count, 1));
}

} // namespace ingot::quantizer
