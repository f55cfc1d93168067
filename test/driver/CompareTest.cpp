// Tests how outputs are compared with recorded ones.
#include "compiler/driver/commands/Compare.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace ingot::driver;
using ingot::importer::HostTensor;

namespace {

template <typename T> HostTensor tensor(int32_t type, std::vector<T> values) {
  HostTensor result;
  result.type = type;
  result.dims = {int64_t(values.size())};
  result.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  }
  return result;
}

HostTensor floats(std::vector<float> values) { return tensor(1, values); }

} // namespace

TEST(Compare, FloatsWithinTolerance) {
  // tolerance * max(1, max|b|) + 10 * tolerance * |b|
  TensorComparison result = compareTensors(floats({1.0005f, 100}), floats({1, 100}), 1e-4);
  EXPECT_TRUE(result.equal);
  EXPECT_NEAR(result.maxError, 5e-4, 1e-6);
  EXPECT_EQ(result.maxExpected, 100);
  EXPECT_TRUE(compareTensors(floats({1.0010f}), floats({1}), 1e-4).equal);
  TensorComparison beyond = compareTensors(floats({1.0012f, 1}), floats({1, 1}), 1e-4);
  EXPECT_FALSE(beyond.equal);
  EXPECT_EQ(beyond.why, "max error 0.0012 at max 1, 1 of 2 beyond tolerance");
}

TEST(Compare, NanAndInfinityMustBeInTheSamePlaces) {
  EXPECT_TRUE(compareTensors(floats({NAN, INFINITY, 1}), floats({NAN, INFINITY, 1}), 1e-4).equal);
  EXPECT_FALSE(compareTensors(floats({1, 1}), floats({NAN, 1}), 1e-4).equal);
  EXPECT_FALSE(compareTensors(floats({NAN, 1}), floats({1, 1}), 1e-4).equal);
  TensorComparison signs = compareTensors(floats({-INFINITY, 1}), floats({INFINITY, 1}), 1e-4);
  EXPECT_EQ(signs.why, "NaN or infinity in other places (1 of 2)");
}

TEST(Compare, IntegersExactly) {
  EXPECT_TRUE(compareTensors(tensor<int64_t>(7, {1, 2}), tensor<int64_t>(7, {1, 2}), 1).equal);
  TensorComparison result = compareTensors(tensor<int64_t>(7, {1, 3}), tensor<int64_t>(7, {1, 2}), 1);
  EXPECT_FALSE(result.equal);
  EXPECT_EQ(result.why, "1 of 2 differ");
}

TEST(Compare, ShapeAndType) {
  HostTensor row = floats({1, 2}), column = floats({1, 2});
  column.dims = {2, 1};
  EXPECT_EQ(compareTensors(row, column, 1).why, "shape [2], expected [2, 1]");
  EXPECT_EQ(compareTensors(row, tensor<int32_t>(6, {1, 2}), 1).why, "type float32, expected int32");
}

TEST(Compare, HalfPrecisionIsLooser) {
  // These are 1.0, 2.0 and the smallest subnormal, compared with 1.0078, 2.0 and 0.
  EXPECT_TRUE(
      compareTensors(tensor<uint16_t>(10, {0x3c00, 0x4000, 1}), tensor<uint16_t>(10, {0x3c08, 0x4000, 0}), 1e-4).equal);
  EXPECT_FALSE(compareTensors(tensor<uint16_t>(10, {0x3c00}), tensor<uint16_t>(10, {0x4000}), 1e-4).equal);
  EXPECT_TRUE(compareTensors(tensor<uint16_t>(16, {0x3f80}), tensor<uint16_t>(16, {0x3f81}), 1e-4).equal);
  EXPECT_TRUE(compareTensors(tensor<uint16_t>(10, {0x7c00}), tensor<uint16_t>(10, {0x7c00}), 1e-4).equal);
}

TEST(Compare, EmptyAndStrings) {
  EXPECT_TRUE(compareTensors(floats({}), floats({}), 1e-4).equal);
  HostTensor a, b;
  a.type = b.type = 8;
  a.dims = b.dims = {2};
  a.strings = {"x", "y"};
  b.strings = {"x", "z"};
  EXPECT_EQ(compareTensors(a, b, 1).why, "1 of 2 differ");
}
