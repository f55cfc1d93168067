// Collects the values that a tensor has in many runs, in bounded memory, and chooses a range from them.
#pragma once
#include "compiler/support/Words.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::quantizer {

struct FloatRange {
  double low = 0, high = 0; ///< the ends of the range, which holds 0
};

/// The floats that a tensor of bytes stands for: (q - zero) * scale.
struct Encoding {
  float scale = 1;
  int zero = 0;
  bool isSigned = false;
  bool isFloat8 = false; ///< whether q is a number of float8e4m3fn, not an integer
  int least() const { return isFloat8 ? -kMostOfFloat8 : isSigned ? -128 : 0; }
  int most() const { return isFloat8 ? kMostOfFloat8 : isSigned ? 127 : 255; }
  static constexpr int kMostOfFloat8 = 448;
};
Encoding encodingOf(FloatRange range, bool isSigned);
/// Returns the encoding by float8e4m3fn of the range that one of signed integers has.
Encoding asFloat8(Encoding integers);

/// The way in which a range is chosen. Auto is none of these: the one that costs a layer least is taken for each value.
enum class Method { Auto, MinMax, Mean, Percentile, Entropy, Mse };
inline constexpr support::Word<Method> methodWords[] = {
    {Method::Auto, "auto"},       {Method::MinMax, "min-max"},
    {Method::Mean, "mean"},       {Method::Percentile, "percentile"},
    {Method::Entropy, "entropy"}, {Method::Mse, "mse"}};
inline llvm::ArrayRef<support::Word<Method>> wordsOf(Method) { return methodWords; }

/// The extremes of values, and a histogram whose bins all double when a value lies beyond them: so values are counted
/// once, and counts never have to be guessed at. Finite numbers beyond 1e18 are left out.
class Statistics {
public:
  /// Takes in the values of one sample, or of a part of one: the method Mean counts how often this was called.
  void add(llvm::ArrayRef<float> values);
  /// Takes in what other statistics have seen.
  void add(const Statistics &other);

  int64_t count() const { return total; }
  int64_t notFinite() const { return strange; }
  double least() const { return low; }
  double greatest() const { return high; }

  /// Returns why no range says what the tensor is like, "is 0 in all samples"; empty: one does.
  std::string problem() const;
  /// Returns how many values lie in each of some parts of the extremes, which are as wide as each other.
  std::vector<int64_t> histogram(size_t parts) const;
  /// Chooses a range by a method, which is not Auto.
  FloatRange choose(Method method, double percentile, bool isSigned) const;

private:
  /// The first bin of positive values, and the number of all bins.
  static constexpr int64_t kZero = 2048, kBins = 2 * kZero;
  double width() const { return reach / double(kZero); }
  void widen(double magnitude);
  FloatRange percentileRange(double percentile) const;
  /// Returns the range within the extremes for which `cost` is least.
  template <typename Cost> FloatRange search(Cost cost, bool isSigned) const;
  double squaredError(FloatRange range, bool isSigned) const;
  double divergence(FloatRange range, bool isSigned) const;

  int64_t total = 0, strange = 0;
  double low = 0, high = 0;
  double lows = 0, highs = 0; ///< sums of the extremes of each sample
  int64_t samples = 0;        ///< samples that had a value
  double reach = 0;           ///< how far the histogram goes to both sides, a power of two; 0: there is none yet
  std::vector<int64_t> bins;
};

} // namespace ingot::quantizer
