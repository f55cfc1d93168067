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
    for (auto [i, value] : llvm::enumerate(floatsOf(*index.weight(layer->weight)))) {
      costs[channels.input(i)] += double(value) * double(value) * inverse[channels.output(i)];
    }
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
    for (size_t i = 0; i < values.size() && !by.empty(); ++i) {
      values[i] *= by[channels.input(i)];
    }
    Int8Weights rounded = quantizeWeights(values, *layer, options);
    for (size_t i = 0; i < values.size(); ++i) {
      size_t in = channels.input(i), out = channels.output(i);
      double error = double(float(rounded.values[i]) * rounded.scales[options.perTensor ? 0 : out]) - double(values[i]);
      error /= by.empty() ? 1 : double(by[in]);
      sum += error * error * power[in] * inverse[out];
    }
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
  for (size_t i = 0; i < values.size(); i += inner) {
    size_t channel = places.place(i);
    float divisor = by.empty() ? 1 : by[channel];
    double sum = 0;
    for (size_t k = i; k < i + inner; ++k) {
      if (std::isfinite(values[k])) {
        float value = values[k] / divisor, q = std::clamp(std::nearbyint(value * inverse), least, most);
        float error = (value - q * to.scale) * divisor;
        sum += double(error) * double(error);
      }
    }
    sums[channel] += sum;
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
