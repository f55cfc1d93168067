// Ranges from the values of many runs: what each method promises, compared with the values themselves.
#include "compiler/quantizer/Range.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace ingot::quantizer;

namespace {

std::vector<float> normals(size_t count, float scale, uint32_t seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

/// The mean of the squares by which bytes differ from the values.
double errorOf(const std::vector<float> &values, Encoding e) {
  double sum = 0;
  for (float value : values) {
    double q = std::clamp<double>(std::nearbyint(value / e.scale) + e.zero, e.least(), e.most());
    sum += std::pow((q - e.zero) * e.scale - value, 2);
  }
  return sum / double(values.size());
}

TEST(Encoding, HoldsZeroAndBothEnds) {
  for (bool isSigned : {false, true}) {
    for (FloatRange range :
         {FloatRange{-1, 3}, FloatRange{0, 6}, FloatRange{-0.5, 0}, FloatRange{-1e-6, 1e6}, FloatRange{-127, 127}}) {
      Encoding e = encodingOf(range, isSigned);
      EXPECT_TRUE(e.zero >= e.least() && e.zero <= e.most());
      EXPECT_LE((e.least() - e.zero) * double(e.scale), range.low + e.scale * 0.501);
      EXPECT_GE((e.most() - e.zero) * double(e.scale), range.high - e.scale * 0.501);
      EXPECT_EQ(e.isSigned, isSigned);
      EXPECT_TRUE(!isSigned || e.zero == 0) << "signed encodings are symmetric";
    }
  }
}

TEST(Encoding, OfNothingButZeroIsOne) { EXPECT_EQ(encodingOf({0, 0}, false).scale, 1); }

TEST(Statistics, MeanIsThatOfTheSamplesExtremes) {
  Statistics statistics;
  statistics.add(std::vector<float>{-1, 5});
  statistics.add(std::vector<float>{-3, 1, 2});
  statistics.add(llvm::ArrayRef<float>()); // a sample without values has no extremes
  statistics.add(std::vector<float>{0.5F});
  FloatRange range = statistics.choose(Method::Mean, 0, false);
  EXPECT_DOUBLE_EQ(range.low, (-1 - 3 + 0) / 3.0);
  EXPECT_DOUBLE_EQ(range.high, (5 + 2 + 0.5) / 3.0);
}

/// Samples are parted, and in the end all count.
TEST(Statistics, JoinAsIfOneHadSeenAll) {
  std::vector<float> values = normals(3000, 3, 3);
  values[2500] = -300; // the two parts have bins of different widths
  values[10] = INFINITY;
  Statistics whole, first, second;
  whole.add(values);
  first.add(llvm::ArrayRef(values).take_front(1000));
  second.add(llvm::ArrayRef(values).drop_front(1000));
  for (auto [to, from] : {std::pair(&first, &second), std::pair(&second, &first)}) {
    Statistics joined = *to;
    joined.add(*from);
    EXPECT_EQ(joined.count(), whole.count());
    EXPECT_EQ(joined.notFinite(), 1);
    for (Method method : {Method::MinMax, Method::Percentile, Method::Mse, Method::Entropy}) {
      FloatRange a = whole.choose(method, 99.9, false), b = joined.choose(method, 99.9, false);
      EXPECT_EQ(a.low, b.low) << ingot::support::wordOf(method);
      EXPECT_EQ(a.high, b.high) << ingot::support::wordOf(method);
    }
  }
  Statistics empty;
  empty.add(whole);
  EXPECT_EQ(empty.greatest(), whole.greatest());
}

TEST(Statistics, CountValuesTheSameInAnyPortions) {
  std::vector<float> values = normals(4097, 3, 1);
  values[7] = 900; // far beyond what the first portions have
  Statistics whole, parts;
  whole.add(values);
  for (size_t at = 0; at < values.size(); at += 100) {
    parts.add(llvm::ArrayRef(values).slice(at, std::min<size_t>(100, values.size() - at)));
  }
  EXPECT_EQ(whole.count(), 4097);
  EXPECT_EQ(whole.least(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(whole.greatest(), 900);
  for (Method method : {Method::MinMax, Method::Percentile, Method::Mse, Method::Entropy}) {
    FloatRange a = whole.choose(method, 99.9, false), b = parts.choose(method, 99.9, false);
    EXPECT_EQ(a.low, b.low) << ingot::support::wordOf(method);
    EXPECT_EQ(a.high, b.high) << ingot::support::wordOf(method);
  }
}

TEST(Statistics, RangesLieWithinTheExtremesAndHoldZero) {
  for (float shift : {-5.F, 0.F, 5.F}) {
    std::vector<float> values = normals(1000, 1, 2);
    std::for_each(values.begin(), values.end(), [&](float &value) { value += shift; });
    Statistics statistics;
    statistics.add(values);
    for (Method method : {Method::MinMax, Method::Percentile, Method::Mse, Method::Entropy}) {
      for (bool isSigned : {false, true}) {
        FloatRange range = statistics.choose(method, 99, isSigned);
        EXPECT_TRUE(range.low <= 0 && range.high >= 0) << ingot::support::wordOf(method);
        EXPECT_TRUE(range.low >= statistics.least() && range.high <= statistics.greatest())
            << ingot::support::wordOf(method);
      }
    }
  }
}

TEST(Statistics, PercentileLeavesOutThatShareOnEachSide) {
  std::vector<float> values(10001);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = float(i) - 5000;
  }
  Statistics statistics;
  statistics.add(values);
  FloatRange range = statistics.choose(Method::Percentile, 99, false);
  EXPECT_NEAR(range.low, -4900, 5); // a bin is 8192 / 2048 wide
  EXPECT_NEAR(range.high, 4900, 5);
}

TEST(Statistics, LeastSquaresAreNoWorseThanTheExtremes) {
  std::vector<float> values = normals(20000, 1, 3);
  values[0] = 50;
  Statistics statistics;
  statistics.add(values);
  for (bool isSigned : {false, true}) {
    double all = errorOf(values, encodingOf(statistics.choose(Method::MinMax, 0, isSigned), isSigned)),
           best = errorOf(values, encodingOf(statistics.choose(Method::Mse, 0, isSigned), isSigned));
    EXPECT_LE(best, all * 1.001);
  }
}

TEST(Statistics, SayWhatNoRangeCanBeMadeOf) {
  Statistics none, zeros, strange, tiny, huge;
  EXPECT_EQ(none.problem(), "has no values below 1e18 in any sample");
  zeros.add(std::vector<float>(3));
  EXPECT_EQ(zeros.problem(), "is 0 in all samples");
  strange.add({1, std::numeric_limits<float>::infinity(), std::nanf("")});
  EXPECT_EQ(strange.problem(), "is infinite or no number");
  EXPECT_EQ(strange.notFinite(), 2);
  tiny.add({1e-30F});
  EXPECT_EQ(tiny.problem(), "is 1.00e-30 at most, too small for a scale");
  huge.add({-3e38F, 2});
  EXPECT_EQ(huge.problem(), "") << "what stands for an infinity is left out";
  EXPECT_EQ(huge.least(), 0);
}

} // namespace
