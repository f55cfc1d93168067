// What it costs to round a value and the weights that read it, beside what it costs when it is computed.
#include "compiler/quantizer/Choice.h"
#include "compiler/importer/ElementType.h"
#include "compiler/quantizer/Weights.h"
#include <gtest/gtest.h>
#include <random>

using namespace ingot;
using namespace ingot::quantizer;

namespace {

std::vector<float> normals(size_t count, uint32_t seed) {
  std::minstd_rand random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

/// A product y = x w.
class Product : public testing::Test {
protected:
  static constexpr int64_t kRows = 4000, kInputs = 6, kOutputs = 5;
  std::vector<float> x = normals(kRows * kInputs, 1), w = normals(kInputs * kOutputs, 2), y;
  Model model;
  std::vector<Layer> layers;
  std::map<std::string, Channels> channels;

  void SetUp() override {
    for (int64_t row = 0; row < kRows; ++row) {
      x[size_t(row * kInputs + 2)] *= 50; // an outlier, which the weights make up for
    }
    for (int64_t c = 0; c < kOutputs; ++c) {
      w[size_t(2 * kOutputs + c)] /= 50;
    }
    y = multiplied(x, w);
    pb::GraphProto &graph = *model.proto.mutable_graph();
    *graph.add_initializer() = tensorOf<float>("w", importer::kFloat, {kInputs, kOutputs}, w);
    makeNode(*graph.add_node(), "MatMul", "m", {"x", "w"}, {"y"});
    graph.add_output()->set_name("y");
    layers = layersOf(model);
    channels["x"].add(x, {kRows, kInputs}, -1), channels["y"].add(y, {kRows, kOutputs}, -1);
  }

  static std::vector<float> multiplied(llvm::ArrayRef<float> x, llvm::ArrayRef<float> w) {
    std::vector<float> y(kRows * kOutputs);
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t i = 0; i < kInputs; ++i) {
        for (int64_t c = 0; c < kOutputs; ++c) {
          y[size_t(row * kOutputs + c)] += x[size_t(row * kInputs + i)] * w[size_t(i * kOutputs + c)];
        }
      }
    }
    return y;
  }

  /// The sum over channels of the mean square of the errors of y, by the power of the channel.
  double lost(llvm::ArrayRef<float> other) const {
    std::vector<double> powers = channels.at("y").powers();
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      sum += std::pow(double(other[i]) - double(y[i]), 2) / powers[i % kOutputs];
    }
    return sum / kRows;
  }

  std::vector<float> rounded(Encoding to, llvm::ArrayRef<float> by) const {
    std::vector<float> result(x);
    for (size_t i = 0; i < result.size(); ++i) {
      float factor = by.empty() ? 1 : by[i % kInputs];
      float q = std::nearbyint(x[i] / factor / to.scale) + float(to.zero);
      result[i] = (std::clamp(q, float(to.least()), float(to.most())) - float(to.zero)) * to.scale * factor;
    }
    return result;
  }
};

TEST_F(Product, CostIsTheErrorOfTheProduct) {
  Index index(model, *model.proto.mutable_graph());
  Readers readers = readersOf(layers).at("x");
  std::vector<double> costs = costOfChannels(index, readers, channels, kInputs);
  for (const std::vector<float> &by : {std::vector<float>(), std::vector<float>{1, 2, 50, 0.5, 1, 1}}) {
    Encoding to = encodingOf(by.empty() ? FloatRange{-200, 200} : FloatRange{-4, 4}, false);
    ChannelErrors errors(to, by);
    errors.add(llvm::ArrayRef(x).take_front(1000 * kInputs), {1000, kInputs}, -1);
    errors.add(llvm::ArrayRef(x).drop_front(1000 * kInputs), {kRows - 1000, kInputs}, 1);
    double real = lost(multiplied(rounded(to, by), w));
    EXPECT_NEAR(errors.cost(costs) / real, 1, 0.05);
  }
}

TEST_F(Product, CostOfWeightsIsTheErrorOfTheProduct) {
  Index index(model, *model.proto.mutable_graph());
  Readers readers = readersOf(layers).at("x");
  ByteWeights weights = quantizeWeights(w, layers.front(), {});
  std::vector<float> values;
  values.reserve(w.size());
  for (size_t i = 0; i < w.size(); ++i) {
    values.push_back(float(weights.values[i]) * weights.scales[i % kOutputs]);
  }
  double cost = costOfWeights(index, readers, channels, channels["x"].powers(), {}, {});
  EXPECT_NEAR(cost / lost(multiplied(x, values)), 1, 0.1);
}

TEST_F(Product, SmoothingOfAnOutlierCostsLess) {
  std::map<std::string, Readers> all = readersOf(layers);
  LargestWeights weights(model, all.at("x"), channels["x"].largest().size());
  std::vector<float> by = smoothingOf(weights, channels["x"], 0.5, true);
  EXPECT_GT(by[2], 10 * by[1]);
  EXPECT_FALSE(isFree(model, layers, "x", all.at("x"))) << "nothing makes x";
  smooth(model, layers, {{"x", by}});
  const pb::GraphProto &graph = model.proto.graph();
  ASSERT_EQ(graph.node_size(), 2);
  EXPECT_EQ(graph.node(0).op_type(), "Mul");
  std::vector<Layer> again = layersOf(model);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].x, graph.node(0).output(0));
  Index index(model, *model.proto.mutable_graph());
  llvm::ArrayRef<float> factors = floatsOf(*index.weight(graph.node(0).input(1)));
  std::vector<float> divided(x);
  for (size_t i = 0; i < divided.size(); ++i) {
    divided[i] *= factors[i % kInputs];
  }
  EXPECT_LT(lost(multiplied(divided, floatsOf(*index.weight(again[0].weight)))), 1e-9);
}

/// Values of channels that weights of a group read.
TEST(WeightChannels, AreThoseOfTheGroup) {
  Layer conv;
  conv.op = "Conv", conv.axis = 0, conv.groups = 2, conv.dims = {4, 3, 1, 2};
  WeightChannels channels(conv);
  EXPECT_EQ(channels.inputCount(), 6U);
  EXPECT_EQ(channels.outputCount(), 4U);
  EXPECT_EQ(channels.output(6), 1U);
  EXPECT_EQ(channels.input(6), 0U);
  EXPECT_EQ(channels.input(11), 2U) << "the first group's last channel";
  EXPECT_EQ(channels.input(12), 3U) << "the second group's first one";
  EXPECT_EQ(channels.input(23), 5U);
}

} // namespace
