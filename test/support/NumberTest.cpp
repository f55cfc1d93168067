// Numbers: integers and floats become each other only where nothing is lost.
#include "compiler/support/Number.h"
#include <gtest/gtest.h>
#include <limits>

using ingot::support::Number;

namespace {

// Whoever wants a float of an integer must ask whether there is one.
static_assert(!std::is_convertible_v<Number, double> && !std::is_convertible_v<Number, int64_t>);

TEST(Number, IntegersStayWhatTheyAre) {
  for (int64_t n : {INT64_MAX, INT64_MIN, (int64_t(1) << 53) + 1, int64_t(-1), int64_t(0)}) {
    EXPECT_EQ(Number(n).integer(), n);
    EXPECT_EQ(Number(n).bits(), static_cast<uint64_t>(n));
    EXPECT_FALSE(Number(n).isFloat());
  }
  EXPECT_EQ(Number(UINT64_MAX).natural(), UINT64_MAX);
  EXPECT_EQ(Number(UINT64_MAX).integer(), std::nullopt);
  EXPECT_EQ(Number(-1).natural(), std::nullopt);
  EXPECT_EQ(Number(true), Number(1));
}

TEST(Number, OnlyWhatNothingIsLostOfIsAFloat) {
  int64_t exact = int64_t(1) << 53;
  EXPECT_EQ(Number(exact).real(), 0x1p53);
  EXPECT_EQ(Number(exact + 1).real(), std::nullopt);
  EXPECT_EQ(Number(INT64_MIN).real(), -0x1p63);
  EXPECT_EQ(Number(INT64_MAX).real(), std::nullopt);
  EXPECT_EQ(Number(UINT64_MAX).real(), std::nullopt);
  EXPECT_EQ(Number(uint64_t(1) << 63).real(), 0x1p63);
}

TEST(Number, OnlyWholeFloatsAreIntegers) {
  EXPECT_EQ(Number(3.0).integer(), 3);
  EXPECT_EQ(Number(0.5).integer(), std::nullopt);
  EXPECT_EQ(Number(-0x1p63).integer(), INT64_MIN);
  EXPECT_EQ(Number(0x1p63).integer(), std::nullopt);
  EXPECT_EQ(Number(0x1p63).natural(), uint64_t(1) << 63);
  EXPECT_EQ(Number(0x1p64).bits(), std::nullopt);
  EXPECT_EQ(Number(std::numeric_limits<double>::infinity()).bits(), std::nullopt);
}

TEST(Number, AreEqualByTheirValues) {
  EXPECT_EQ(Number(2), Number(2.0));
  EXPECT_NE(Number(INT64_MAX), Number(0x1p63));
  EXPECT_NE(Number(-1), Number(UINT64_MAX));
  EXPECT_EQ(Number(INT64_MIN), Number(-0x1p63));
  EXPECT_NE(Number(0.5), Number(0));
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Number(nan) == Number(nan));
}

} // namespace
