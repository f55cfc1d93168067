// Models that differ in constants alone are one model with inputs, and no other models are.
#include "compiler/quantizer/Alternatives.h"
#include "compiler/importer/ElementType.h"
#include <gtest/gtest.h>

using namespace ingot::quantizer;

namespace {

Model modelWith(float scale, const std::string &op = "QuantizeLinear", std::vector<int64_t> dims = {}) {
  Model model;
  pb::GraphProto &graph = *model.proto.mutable_graph();
  graph.add_input()->set_name("x");
  makeNode(*graph.add_node(), op, "n", {"x", "scale", "same"}, {"y"});
  *graph.add_initializer() = tensorOf<float>("scale", ingot::importer::kFloat, dims, scale);
  *graph.add_initializer() = tensorOf<float>("same", ingot::importer::kFloat, {}, 7.0F);
  return model;
}

TEST(Alternatives, WhatDiffersIsAnInput) {
  std::vector<Model> models{modelWith(1), modelWith(2), modelWith(3)};
  std::optional<Alternatives> all = alternativesOf(models);
  ASSERT_TRUE(all);
  const pb::GraphProto &graph = all->model.proto.graph();
  ASSERT_EQ(graph.input_size(), 2);
  EXPECT_EQ(graph.input(1).name(), "scale");
  EXPECT_EQ(graph.input(1).type().tensor_type().elem_type(), ingot::importer::kFloat);
  ASSERT_EQ(graph.initializer_size(), 1);
  EXPECT_EQ(graph.initializer(0).name(), "same");
  ASSERT_EQ(all->values.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(all->values[i].size(), 1U);
    EXPECT_EQ(floatsOf(all->values[i][0])[0], float(i + 1));
  }
}

TEST(Alternatives, OfTheSameThereIsNothingToGive) {
  std::optional<Alternatives> all = alternativesOf(std::vector<Model>{modelWith(1), modelWith(1)});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->values[0].empty() && all->values[1].empty());
  EXPECT_EQ(all->model.proto.graph().input_size(), 1);
}

TEST(Alternatives, OtherNodesAndShapesAreOtherModels) {
  EXPECT_FALSE(alternativesOf(std::vector<Model>{modelWith(1), modelWith(1, "DequantizeLinear")}));
  EXPECT_FALSE(alternativesOf(std::vector<Model>{modelWith(1), modelWith(1, "QuantizeLinear", {1})}));
}

} // namespace
