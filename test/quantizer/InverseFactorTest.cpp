// U' U is the inverse: at sizes that fill blocks and tiles or do not, on one thread and on several, for matrices that
// are not positive.
#include "compiler/quantizer/InverseFactor.h"
#include "llvm/Support/Parallel.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using ingot::quantizer::inverseFactor;

namespace {

/// The upper triangle of sums of x x' over random vectors; what is below must not be read.
std::vector<float> moments(int64_t n, int64_t vectors, uint32_t seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> result(size_t(n * n)), x(static_cast<size_t>(n));
  for (int64_t v = 0; v < vectors; ++v) {
    std::generate(x.begin(), x.end(), [&] { return normal(random); });
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j) {
        result[size_t(i * n + j)] += x[size_t(i)] * x[size_t(j)];
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    std::fill_n(&result[size_t(i * n)], i, NAN);
  }
  return result;
}

/// The largest element of (A + damping) U' U - 1.
double residual(const std::vector<float> &a, const std::vector<double> &u, int64_t n) {
  double mean = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    mean += double(a[size_t(i * n + i)]) / double(n);
  }
  for (int64_t column = 0; column < n; ++column) {
    std::vector<double> inverse(size_t(n), 0.0);
    for (int64_t k = 0; k <= column; ++k) {
      for (int64_t j = k; j < n; ++j) {
        inverse[size_t(j)] += u[size_t(k * n + j)] * u[size_t(k * n + column)];
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      double sum = (0.01 * mean + 1e-12) * inverse[size_t(i)] - (i == column ? 1 : 0);
      for (int64_t j = 0; j < n; ++j) {
        sum += double(a[size_t(std::min(i, j) * n + std::max(i, j))]) * inverse[size_t(j)];
      }
      largest = std::max(largest, std::fabs(sum));
    }
  }
  return largest;
}

} // namespace

TEST(InverseFactor, IsOfTheInverse) {
  for (int64_t n : {1, 2, 7, 8, 63, 64, 65, 71, 128, 131, 197}) {
    std::vector<float> a = moments(n, 2 * n, uint32_t(n));
    EXPECT_LT(residual(a, inverseFactor(a, n), n), 1e-9) << n;
  }
}

TEST(InverseFactor, FewerVectorsThanChannels) {
  std::vector<float> a = moments(100, 3, 1);
  EXPECT_LT(residual(a, inverseFactor(a, 100), 100), 1e-9);
}

TEST(InverseFactor, NothingWasSeen) {
  for (double value : inverseFactor(std::vector<float>(9), 3)) {
    EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(InverseFactor, InfiniteMoments) {
  std::vector<double> factor = inverseFactor(std::vector<float>(9, INFINITY), 3);
  EXPECT_EQ(factor[0], 1);
  EXPECT_EQ(factor[1], 0);
}

TEST(InverseFactor, IsTheSameOnOneThread) {
  constexpr int64_t n = 200;
  std::vector<float> a = moments(n, 2 * n, 5);
  std::vector<double> several = inverseFactor(a, n);
  llvm::parallel::strategy.ThreadsRequested = 1;
  std::vector<double> one = inverseFactor(a, n);
  for (int64_t i = 0; i < n; ++i) {
    EXPECT_TRUE(std::equal(&one[size_t(i * n + i)], &one[size_t((i + 1) * n)], &several[size_t(i * n + i)])) << i;
  }
}
