// The forms that are chosen for layers, beside those that trying all choices finds.
#include "compiler/quantizer/Mix.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace ingot::quantizer;

namespace {

using Layers = std::vector<std::vector<FormCosts>>;
constexpr Measure kAll[] = {Measure::Drop, Measure::Size, Measure::Latency};

FormCosts costsOf(double drop, double size, double latency) {
  FormCosts costs;
  costs[Measure::Drop] = drop, costs[Measure::Size] = size, costs[Measure::Latency] = latency;
  return costs;
}

FormCosts sumOf(const Layers &layers, const std::vector<size_t> &chosen) {
  FormCosts sum;
  for (size_t i = 0; i < layers.size(); ++i) {
    for (Measure measure : kAll) {
      sum[measure] += layers[i][chosen[i]][measure];
    }
  }
  return sum;
}

bool keeps(const FormCosts &costs, const FormCosts &most) {
  return std::all_of(std::begin(kAll), std::end(kAll),
                     [&](Measure measure) { return costs[measure] <= most[measure]; });
}

/// Layers with four forms, the first of which is float: it loses nothing, and the others are smaller and mostly faster.
Layers randomLayers(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Layers layers;
  for (size_t i = 0; i < count; ++i) {
    double size = 100 + 900 * uniform(random), time = uniform(random);
    std::vector<FormCosts> &forms = layers.emplace_back();
    for (double part : {1.0, 0.3, 0.25, 0.14}) {
      forms.push_back(costsOf(part < 1 ? uniform(random) * 1e-3 / part : 0, size * part,
                              part < 1 ? time * (0.3 + uniform(random)) : time));
    }
  }
  return layers;
}

/// The least of `goal` of all choices that keep to the budgets; infinite: there is none.
double leastOf(const Layers &layers, const FormCosts &most, Measure goal) {
  double least = HUGE_VAL;
  size_t choices = size_t(1) << 2 * layers.size();
  for (size_t number = 0; number < choices; ++number) {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < layers.size(); ++i) {
      chosen.push_back(number >> 2 * i & 3);
    }
    if (FormCosts sum = sumOf(layers, chosen); keeps(sum, most)) {
      least = std::min(least, sum[goal]);
    }
  }
  return least;
}

TEST(Mix, IsTheBestOfAllChoices) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    Layers layers = randomLayers(6, seed);
    FormCosts whole = sumOf(layers, std::vector<size_t>(layers.size(), 0));
    double part = 0.15 + 0.03 * seed, none = HUGE_VAL;
    double size = whole[Measure::Size] * part, time = whole[Measure::Latency] * part;
    const std::pair<FormCosts, Measure> cases[] = {
        {costsOf(none, size, none), Measure::Drop},    {costsOf(none, none, time), Measure::Drop},
        {costsOf(none, size, time), Measure::Drop},    {costsOf(2e-3, none, none), Measure::Latency},
        {costsOf(2e-3, size, none), Measure::Latency}, {costsOf(2e-3, none, time), Measure::Size},
    };
    for (const auto &[most, goal] : cases) {
      std::optional<std::vector<size_t>> chosen = chooseForms(layers, most, goal);
      double least = leastOf(layers, most, goal);
      ASSERT_EQ(chosen.has_value(), std::isfinite(least)) << "seed " << seed;
      if (chosen) {
        EXPECT_TRUE(keeps(sumOf(layers, *chosen), most)) << "seed " << seed;
        EXPECT_NEAR(sumOf(layers, *chosen)[goal], least, 1e-9 * least + 1e-12) << "seed " << seed;
      }
    }
  }
}

TEST(Mix, KeepsToBudgetsOfManyLayers) {
  Layers layers = randomLayers(300, 7);
  FormCosts whole = sumOf(layers, std::vector<size_t>(layers.size(), 0));
  double last = HUGE_VAL;
  for (double part : {0.2, 0.3, 0.5, 0.8}) {
    FormCosts most = costsOf(HUGE_VAL, whole[Measure::Size] * part, whole[Measure::Latency] * 0.75);
    std::optional<std::vector<size_t>> chosen = chooseForms(layers, most, Measure::Drop);
    ASSERT_TRUE(chosen);
    FormCosts sum = sumOf(layers, *chosen);
    EXPECT_TRUE(keeps(sum, most));
    EXPECT_LT(sum[Measure::Drop], last); // more bytes, less loss
    last = sum[Measure::Drop];
  }
  EXPECT_FALSE(chooseForms(layers, costsOf(HUGE_VAL, whole[Measure::Size] * 0.1, HUGE_VAL), Measure::Drop));
}

TEST(Mix, WithoutABudgetTheGoalDecides) {
  Layers layers = randomLayers(9, 3);
  FormCosts none = costsOf(HUGE_VAL, HUGE_VAL, HUGE_VAL);
  EXPECT_EQ(*chooseForms(layers, none, Measure::Drop), std::vector<size_t>(9, 0));
  EXPECT_EQ(*chooseForms(layers, none, Measure::Size), std::vector<size_t>(9, 3));
  EXPECT_TRUE(chooseForms({}, none, Measure::Drop)->empty());
}

} // namespace
