// Tests of parts of values: which places stand for the others, and that another value gives the same ones.
#include "compiler/driver/quantizing/ValuePart.h"
#include "compiler/importer/ElementType.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using ingot::driver::ValuePart;
using ingot::importer::HostTensor;

namespace {

/// Returns a tensor whose elements are the numbers of their places.
HostTensor counted(std::vector<int64_t> dims) {
  HostTensor tensor;
  tensor.name = "v", tensor.type = ingot::importer::kFloat, tensor.dims = std::move(dims);
  int64_t count = 1;
  for (int64_t dim : tensor.dims) {
    count *= dim;
  }
  tensor.bytes.resize(size_t(count) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    auto value = float(i);
    std::memcpy(&tensor.bytes[size_t(i) * sizeof(float)], &value, sizeof(float));
  }
  return tensor;
}

void set(HostTensor &tensor, size_t i, float value) {
  std::memcpy(&tensor.bytes[i * sizeof(float)], &value, sizeof(float));
}

std::vector<float> floats(const HostTensor &tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(ValuePart, SmallValuesStayWhole) {
  ValuePart part = ingot::driver::partOf(counted({2, 3, 4}), 24, {1});
  EXPECT_EQ(part.axis, -1);
  EXPECT_EQ(floats(part.tensor), floats(counted({2, 3, 4})));
}

TEST(ValuePart, KeptAxesStayWhole) {
  ValuePart rows = ingot::driver::partOf(counted({1, 8, 16, 4}), 128, {1});
  EXPECT_EQ(rows.axis, 2);
  EXPECT_EQ(rows.tensor.dims, (std::vector<int64_t>{1, 8, 4, 4}));
  EXPECT_EQ(ingot::driver::partOf(counted({64, 8}), 16, {0, -1}).axis, -1); // there is no axis that may be shorter
}

TEST(ValuePart, LoudPlacesAreTaken) {
  HostTensor value = counted({1, 100, 2});
  for (size_t i = 0; i < 200; ++i) {
    set(value, i, 1);
  }
  set(value, 2 * 37 + 1, -50);
  set(value, 2 * 91, NAN);
  ValuePart part = ingot::driver::partOf(value, 16, {-1});
  ASSERT_EQ(part.places.size(), 8U);
  EXPECT_TRUE(std::is_sorted(part.places.begin(), part.places.end()));
  EXPECT_TRUE(std::count(part.places.begin(), part.places.end(), 37));
  EXPECT_TRUE(std::count(part.places.begin(), part.places.end(), 91));
  EXPECT_TRUE(std::count(part.places.begin(), part.places.end(), 12)); // the first of those that lie evenly
}

TEST(ValuePart, OtherValuesGiveTheSamePlaces) {
  HostTensor value = counted({2, 50, 3});
  ValuePart part = ingot::driver::partOf(value, 60, {-1});
  std::vector<float> got = floats(part.of(value));
  EXPECT_EQ(got, floats(part.tensor));
  ASSERT_EQ(got.size(), 2 * part.places.size() * 3);
  EXPECT_EQ(got[3], float(part.places[1] * 3));
  EXPECT_EQ(got[3 * part.places.size()], float(150 + part.places[0] * 3));
  EXPECT_EQ(part.of(counted({2, 5})).dims, (std::vector<int64_t>{2, 5})); // with other axes there are no such places
}

} // namespace
