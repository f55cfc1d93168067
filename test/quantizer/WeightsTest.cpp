// Weights as integers: each is as near as its scale allows, and short sums are short, by trying all of them.
#include "compiler/quantizer/Weights.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Blocks.h"
#include "compiler/quantizer/Channels.h"
#include "compiler/quantizer/InverseFactor.h"
#include "compiler/support/ElementTypes.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace ingot::quantizer;

namespace {

std::vector<float> normals(int64_t count, uint32_t seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

Layer layerOf(std::vector<int64_t> dims, int axis, int64_t groups = 1) {
  Layer layer;
  layer.dims = std::move(dims), layer.axis = axis, layer.groups = groups;
  return layer;
}

TEST(AxisPlaces, PlaceIsTheCoordinateAlongTheAxis) {
  std::vector<int64_t> dims = {2, 3, 5};
  size_t i = 0;
  for (size_t a = 0; a < 2; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      for (size_t c = 0; c < 5; ++c, ++i) {
        EXPECT_EQ(AxisPlaces(dims, 0).place(i), a);
        EXPECT_EQ(AxisPlaces(dims, 1).place(i), b);
        EXPECT_EQ(AxisPlaces(dims, 2).place(i), c);
      }
    }
  }
}

TEST(Weights, FloatsOfEightBitsAreWithinHalfAUnit) {
  Layer layer = layerOf({13, 7}, 1);
  std::vector<float> values = normals(13 * 7, 9);
  values[3] = 0, values[10] = 0; // nothing but zeros is in no channel, and a zero stays one
  ByteWeights w = float8Weights(values, layer);
  const ingot::support::FloatFormat &format = ingot::support::elementType(ingot::importer::kFloat8E4M3FN).format;
  float largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    float scale = w.scales[AxisPlaces(layer.dims, 1).place(i)], code = float(format.decode(uint8_t(w.values[i])));
    EXPECT_LE(std::fabs(code * scale - values[i]), std::max(std::fabs(values[i]) / 16, scale / 512) * 1.001F);
    largest = std::max(largest, std::fabs(code));
  }
  EXPECT_EQ(largest, 448);
  EXPECT_EQ(w.values[3], 0);
}

TEST(Weights, SeveralMatricesShareTheScalesOfTheirColumns) {
  Layer layer = layerOf({3, 5, 7}, 2);
  layer.op = "MatMul";
  std::vector<float> values = normals(3 * 5 * 7, 10);
  ByteWeights w = quantizeWeights(values, layer, {});
  ASSERT_EQ(w.scales.size(), 7U);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::fabs(float(w.values[i]) * w.scales[i % 7] - values[i]), w.scales[i % 7] * 0.5001F);
  }
  WeightChannels channels(layer);
  EXPECT_EQ(channels.inputCount(), 5U);
  EXPECT_EQ(channels.outputCount(), 7U);
  channels.forEach(values.size(), [](size_t i, size_t in, size_t out) {
    EXPECT_EQ(in, i / 7 % 5);
    EXPECT_EQ(out, i % 7);
  });
}

TEST(Blocks, EachMatrixHasItsOwn) {
  Layer layer = layerOf({3, 40, 7}, 2);
  layer.op = "MatMul";
  std::vector<float> values = normals(3 * 40 * 7, 11);
  for (size_t i = 40 * 7; i < 2 * 40 * 7; ++i) {
    values[i] *= 100;
  }
  BlockWeights all = roundBlocks(layer, values, {4, 32});
  ASSERT_EQ(all.scales.size(), 3U * 2 * 7);
  std::vector<float> rounded = valuesOf(all, layer);
  for (size_t m = 0; m < 3; ++m) {
    llvm::ArrayRef<float> own = llvm::ArrayRef(values).slice(m * 40 * 7, 40 * 7);
    BlockWeights alone = roundBlocks(own, 40, 7, {4, 32});
    EXPECT_TRUE(std::equal(alone.values.begin(), alone.values.end(), all.values.begin() + ptrdiff_t(m * 40 * 7)));
    for (size_t i = 0; i < own.size(); ++i) {
      size_t grid = i / 7 / 32 * 7 + i % 7;
      EXPECT_EQ(rounded[m * 40 * 7 + i], float(int(alone.values[i]) - int(alone.zeros[grid])) * alone.scales[grid]);
    }
  }
}

TEST(Blocks, AreAsLongAsEachOtherWhereTheyMayBe) {
  for (auto [rows, block, expected] :
       {std::array{64, 32, 32}, {16, 32, 16}, {96, 64, 48}, {72, 32, 32}, {13, 32, 32}}) {
    EXPECT_EQ(fitted({4, block}, layerOf({rows, 7}, 1)).rows, expected) << rows << " in blocks of " << block;
  }
}

TEST(Weights, AreWithinHalfAStep) {
  for (bool perTensor : {false, true}) {
    for (int axis : {0, 1}) {
      Layer layer = layerOf({13, 7}, axis);
      std::vector<float> values = normals(13 * 7, 1);
      ByteWeights w = quantizeWeights(values, layer, {perTensor, false});
      EXPECT_EQ(w.scales.size(), perTensor ? 1U : size_t(layer.dims[size_t(axis)]));
      for (size_t i = 0; i < values.size(); ++i) {
        float scale = w.scales[perTensor ? 0 : AxisPlaces(layer.dims, axis).place(i)];
        EXPECT_LE(std::fabs(float(w.values[i]) * scale - values[i]), scale * 0.5001F);
        EXPECT_GE(w.values[i], -127);
      }
      auto isSmaller = [](int8_t a, int8_t b) { return std::abs(a) < std::abs(b); };
      EXPECT_EQ(std::abs(*std::max_element(w.values.begin(), w.values.end(), isSmaller)), 127);
    }
  }
}

TEST(Weights, AChannelOfZerosHasAScale) {
  ByteWeights w = quantizeWeights({0, 0, 1, -2}, layerOf({2, 2}, 0), {});
  EXPECT_EQ(w.scales[0], 1);
  EXPECT_EQ(w.values, (std::vector<int8_t>{0, 0, 64, -127}));
}

TEST(Weights, ScalesAreNoSmallerThanAsked) {
  ByteWeights w = quantizeWeights({1, 1, 1, 1}, layerOf({2, 2}, 0), {}, {0.5F, 0.001F});
  EXPECT_EQ(w.scales[0], 0.5F);
  EXPECT_EQ(w.values[0], 2);
  EXPECT_EQ(w.values[2], 127);
}

/// Of a matrix [inputs, outputs]: the sums that instructions for pairs of bytes take in int16 stay there, whatever the
/// bytes are, since those by positive weights may all be 255 and the others 0, or the other way round.
TEST(Weights, ShortSumsFitInt16) {
  for (int64_t inputs : {1, 4, 7, 16, 33}) {
    int64_t outputs = 9;
    std::vector<float> values = normals(inputs * outputs, uint32_t(inputs));
    std::for_each(values.begin(), values.end(), [](float &v) { v = v < 0 ? -1.F : v; }); // many large ones
    ByteWeights w = quantizeWeights(values, layerOf({inputs, outputs}, 1), {false, true});
    for (int64_t output = 0; output < outputs; ++output) {
      for (int64_t step = 0; step < inputs; step += 8) {
        for (int64_t first : {0, 2}) {
          int positive = 0, negative = 0;
          for (int64_t i : {first, first + 1, first + 4, first + 5}) {
            int weight = step + i < inputs ? w.values[size_t((step + i) * outputs + output)] : 0;
            (weight < 0 ? negative : positive) += weight;
          }
          EXPECT_LE(positive * 255, INT16_MAX);
          EXPECT_GE(negative * 255, INT16_MIN);
        }
      }
    }
  }
}

TEST(Weights, ProblemsAreCounted) {
  EXPECT_EQ(problemOf({1, NAN}), "has 1 value that is infinite or no number");
  EXPECT_EQ(problemOf({INFINITY, NAN}), "has 2 values that are infinite or no numbers");
  EXPECT_EQ(problemOf({1, -2e18F}), "has 1 value beyond 1e18");
  EXPECT_EQ(problemOf({1, -2}), "");
  EXPECT_EQ(problemOfSmall({0, 0}), "");
  EXPECT_NE(problemOfSmall({1e-20F}), "");
}

TEST(Blocks, AreWithinAStep) {
  constexpr int64_t rows = 40, columns = 3, block = 16;
  std::vector<float> values = normals(rows * columns, 5);
  for (int bits : {2, 4, 8}) {
    int most = (1 << bits) - 1;
    BlockWeights w = roundBlocks(values, rows, columns, {bits, block});
    ASSERT_EQ(w.values.size(), values.size());
    ASSERT_EQ(w.scales.size(), size_t((rows + block - 1) / block * columns));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        size_t i = size_t(row * columns + column);
        float scale = w.scales[size_t(row / block * columns + column)];
        int zero = w.zeros[size_t(row / block * columns + column)];
        EXPECT_TRUE(w.values[i] <= most && zero <= most && scale > 0);
        // The ends may be cut off by 2 %, and the zero point is rounded.
        EXPECT_LE(std::fabs(float(w.values[i] - zero) * scale - values[i]), scale * (1 + 0.02F * float(most)));
      }
    }
  }
}

/// GPTQ is there to lose less of the products with what was observed.
TEST(Blocks, CompensationLosesLessOfTheProducts) {
  constexpr int64_t rows = 32, columns = 19, block = 16, samples = 200;
  std::vector<float> weights = normals(rows * columns, 6), noise = normals(samples * rows, 7), x(samples * rows);
  for (int64_t s = 0; s < samples; ++s) { // neighbours are alike
    for (int64_t i = 0; i < rows; ++i) {
      x[size_t(s * rows + i)] = noise[size_t(s * rows + i)] + (i ? 0.9F * x[size_t(s * rows + i - 1)] : 0);
    }
  }
  Channels channels;
  channels.addMoments(x, rows);
  std::vector<double> factor = inverseFactor(channels.moments(), rows);
  auto lost = [&](const BlockWeights &w) {
    double sum = 0;
    for (int64_t s = 0; s < samples; ++s) {
      for (int64_t column = 0; column < columns; ++column) {
        double difference = 0;
        for (int64_t i = 0; i < rows; ++i) {
          auto at = size_t(i * columns + column);
          float scale = w.scales[size_t(i / block * columns + column)];
          int zero = w.zeros[size_t(i / block * columns + column)];
          difference += x[size_t(s * rows + i)] * (float(w.values[at] - zero) * scale - weights[at]);
        }
        sum += difference * difference;
      }
    }
    return sum;
  };
  BlockWeights compensated = compensateBlocks(weights, rows, columns, {4, block}, factor), refined = compensated;
  EXPECT_LT(lost(compensated), 0.9 * lost(roundBlocks(weights, rows, columns, {4, block})));
  refineBlocks(refined, weights, rows, columns, channels.moments());
  EXPECT_LT(lost(refined), 0.97 * lost(compensated));
}

TEST(Channels, AreThoseOfTheAxis) {
  std::vector<float> values = {1, -2, 3, -4, NAN, 6};
  Channels columns, rows;
  columns.add(values, {2, 3}, -1), rows.add(values, {2, 3}, 0);
  EXPECT_EQ(columns.largest(), llvm::ArrayRef<float>({4, 2, 6}));
  EXPECT_EQ(rows.largest(), llvm::ArrayRef<float>({3, 6}));
}

TEST(Channels, MomentsAreSumsOfProductsOfWholeRows) {
  Channels channels;
  channels.addMoments({1, 2, 3, 4, NAN, 1}, 2);
  EXPECT_EQ(channels.moments()[0], 1 + 9);
  EXPECT_EQ(channels.moments()[1], 2 + 12);
  EXPECT_EQ(channels.moments()[3], 4 + 16);
  EXPECT_TRUE(channels.hasMoments());
  EXPECT_FALSE(Channels().hasMoments());
}

} // namespace
