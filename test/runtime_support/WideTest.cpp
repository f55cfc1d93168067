// Arithmetic of 64 bits by the support library, bit for bit what this host's instructions compute (but for the bits of
// NaNs), on numbers of all kinds: denormal ones, halves, neighbours, the ends.
#include "FloatBits.h"
#include "ingot.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace {

constexpr int kCases = 200'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Draw {
public:
  uint64_t any() { return engine(); }
  uint64_t below(uint64_t end) { return engine() % end; }

  /// Returns an integer, of each number of bits as often as of any other.
  uint64_t integer() { return any() >> below(64); }

  uint64_t number() {
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     2.0,
                                     kInfinity,
                                     -kInfinity,
                                     std::nan(""),
                                     0x1p63,
                                     -0x1p63,
                                     0x1p64,
                                     std::numeric_limits<double>::denorm_min(),
                                     std::numeric_limits<double>::min(),
                                     std::numeric_limits<double>::max()};
    constexpr uint64_t exponent = uint64_t(0x7ff) << 52;
    switch (below(7)) {
    case 0:
      return any();
    case 1: // near 1
      return (any() & ~exponent) | (1019 + below(8)) << 52;
    case 2: // denormal
      return any() & ~exponent;
    case 3:
      return bitsOf(double(int64_t(any())) / double(1 << below(20)));
    case 4:
      return bitsOf(special[below(std::size(special))]);
    case 5:
      return bitsOf(double(floatOf(uint32_t(any()))));
    default:
      return any() & ~uint64_t(0xffffffff); // few bits: ties
    }
  }

  /// Often a neighbour of `other`, or of what is opposite to it.
  uint64_t numberBeside(uint64_t other) {
    switch (below(8)) {
    case 0:
      return other ^ below(4);
    case 1:
      return other ^ (uint64_t(1) << 63) ^ below(8);
    default:
      return number();
    }
  }

private:
  std::mt19937_64 engine{1};
};

TEST(Wide, ArithmeticOfFloats) {
  Draw draw;
  for (int i = 0; i < kCases; ++i) {
    uint64_t a = draw.number(), b = draw.numberBeside(a);
    double x = doubleOf(a), y = doubleOf(b);
    ASSERT_EQ(canonical(ingot_wide_add(a, b)), canonical(bitsOf(x + y))) << x << " + " << y;
    ASSERT_EQ(canonical(ingot_wide_sub(a, b)), canonical(bitsOf(x - y))) << x << " - " << y;
    ASSERT_EQ(canonical(ingot_wide_mul(a, b)), canonical(bitsOf(x * y))) << x << " * " << y;
    ASSERT_EQ(canonical(ingot_wide_div(a, b)), canonical(bitsOf(x / y))) << x << " / " << y;
    ASSERT_EQ(canonical(ingot_wide_sqrt(a)), canonical(bitsOf(std::sqrt(x)))) << x;
    ASSERT_EQ(ingot_wide_compare(a, b), x == y ? 1 : x > y ? 2 : x < y ? 4 : 8) << x << ", " << y;
  }
}

TEST(Wide, Extremes) {
  auto maximum = [](double x, double y) { return doubleOf(ingot_wide_maximum(bitsOf(x), bitsOf(y))); };
  auto minimum = [](double x, double y) { return doubleOf(ingot_wide_minimum(bitsOf(x), bitsOf(y))); };
  EXPECT_EQ(maximum(-3, 2), 2);
  EXPECT_EQ(minimum(-3, 2), -3);
  EXPECT_TRUE(std::isnan(maximum(std::nan(""), 1)) && std::isnan(minimum(1, std::nan(""))));
  EXPECT_FALSE(std::signbit(maximum(-0.0, 0.0)));
  EXPECT_TRUE(std::signbit(minimum(0.0, -0.0)));
}

TEST(Wide, Conversions) {
  Draw draw;
  for (int i = 0; i < kCases; ++i) {
    uint64_t a = draw.number(), n = draw.integer();
    double x = doubleOf(a);
    auto single = uint32_t(draw.any());
    auto negative = int64_t(draw.below(2) ? n : 0 - n);
    ASSERT_EQ(canonical(ingot_wide_to_float(a)), canonical(bitsOf(float(x)))) << x;
    ASSERT_EQ(canonical(ingot_wide_from_float(single)), canonical(bitsOf(double(floatOf(single))))) << single;
    ASSERT_EQ(ingot_wide_from_int64(negative), bitsOf(double(negative))) << negative;
    ASSERT_EQ(ingot_wide_from_uint64(n), bitsOf(double(n))) << n;
    ASSERT_EQ(ingot_wide_int64_to_float(negative), bitsOf(float(negative))) << negative;
    ASSERT_EQ(ingot_wide_uint64_to_float(n), bitsOf(float(n))) << n;
    if (std::fabs(x) < 0x1p63) {
      ASSERT_EQ(ingot_wide_to_int64(a), int64_t(x)) << x;
    }
    if (x >= 0 && x < 0x1p64) {
      ASSERT_EQ(ingot_wide_to_uint64(a), uint64_t(x)) << x;
    }
    float f = floatOf(single);
    if (std::fabs(f) < 0x1p63F) {
      ASSERT_EQ(ingot_wide_float_to_int64(single), int64_t(f)) << f;
    }
    if (f >= 0 && f < 0x1p64F) {
      ASSERT_EQ(ingot_wide_float_to_uint64(single), uint64_t(f)) << f;
    }
  }
  EXPECT_EQ(ingot_wide_to_int64(bitsOf(-0x1p63)), INT64_MIN);
  EXPECT_EQ(ingot_wide_to_int64(bitsOf(kInfinity)), INT64_MIN);
  EXPECT_EQ(ingot_wide_to_int64(bitsOf(std::nan(""))), INT64_MIN);
}

TEST(Wide, Division) {
  Draw draw;
  for (int i = 0; i < kCases; ++i) {
    uint64_t a = draw.integer(), b = draw.integer() | 1;
    auto x = int64_t(draw.below(2) ? a : 0 - a), y = int64_t(draw.below(2) ? b : 0 - b);
    ASSERT_EQ(ingot_wide_udiv(a, b), a / b) << a << ", " << b;
    ASSERT_EQ(ingot_wide_urem(a, b), a % b) << a << ", " << b;
    if (y != -1) {
      ASSERT_EQ(ingot_wide_sdiv(x, y), x / y) << x << ", " << y;
      ASSERT_EQ(ingot_wide_srem(x, y), x % y) << x << ", " << y;
    }
  }
}

} // namespace
