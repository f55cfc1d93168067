// The C++ helpers: views of all kinds of containers, type checks, ownership.
#include "FakeModel.h"
#include "ingot.hpp"
#include <array>
#include <gtest/gtest.h>
#include <vector>

using namespace ingot::test;

namespace {

TEST(Helpers, RunsOnAnyContiguousContainer) {
  ingot::Runner runner(&fakeModel);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::array<int64_t, 6> indices = {1, 1, 1, 1, 1, 1};
  float y[6] = {};
  ingot::Status status = runner.run({x, indices}, {y});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(y[5], 7);

  ingot::Span<float> half(y, 6);
  EXPECT_TRUE(runner.run({half, indices}, {half}).ok());
  EXPECT_EQ(y[5], 8);
}

TEST(Helpers, TypesAreChecked) {
  ingot::Runner runner(&fakeModel);
  std::vector<float> x(6), y(6);
  std::vector<int32_t> indices(6);
  ingot::Status status = runner.run({x, indices}, {y});
  EXPECT_EQ(status.kind(), INGOT_ERROR_TYPE);
  EXPECT_EQ(status.number(), 1);
  EXPECT_EQ(status.message(), "model 'fake': input 'indices': an element type is not the model's, expected int64");
  std::vector<double> wide(6);
  std::vector<int64_t> right(6);
  EXPECT_EQ(runner.run({x, right}, {wide}).code(), INGOT_STATUS(INGOT_ERROR_TYPE, 2));
}

TEST(Helpers, ModelsOfAnotherVersion) {
  ingot_model other = fakeModel;
  other.abi = INGOT_ABI + 1;
  other.inputs = nullptr, other.outputs = nullptr, other.symbols = nullptr;
  ingot::Model model(&other);
  EXPECT_TRUE(ingot::Model(&fakeModel).fits());
  EXPECT_FALSE(model.fits());
  std::vector<float> x(6), y(6);
  int64_t sizes[1] = {};
  ingot::Workspace workspace;
  EXPECT_EQ(model.bind({}, {}).code(), INGOT_ERROR_ABI);
  EXPECT_EQ(model.plan({}, nullptr, nullptr).code(), INGOT_ERROR_ABI);
  EXPECT_EQ(model.reserve(workspace, {}).code(), INGOT_ERROR_ABI);
  EXPECT_EQ(model.run({x}, {y}, workspace).code(), INGOT_ERROR_ABI);
  EXPECT_EQ(model.runBuffers({}, {}, {}, workspace).code(), INGOT_ERROR_ABI);
  EXPECT_EQ(model.runFinding({}, {}, sizes, workspace).code(), INGOT_ERROR_ABI);
}

#define INGOT_TEXT(name) #name
#define INGOT_TEXT_OF(name) INGOT_TEXT(name)
TEST(Helpers, TheSymbolOfTheVersionHasItsNumber) {
  EXPECT_EQ(std::string(INGOT_TEXT_OF(INGOT_ABI_SYMBOL)), "ingot_abi_" + std::to_string(INGOT_ABI));
}

TEST(Helpers, CountsAreChecked) {
  ingot::Runner runner(&fakeModel);
  std::vector<float> x(5), y(6);
  std::vector<int64_t> indices(6);
  EXPECT_EQ(runner.run({x, indices}, {y}).code(), INGOT_STATUS(INGOT_ERROR_COUNT, 0));
  EXPECT_EQ(runner.run({y}, {y}).code(), INGOT_ERROR_COUNT);
  EXPECT_EQ(runner.run({y, indices, indices}, {y}).code(), INGOT_ERROR_COUNT);
}

TEST(Helpers, ErrorsOfTheRun) {
  ingot::ThreadPool pool(3);
  ingot::Runner runner(&fakeModel, pool.exec());
  std::vector<float> x(6), y(6);
  std::vector<int64_t> indices = {0, 1, 2, -3, 4, -5};
  ingot::Status status = runner.run({x, indices}, {y});
  EXPECT_EQ(status.kind(), INGOT_ERROR_INDEX);
  EXPECT_NE(status.message().find("node '/embed/Gather'"), std::string::npos);
}

TEST(Helpers, WorkspaceOwnsItsMemory) {
  ingot::Workspace first(100, 4096);
  EXPECT_TRUE(first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data()) % 4096, 0u);
  void *memory = first.data();
  ingot::Workspace second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  second = ingot::Workspace(0, 64);
  EXPECT_TRUE(second);
  EXPECT_EQ(second.data(), nullptr);
}

TEST(Helpers, NoMemoryIsAnErrorOfTheRun) {
  ingot_model model = fakeModel;
  model.workspace_bytes = int64_t(1) << 62;
  ingot::Runner runner(&model);
  std::vector<float> x(6), y(6);
  std::vector<int64_t> indices(6);
  EXPECT_EQ(runner.run({x, indices}, {y}).kind(), INGOT_ERROR_MEMORY);
}

TEST(Helpers, ModelDescribesItself) {
  ingot::Model model(&fakeModel);
  EXPECT_STREQ(model.name(), "fake");
  ASSERT_EQ(model.inputs().size(), 2u);
  EXPECT_STREQ(model.inputs()[1].name, "indices");
  EXPECT_EQ(model.outputs()[0].dims[1], 3);
  EXPECT_EQ(model.workspaceBytes(), 256u);
}

} // namespace
