// Chooses ranges. min-max takes all values in, and mean what the samples reach on the average. percentile leaves a
// share of them out on each side. mse and entropy try ranges: they shrink both ends by the same factor, then each end
// alone, and keep the range for which the quantized values differ least from the floats, by the mean of squares or by
// the divergence of Kullback and Leibler between the two distributions.
#include "compiler/quantizer/Range.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace ingot::quantizer {

/// The least scale: smaller ones make 1 / scale infinite, or the product of two of them zero.
constexpr double kLeastScale = 1e-12;

Encoding encodingOf(FloatRange range, bool isSigned) {
  double largest = std::max(std::fabs(range.low), std::fabs(range.high));
  if (largest == 0) {
    return {1, 0, isSigned};
  }
  if (isSigned) {
    return {float(std::max(largest / 127, kLeastScale)), 0, true};
  }
  auto scale = float(std::max((range.high - range.low) / 255, kLeastScale));
  return {scale, int(std::clamp(std::nearbyint(-range.low / scale), 0.0, 255.0)), false};
}

Encoding asFloat8(Encoding integers) {
  return {integers.scale * 127 / Encoding::kMostOfFloat8, 0, true, /*isFloat8=*/true};
}

std::string Statistics::problem() const {
  double largest = std::max(-low, high);
  if (strange > 0) {
    return "is infinite or no number";
  }
  if (total == 0) {
    return "has no values below 1e18 in any sample";
  }
  if (largest == 0) {
    return "is 0 in all samples";
  }
  return largest / 127 < kLeastScale ? llvm::formatv("is {0:e2} at most, too small for a scale", largest).str() : "";
}

void Statistics::widen(double magnitude) {
  if (reach == 0) {
    bins.assign(kBins, 0);
    reach = std::exp2(std::ceil(std::log2(std::max(magnitude, 1e-30))));
  }
  while (reach < magnitude) {
    std::vector<int64_t> wider(kBins);
    for (int64_t i = 0; i < kBins; ++i) {
      wider[kZero / 2 + i / 2] += bins[i];
    }
    bins = std::move(wider);
    reach *= 2;
  }
}

/// Whether a number stands for an infinity, as the padding of an image in front of a maximum does: it ends up at the
/// end of any range.
static bool isBeyond(float value) {
  constexpr float most = 1e18F; // float32 does not hold the square of a larger number
  return std::fabs(value) > most;
}

void Statistics::add(llvm::ArrayRef<float> values) {
  float least = 0, greatest = 0;
  total += int64_t(values.size());
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++strange;
    } else if (isBeyond(value)) {
      --total;
    } else {
      least = std::min(least, value), greatest = std::max(greatest, value);
    }
  }
  lows += double(least), highs += double(greatest), samples += values.empty() ? 0 : 1;
  low = std::min<double>(low, least), high = std::max<double>(high, greatest);
  if (double magnitude = std::max(-low, high); magnitude > 0) {
    widen(magnitude);
  }
  if (reach == 0) {
    return;
  }
  double perWidth = 1 / width();
  for (float value : values) {
    if (std::isfinite(value) && !isBeyond(value)) {
      auto bin = int64_t(std::floor(value * perWidth)) + kZero;
      ++bins[std::clamp<int64_t>(bin, 0, kBins - 1)];
    }
  }
}

void Statistics::add(const Statistics &other) {
  total += other.total, strange += other.strange;
  lows += other.lows, highs += other.highs, samples += other.samples;
  low = std::min(low, other.low), high = std::max(high, other.high);
  if (other.reach == 0) {
    return;
  }
  widen(other.reach);
  Statistics same = other; // bins of the two have one width then
  same.widen(reach);
  for (int64_t i = 0; i < kBins; ++i) {
    bins[i] += same.bins[i];
  }
}

FloatRange Statistics::percentileRange(double percentile) const {
  auto beyond = double(total - strange) * (1 - percentile / 100);
  int64_t first = 0, last = kBins - 1;
  for (double left = 0; first < kBins && left + double(bins[first]) <= beyond; ++first) {
    left += double(bins[first]);
  }
  for (double right = 0; last >= 0 && right + double(bins[last]) <= beyond; --last) {
    right += double(bins[last]);
  }
  return {std::clamp((double(first - kZero)) * width(), low, 0.0),
          std::clamp((double(last + 1 - kZero)) * width(), 0.0, high)};
}

double Statistics::squaredError(FloatRange range, bool isSigned) const {
  Encoding to = encodingOf(range, isSigned);
  double sum = 0, withinBin = width() * width() / 12;
  for (int64_t i = 0; i < kBins; ++i) {
    if (bins[i] == 0) {
      continue;
    }
    double value = (double(i - kZero) + 0.5) * width();
    double q = std::clamp<double>(std::nearbyint(value / to.scale) + to.zero, to.least(), to.most());
    double error = value - (q - to.zero) * to.scale;
    sum += double(bins[i]) * (error * error + withinBin);
  }
  return sum;
}

double Statistics::divergence(FloatRange range, bool isSigned) const {
  Encoding to = encodingOf(range, isSigned);
  auto binOf = [&](double value) {
    return std::clamp<int64_t>(int64_t(std::floor(value / width())) + kZero, 0, kBins - 1);
  };
  auto stepOf = [&](int64_t i) {
    double value = (double(i - kZero) + 0.5) * width();
    return size_t(std::clamp<double>(std::nearbyint(value / to.scale) + to.zero, to.least(), to.most()) - to.least());
  };
  // Two distributions are compared: that of the floats, of which those beyond the range are put at its ends, and that
  // of the steps, each of which stands evenly for its bins that are not empty.
  int64_t first = binOf(range.low), last = binOf(range.high);
  std::vector<double> counts(256), filled(256);
  for (int64_t i = first; i <= last; ++i) {
    counts[stepOf(i)] += double(bins[i]), filled[stepOf(i)] += bins[i] ? 1 : 0;
  }
  double within = std::accumulate(counts.begin(), counts.end(), 0.0), sum = 0;
  if (within == 0) {
    return HUGE_VAL;
  }
  double before = std::accumulate(bins.begin(), bins.begin() + first, 0.0);
  double behind = std::accumulate(bins.begin() + last + 1, bins.end(), 0.0);
  for (int64_t i = first; i <= last; ++i) {
    double own = double(bins[i]) + (i == first ? before : 0) + (i == last ? behind : 0);
    if (own > 0) {
      size_t step = stepOf(i);
      double p = own / double(total - strange), q = bins[i] ? counts[step] / filled[step] / within : 0;
      sum += p * std::log(p / std::max(q, 1e-9));
    }
  }
  return sum;
}

template <typename Cost> FloatRange Statistics::search(Cost cost, bool isSigned) const {
  FloatRange best{low, high};
  double least = cost(best, isSigned);
  auto attempt = [&](FloatRange range) {
    if (double found = cost(range, isSigned); found < least) {
      least = found, best = range;
    }
  };
  constexpr int kTries = 48;
  for (int i = 1; i < kTries; ++i) {
    double part = 1 - double(i) / kTries;
    attempt({low * part, high * part});
  }
  FloatRange both = best;
  for (int i = 1; i < kTries && !isSigned; ++i) {
    double part = 1 - double(i) / kTries;
    attempt({low * part, both.high});
  }
  both = best;
  for (int i = 1; i < kTries && !isSigned; ++i) {
    double part = 1 - double(i) / kTries;
    attempt({both.low, high * part});
  }
  return best;
}

FloatRange Statistics::choose(Method method, double percentile, bool isSigned) const {
  if (method == Method::MinMax || reach == 0) {
    return {low, high};
  }
  if (method == Method::Mean) {
    return {lows / double(samples), highs / double(samples)};
  }
  if (method == Method::Percentile) {
    return percentileRange(percentile);
  }
  if (method == Method::Mse) {
    return search([&](FloatRange range, bool s) { return squaredError(range, s); }, isSigned);
  }
  return search([&](FloatRange range, bool s) { return divergence(range, s); }, isSigned);
}

std::vector<int64_t> Statistics::histogram(size_t parts) const {
  std::vector<int64_t> counts(parts);
  for (auto [bin, count] : llvm::enumerate(bins)) {
    double middle = (double(int64_t(bin) - kZero) + 0.5) * width();
    double place = high > low ? (middle - low) / (high - low) * double(parts) : 0;
    counts[size_t(std::clamp(place, 0.0, double(parts - 1)))] += count;
  }
  return counts;
}

} // namespace ingot::quantizer
