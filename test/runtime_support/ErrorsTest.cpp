// The texts of status values: what they name, and that no status, however odd, reads outside of the model.
#include "FakeModel.h"
#include <climits>
#include <gtest/gtest.h>
#include <string>

using namespace ingot::test;

namespace {

std::string textOf(int status, const ingot_model *model = &fakeModel) {
  std::string text(ingot_error_text(model, status, nullptr, 0), '?');
  EXPECT_EQ(ingot_error_text(model, status, text.data(), text.size() + 1), text.size());
  return text;
}

TEST(Errors, NoTiles) {
  EXPECT_EQ(textOf(INGOT_ERROR_TILES), "model 'fake': the machine has no AMX, for which the model was compiled, or its "
                                       "operating system does not give it");
}

TEST(Errors, NameTheArgument) {
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_NULL, 0)), "model 'fake': input 'x': a pointer is null");
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_ALIGNMENT, 1)),
            "model 'fake': input 'indices': a pointer is not aligned enough, expected 8 bytes");
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_COUNT, 2)),
            "model 'fake': output 'y': a number of tensors or elements is not the model's, expected 6 elements");
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_TYPE, 1)),
            "model 'fake': input 'indices': an element type is not the model's, expected int64");
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_ALIGNMENT, 3)),
            "model 'fake': the workspace: a pointer is not aligned enough, expected 64 bytes");
  EXPECT_EQ(textOf(INGOT_ERROR_WORKSPACE), "model 'fake': the workspace is too small, expected 256 bytes");
  EXPECT_EQ(textOf(INGOT_ERROR_COUNT),
            "model 'fake': a number of tensors or elements is not the model's, expected 2 inputs and 1 outputs");
}

TEST(Errors, NameTheWeights) {
  ingot_model apart = fakeModel;
  apart.flags = INGOT_MODEL_WEIGHTS_APART;
  apart.weight_bytes = 640;
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_NULL, 4), &apart), "model 'fake': the weights: a pointer is null");
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_ALIGNMENT, 4), &apart),
            "model 'fake': the weights: a pointer is not aligned enough, expected 64 bytes");
  EXPECT_EQ(textOf(INGOT_ERROR_CONTENT, &apart), "model 'fake': the weights have another size than those that the "
                                                 "model was compiled with, expected 640 bytes");
  EXPECT_EQ(textOf(INGOT_ERROR_HASH, &apart),
            "model 'fake': the weights are not those that the model was compiled with");
}

TEST(Errors, NameTheNode) {
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_INDEX, 0)),
            "model 'fake': node '/embed/Gather': an index or bound computed while running lies outside its tensor");
}

TEST(Errors, NameTheLevels) {
  ingot_model levels = fakeModel;
  levels.target = "x86-64-v3,x86-64-v4";
  EXPECT_EQ(textOf(INGOT_ERROR_TARGET, &levels), "model 'fake': the machine has none of the levels that the model was "
                                                 "compiled for, expected x86-64-v3,x86-64-v4");
}

TEST(Errors, NumbersThatNameNothing) {
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_INDEX, 2)),
            "model 'fake': an index or bound computed while running lies outside its tensor");
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_NULL, 99)), "model 'fake': a pointer is null");
  for (int status : {INT_MIN, INT_MAX, -1, 255, 0x7fffff05, INT_MIN + 5}) {
    EXPECT_NE(textOf(status), "");
  }
}

TEST(Errors, WithoutAModel) {
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_NULL, 1), nullptr), "model: a pointer is null");
  ingot_model other = fakeModel;
  other.abi = INGOT_ABI + 1;
  other.name = reinterpret_cast<const char *>(1);
  EXPECT_EQ(textOf(INGOT_ERROR_ABI, &other), "model: the model was compiled for another version of ingot.h");
}

TEST(Errors, EveryKindHasAText) {
  for (int kind = 0; kind <= INGOT_ERROR_READ; ++kind) {
    EXPECT_STRNE(ingot_error_kind_text(kind), "unknown error") << kind;
  }
  EXPECT_STREQ(ingot_error_kind_text(200), "unknown error");
}

TEST(Errors, CutToTheBuffer) {
  std::string whole = textOf(INGOT_ERROR_WORKSPACE);
  for (size_t size = 1; size <= whole.size() + 1; ++size) {
    std::string buffer(size + 4, '#');
    EXPECT_EQ(ingot_error_text(&fakeModel, INGOT_ERROR_WORKSPACE, buffer.data(), size), whole.size());
    EXPECT_EQ(buffer.c_str(), whole.substr(0, size - 1));
    EXPECT_EQ(buffer.substr(size), "####");
  }
}

TEST(Errors, LargeNumbers) {
  ingot_model model = fakeModel;
  model.workspace_bytes = INT64_MAX;
  EXPECT_EQ(textOf(INGOT_ERROR_WORKSPACE, &model),
            "model 'fake': the workspace is too small, expected 9223372036854775807 bytes");
  model.workspace_bytes = 100;
  EXPECT_EQ(textOf(INGOT_ERROR_WORKSPACE, &model), "model 'fake': the workspace is too small, expected 100 bytes");
}

} // namespace
