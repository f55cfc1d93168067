// Tests the formats of floats: every code of 16 bits and less, and the nearest of them, which is found by looking at
// all.
#include "compiler/support/ElementTypes.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace ingot::support;

namespace {

std::vector<const ElementType *> narrowFloats() {
  std::vector<const ElementType *> types;
  for (const ElementType &type : elementTypes()) {
    if (type.isNarrowFloat()) {
      types.push_back(&type);
    }
  }
  return types;
}

TEST(ElementTypes, StandAtTheirNumbers) {
  for (size_t i = 0; i < elementTypes().size(); ++i) {
    EXPECT_EQ(elementTypes()[i].number, int32_t(i));
    EXPECT_EQ(&elementType(int32_t(i)), &elementTypes()[i]);
  }
  EXPECT_TRUE(elementType(-1).name.empty());
  EXPECT_TRUE(elementType(1000).name.empty());
  EXPECT_EQ(narrowFloats().size(), 8U) << "float16, bfloat16, five of 8 bits, one of 4";
}

TEST(ElementTypes, ANumberHasTheCodeThatItIsReadFrom) {
  for (const ElementType *type : narrowFloats()) {
    for (uint64_t code = 0; code < uint64_t(1) << type->bits; ++code) {
      double value = type->format.decode(code);
      if (!std::isnan(value)) {
        EXPECT_EQ(type->format.encode(value), code) << type->name.str();
      }
    }
    EXPECT_EQ(type->format.decode(type->format.largestCode()), type->format.largest());
    EXPECT_EQ(std::isnan(type->format.decode(type->format.nan())), type->format.hasNaN()) << type->name.str();
  }
}

/// The distance of the nearest number that the format has, by looking at all of them.
double nearest(const ElementType &type, double value) {
  double best = INFINITY;
  for (uint64_t code = 0; code < uint64_t(1) << type.bits; ++code) {
    double number = type.format.decode(code);
    best = std::isfinite(number) ? std::min(best, std::abs(number - value)) : best;
  }
  return best;
}

TEST(ElementTypes, NumbersBecomeTheNearest) {
  std::minstd_rand random(1);
  for (const ElementType *type : narrowFloats()) {
    if (type->bits > 8) {
      continue;
    }
    double largest = type->format.largest();
    std::uniform_real_distribution<double> exponent(std::log2(largest) - 12, std::log2(largest) - 0.001);
    for (int i = 0; i < 300; ++i) {
      bool isNegative = i % 2 && type->format.specials != Specials::Powers;
      double value = std::exp2(exponent(random)) * (isNegative ? -1 : 1);
      double result = type->format.decode(type->format.encode(value));
      EXPECT_EQ(std::abs(result - value), nearest(*type, value)) << type->name.str() << " of " << value;
    }
  }
}

TEST(ElementTypes, TiesGoToTheEvenCode) {
  for (const ElementType *type : narrowFloats()) {
    const FloatFormat &format = type->format;
    if (format.specials == Specials::Powers) {
      continue;
    }
    for (uint64_t code = 0; code + 1 < std::min<uint64_t>(format.largestCode(), 200); ++code) {
      double between = (format.decode(code) + format.decode(code + 1)) / 2;
      EXPECT_EQ(format.encode(between) % 2, 0U) << type->name.str() << " between " << code << " and the next";
    }
  }
}

} // namespace
