// The mapped weights file and its hash.
#include "FakeModel.h"
#include "ingot.hpp"
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

uint64_t hashOf(const std::string &text) { return ingot_hash64(text.data(), text.size()); }

TEST(Hash, PublishedValues) {
  EXPECT_EQ(hashOf(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hashOf("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hashOf("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hashOf("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

TEST(Hash, AnyAlignment) {
  std::string text(99, 'x'), shifted = "..." + text;
  EXPECT_EQ(ingot_hash64(shifted.data() + 3, 99), hashOf(text));
}

class Weights : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder), nullptr);
    path = std::string(folder) + "/weights.bin";
    write(content);
  }
  void TearDown() override {
    remove(path.c_str());
    rmdir(folder);
  }
  void write(const std::string &bytes) {
    FILE *file = fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    fwrite(bytes.data(), 1, bytes.size(), file);
    fclose(file);
  }
  int map(const std::string &expected) {
    return ingot::WeightsFile(path.c_str(), int64_t(expected.size()), hashOf(expected)).status().code();
  }
  char folder[32] = "/tmp/ingot-weights-XXXXXX";
  std::string path, content = std::string(10000, 'w') + "end";
};

TEST_F(Weights, MapsWhatWasExpected) {
  ingot::WeightsFile file(path.c_str(), int64_t(content.size()), hashOf(content));
  ASSERT_TRUE(file.status().ok());
  EXPECT_EQ(file.size(), int64_t(content.size()));
  EXPECT_EQ(memcmp(file.data(), content.data(), content.size()), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file.data()) % 64, 0u);
}

TEST_F(Weights, OtherSizeOrContent) {
  EXPECT_EQ(map(content + "x"), INGOT_ERROR_CONTENT);
  EXPECT_EQ(map(content.substr(1)), INGOT_ERROR_CONTENT);
  std::string changed = content;
  changed[5000] ^= 1;
  EXPECT_EQ(map(changed), INGOT_ERROR_HASH);
  ingot_weights weights = {this, 7};
  EXPECT_EQ(ingot_weights_map(path.c_str(), -1, 0, &weights), INGOT_ERROR_CONTENT);
  EXPECT_EQ(weights.data, nullptr);
  EXPECT_EQ(weights.bytes, 0);
}

TEST_F(Weights, EmptyFile) {
  write("");
  EXPECT_EQ(map(""), 0);
  EXPECT_EQ(ingot::WeightsFile(path.c_str(), 0, 1).status().code(), INGOT_ERROR_HASH);
}

TEST_F(Weights, NotAFile) {
  remove(path.c_str());
  EXPECT_EQ(map(content), INGOT_ERROR_FILE);
  EXPECT_EQ(ingot::WeightsFile(folder, 0, hashOf("")).status().code(), INGOT_ERROR_FILE);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(map(content), INGOT_ERROR_FILE) << "and without waiting for a writer";
}

TEST_F(Weights, Null) {
  ingot_weights weights;
  EXPECT_EQ(ingot_weights_map(nullptr, 0, 0, &weights), INGOT_ERROR_NULL);
  EXPECT_EQ(ingot_weights_map(path.c_str(), 0, 0, nullptr), INGOT_ERROR_NULL);
  ingot_weights_unmap(nullptr);
}

ingot_model modelWith(const std::string &weights) {
  ingot_model model = ingot::test::fakeModel;
  model.flags = INGOT_MODEL_WEIGHTS_APART;
  model.weight_bytes = int64_t(weights.size());
  model.weight_hash = hashOf(weights);
  return model;
}

TEST_F(Weights, OfAModel) {
  ingot_model model = modelWith(content);
  ingot::WeightsFile file(&model, path.c_str());
  ASSERT_TRUE(file.status().ok());
  EXPECT_EQ(memcmp(file.data(), content.data(), content.size()), 0);
  write(content + "x");
  EXPECT_EQ(ingot::WeightsFile(&model, path.c_str()).status().message(),
            "model 'fake': the weights have another size than those that the model was compiled with, expected 10003 "
            "bytes");
  write("W" + content.substr(1));
  EXPECT_EQ(ingot::WeightsFile(&model, path.c_str()).status().code(), INGOT_ERROR_HASH);
  remove(path.c_str());
  EXPECT_EQ(ingot::WeightsFile(&model, path.c_str()).status().message(), "model 'fake': a file cannot be read");
  ingot_weights weights;
  EXPECT_EQ(ingot_weights_load(&model, path.c_str(), nullptr), INGOT_ERROR_NULL);
  EXPECT_EQ(ingot_weights_load(nullptr, path.c_str(), &weights), INGOT_ERROR_NULL);
  EXPECT_EQ(ingot_weights_load(&model, nullptr, &weights), INGOT_ERROR_NULL);
  model.abi = 1;
  EXPECT_EQ(ingot_weights_load(&model, path.c_str(), &weights), INGOT_ERROR_ABI);
}

TEST_F(Weights, ModelsThatHaveThemNeedNoFile) {
  ingot_weights weights = {this, 7};
  EXPECT_EQ(ingot_weights_load(&ingot::test::fakeModel, "/no/such/file", &weights), 0);
  EXPECT_EQ(weights.data, nullptr);
  EXPECT_EQ(ingot_weights_check(&ingot::test::fakeModel, nullptr, 0), 0);
}

TEST(CallersWeights, AreChecked) {
  alignas(INGOT_WEIGHTS_ALIGN) char bytes[192] = "weights";
  std::string content(bytes, 128);
  ingot_model model = modelWith(content);
  int weights = 2 + 1 + 1; // inputs, outputs, the workspace
  EXPECT_EQ(ingot_weights_check(&model, bytes, 128), 0);
  EXPECT_EQ(ingot_weights_check(&model, nullptr, 128), INGOT_STATUS(INGOT_ERROR_NULL, weights));
  EXPECT_EQ(ingot_weights_check(&model, bytes + 32, 128), INGOT_STATUS(INGOT_ERROR_ALIGNMENT, weights));
  EXPECT_EQ(ingot_weights_check(&model, bytes, 127), INGOT_STATUS(INGOT_ERROR_CONTENT, weights));
  bytes[127] = 1;
  EXPECT_EQ(ingot_weights_check(&model, bytes, 128), INGOT_STATUS(INGOT_ERROR_HASH, weights));
  EXPECT_EQ(ingot_weights_check(nullptr, bytes, 128), INGOT_ERROR_NULL);
  model.abi = 1;
  EXPECT_EQ(ingot_weights_check(&model, bytes, 128), INGOT_ERROR_ABI);
}

} // namespace
