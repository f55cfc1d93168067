// Makes sums short where the options ask for it. A kernel adds up the products of input channels 8 i, 8 i + 1, 8 i + 4
// and 8 i + 5 in one lane of int16, and those of the other four in another one (compiler/integer/Int16Sums.h). The sum
// of the positive weights of a lane is 128 at most, and so is that of the negative ones, since 128 * 255 is below 2^15.
// A depthwise kernel of three rows and columns adds up all products of two neighbouring rows, or of two columns.
#include "compiler/quantizer/Weights.h"
#include "compiler/importer/ElementType.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

namespace ingot::quantizer {

AxisPlaces::AxisPlaces(llvm::ArrayRef<int64_t> dims, int axis) : count(dims[axis]) {
  for (int64_t dim : dims.drop_front(axis + 1)) {
    inner *= dim;
  }
}

namespace {

constexpr int kMost = 127, kMostOfLane = 128;
constexpr float kLeastScale = 1e-12F;

/// The lanes in which products with weights are added up, by numbers.
class Lanes {
public:
  explicit Lanes(const Layer &layer) : outputs(layer.dims, layer.axis), inputs(layer.dims, layer.inputAxis()) {
    groups = layer.groups;
    for (int64_t dim : llvm::ArrayRef(layer.dims).drop_front(2)) {
      taps *= dim;
    }
    if (groups > 1 && inputs.count == 1 && layer.dims.size() == 4 && layer.dims[2] <= 3 && layer.dims[3] <= 3) {
      rows = layer.dims[2], columns = layer.dims[3];
    }
    steps = inputs.count / kStep + 2; // a group may begin and end in the middle of a step
    ofOutput = rows ? kDepthwise : taps * steps * 2;
  }
  size_t count() const { return size_t(outputs.count * ofOutput); }
  size_t outputOf(size_t lane) const { return lane / size_t(ofOutput); }

  llvm::SmallVector<size_t, 4> of(size_t i) const {
    int64_t output = int64_t(outputs.place(i)), tap = int64_t(i) % taps;
    if (rows) {
      return ofDepthwise(output, tap / columns, tap % columns);
    }
    int64_t first = output * groups / outputs.count * inputs.count;
    int64_t channel = first + int64_t(inputs.place(i)), step = channel / kStep - first / kStep;
    return {size_t(output * ofOutput + (tap * steps + step) * 2 + channel % 4 / 2)};
  }

  /// Returns for each lane the sum of its positive values, and that of the magnitudes of its negative ones.
  template <typename Sum, typename T> std::vector<std::array<Sum, 2>> sums(llvm::ArrayRef<T> values) const {
    std::vector<std::array<Sum, 2>> sums(count());
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t lane : of(i)) {
        sums[lane][values[i] < 0] += std::abs(Sum(values[i]));
      }
    }
    return sums;
  }

private:
  static constexpr int64_t kStep = 8, kDepthwise = 4;
  AxisPlaces outputs, inputs;
  int64_t groups = 1, taps = 1, steps = 1, ofOutput = 0;
  int64_t rows = 0, columns = 0; ///< the size of a depthwise kernel that has such lanes, else 0

  /// Returns the lanes of a tap: two lanes are of rows, and two of columns. Each line is in the lane of the line before
  /// it and in that of the next.
  llvm::SmallVector<size_t, 4> ofDepthwise(int64_t output, int64_t row, int64_t column) const {
    llvm::SmallVector<size_t, 4> lanes;
    auto add = [&](int64_t first, int64_t line, int64_t lines) {
      for (int64_t lane = std::max<int64_t>(0, line - 1); lane <= std::min(line, std::max<int64_t>(0, lines - 2));
           ++lane) {
        lanes.push_back(size_t(output * ofOutput + first + lane));
      }
    };
    add(0, row, rows), add(2, column, columns);
    return lanes;
  }
};

/// Calls a function for runs of values with the first one, its channel, their number, and the step from one's channel
/// to the next one's: neighbours have the same channel, or each has the next. Loops over such runs become vectors.
template <typename Take> void forRuns(size_t values, const AxisPlaces &places, Take take) {
  auto inner = size_t(places.inner), count = size_t(places.count);
  for (size_t i = 0; i < values && inner == 1; i += count) {
    take(i, 0, count, 1);
  }
  for (size_t i = 0; i < values && inner > 1; i += inner) {
    take(i, places.place(i), inner, 0);
  }
}

/// Returns the largest magnitude of each channel.
std::vector<float> largestOf(llvm::ArrayRef<float> values, const AxisPlaces &places) {
  std::vector<float> largest(size_t(places.count));
  forRuns(values.size(), places, [&](size_t first, size_t channel, size_t count, size_t step) {
    for (size_t k = 0; k < count && step > 0; ++k) {
      largest[k] = std::max(largest[k], std::fabs(values[first + k]));
    }
    constexpr size_t kParts = 8; // maxima that vectors have side by side
    float parts[kParts] = {};
    size_t whole = step > 0 ? 0 : count / kParts * kParts;
    for (size_t k = 0; k < whole; k += kParts) {
      for (size_t part = 0; part < kParts; ++part) {
        parts[part] = std::max(parts[part], std::fabs(values[first + k + part]));
      }
    }
    for (size_t k = whole; k < count && step == 0; ++k) {
      parts[0] = std::max(parts[0], std::fabs(values[first + k]));
    }
    largest[channel] = std::max(largest[channel], *std::max_element(parts, parts + kParts));
  });
  return largest;
}

/// Returns the least scales of all output channels with which sums are short, apart from rounding.
std::vector<float> scalesOf(llvm::ArrayRef<float> values, const Lanes &lanes, size_t outputs) {
  std::vector<float> scales(outputs);
  for (auto [lane, sums] : llvm::enumerate(lanes.sums<float>(values))) {
    float &own = scales[lanes.outputOf(lane)];
    own = std::max(own, std::max(sums[0], sums[1]) / kMostOfLane);
  }
  return scales;
}

/// Makes weights a step smaller where rounding made sums too large, those first that were rounded up most.
void shorten(llvm::ArrayRef<float> exact, const Lanes &lanes, std::vector<int8_t> &values) {
  auto sums = lanes.sums<int>(llvm::ArrayRef<int8_t>(values));
  auto isOver = [&](size_t i) {
    return values[i] && llvm::any_of(lanes.of(i), [&](size_t lane) { return sums[lane][values[i] < 0] > kMostOfLane; });
  };
  std::vector<std::pair<float, size_t>> rounded;
  for (size_t i = 0; i < values.size(); ++i) {
    if (isOver(i)) {
      rounded.push_back({std::fabs(exact[i]) - std::fabs(float(values[i])), i});
    }
  }
  llvm::sort(rounded);
  for (auto [much, i] : rounded) {
    if (isOver(i)) {
      bool isNegative = values[i] < 0;
      llvm::for_each(lanes.of(i), [&](size_t lane) { --sums[lane][isNegative]; });
      values[i] = int8_t(values[i] + (isNegative ? 1 : -1));
    }
  }
}

} // namespace

std::string problemOf(llvm::ArrayRef<float> values) {
  constexpr float kMostFinite = 1e18F; // float32 holds the product of two scales of such values
  int64_t strange = llvm::count_if(values, [](float value) { return !std::isfinite(value); });
  int64_t huge = llvm::count_if(values, [](float value) { return std::fabs(value) > kMostFinite; });
  if (strange > 0) {
    return "has " + std::to_string(strange) +
           (strange == 1 ? " value that is infinite or no number" : " values that are infinite or no numbers");
  }
  return huge > 0 ? "has " + std::to_string(huge) + (huge == 1 ? " value" : " values") + " beyond 1e18" : "";
}

std::string problemOfSmall(llvm::ArrayRef<float> values) {
  float largest = 0;
  for (float value : values) {
    largest = std::max(largest, std::fabs(value));
  }
  bool isSmall = largest > 0 && largest / kMost < kLeastScale;
  return isSmall ? llvm::formatv("is {0:e2} at most, too small for a scale", largest).str() : "";
}

ByteWeights quantizeWeights(llvm::ArrayRef<float> values, const Layer &layer, WeightOptions options,
                            llvm::ArrayRef<float> least) {
  AxisPlaces strides(layer.dims, layer.axis);
  options.shortSums &= !layer.isRecurrent() && !layer.hasMatrices();
  Lanes lanes(layer);
  auto outputs = size_t(strides.count);
  std::vector<float> scales = options.shortSums ? scalesOf(values, lanes, outputs) : std::vector<float>(outputs);
  std::vector<float> largest = largestOf(values, strides);
  for (auto [own, most] : llvm::zip(scales, largest)) {
    own = std::max(own, most / kMost);
  }
  if (options.perTensor) {
    scales = {*std::max_element(scales.begin(), scales.end())};
  }
  ByteWeights result;
  for (size_t c = 0; c < scales.size(); ++c) {
    float scale = scales[c] > 0 ? std::max(scales[c], kLeastScale) : 1;
    result.scales.push_back(std::max(scale, least.empty() ? 0 : least[c]));
  }
  result.values.resize(values.size());
  std::vector<float> wanted = options.perTensor ? std::vector<float>(outputs, result.scales.front()) : result.scales;
  std::vector<float> exact(options.shortSums ? values.size() : 0);
  forRuns(values.size(), strides, [&](size_t first, size_t channel, size_t count, size_t step) {
    for (size_t k = 0; k < count; ++k) {
      float value = values[first + k] / wanted[channel + k * step];
      result.values[first + k] = int8_t(roundedToInteger(std::min<float>(std::max<float>(value, -kMost), kMost)));
    }
    for (size_t k = 0; k < count && options.shortSums; ++k) {
      exact[first + k] = values[first + k] / wanted[channel + k * step];
    }
  });
  if (options.shortSums) {
    shorten(exact, lanes, result.values);
  }
  return result;
}

ByteWeights float8Weights(llvm::ArrayRef<float> values, const Layer &layer) {
  const support::FloatFormat &format = support::elementType(importer::kFloat8E4M3FN).format;
  AxisPlaces strides(layer.dims, layer.axis);
  ByteWeights result;
  for (float most : largestOf(values, strides)) {
    result.scales.push_back(most > 0 ? std::max(most / float(format.largest()), kLeastScale) : 1);
  }
  PlaceWalk scaled(strides);
  for (size_t i = 0; i < values.size(); ++i, scaled.next()) {
    result.values.push_back(int8_t(format.encode(double(values[i]) / double(result.scales[scaled.place()]))));
  }
  return result;
}

int64_t bytesOf(const Layer &layer, WeightOptions options) {
  int64_t scales = options.perTensor ? 1 : layer.dims[size_t(layer.axis)];
  return layer.values() + (layer.isRecurrent() ? 2 : 1) * scales * int64_t(sizeof(float));
}

std::vector<float> valuesOf(const ByteWeights &weights, const Layer &layer) {
  PlaceWalk walk(AxisPlaces(layer.dims, layer.axis));
  std::vector<float> values(weights.values.size());
  for (size_t i = 0; i < values.size(); ++i, walk.next()) {
    values[i] = float(weights.values[i]) * weights.scales[weights.scales.size() > 1 ? walk.place() : 0];
  }
  return values;
}

} // namespace ingot::quantizer
