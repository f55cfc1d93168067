// What constants say of themselves: the one number that all their elements are.
#include "Values.h"
#include <cmath>

namespace ingot::onnx {
namespace {

class Constants : public OpsOnConstants {};

TEST_F(Constants, OneNumberOfAllElements) {
  EXPECT_EQ(realSplat(floats({3}, {2.5, 2.5, 2.5})), 2.5);
  EXPECT_EQ(realSplat(floats({}, {-1})), -1);
  EXPECT_EQ(realSplat(floats({3}, {1, 1, 2})), std::nullopt);
  EXPECT_EQ(realSplat(floats({0}, {})), std::nullopt);
  EXPECT_EQ(wholeNumber(integers({2}, {7, 7})), 7);
  EXPECT_EQ(wholeNumber(integers({2}, {7, 8})), std::nullopt);
  EXPECT_EQ(wholeNumber(integers({2}, {-3, -3}, b.getI8Type())), -3);
  EXPECT_EQ(wholeNumber(integers({2}, {200, 200}, b.getIntegerType(8, false))), 200);
  EXPECT_EQ(wholeNumber(integers({3}, {1, 1, 1}, b.getI1Type())), 1);
  EXPECT_EQ(wholeNumber(integers({3}, {1, 0, 1}, b.getI1Type())), std::nullopt);
}

TEST_F(Constants, NumbersOfDifferentBytes) {
  EXPECT_EQ(realSplat(floats({3}, {0.0, -0.0, 0.0})), 0);
  double nan = std::nan("");
  EXPECT_TRUE(std::isnan(realSplat(floats({2}, {nan, -nan})).value_or(0)));
  EXPECT_EQ(realSplat(floats({2}, {nan, 1})), std::nullopt);
  EXPECT_EQ(realSplat(floats({2}, {1, nan})), std::nullopt);
}

TEST_F(Constants, LargeConstantsAreResources) {
  std::vector<double> ones(1000, 1);
  EXPECT_EQ(realSplat(floats({1000}, ones)), 1);
  ones.back() = 2;
  EXPECT_EQ(realSplat(floats({1000}, ones)), std::nullopt);
}

TEST_F(Constants, UnsignedNumbersAboveInt64) {
  auto u64 = b.getIntegerType(64, false);
  EXPECT_EQ(splatNumber(integers({2}, {-1, -1}, u64))->natural(), UINT64_MAX);
  EXPECT_EQ(wholeNumber(integers({2}, {-1, -1}, u64)), INT64_MAX);
}

} // namespace
} // namespace ingot::onnx
