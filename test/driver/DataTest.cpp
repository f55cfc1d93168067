// Recorded data, what a model file says of itself, and output folders.
#include "compiler/driver/execution/DataSet.h"
#include "test/driver/Files.h"

using namespace ingot::driver;

namespace {

class Data : public ingot::test::FilesTest {
protected:
  static std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }
};

} // namespace

TEST_F(Data, FactsOfAModel) {
  llvm::Expected<ModelFacts> facts = readModelFacts(model("m.onnx", {-1, 3}));
  ASSERT_TRUE(bool(facts)) << text(facts.takeError());
  ASSERT_EQ(facts->inputs.size(), 1u) << "an initializer is no input";
  EXPECT_EQ(facts->inputs[0].name, "x");
  EXPECT_EQ(facts->inputs[0].text(), "float32[n,3]");
  EXPECT_EQ(facts->outputs.size(), 1u);
  EXPECT_EQ(facts->ops.at("Add"), 1);
  EXPECT_EQ(facts->nodes, 1);
  EXPECT_EQ(facts->parameters, 2);
  EXPECT_EQ(facts->parameterBytes, 8);
  EXPECT_EQ(facts->opsets.at(""), 17);
}

TEST_F(Data, FactsOfNoModel) {
  llvm::Expected<ModelFacts> facts = readModelFacts(path("absent.onnx"));
  ASSERT_FALSE(bool(facts));
  EXPECT_NE(text(facts.takeError()).find("absent.onnx: error: "), std::string::npos);
}

TEST_F(Data, ReadsUpToTheFirstGap) {
  write("d/input_0.pb", tensor({1}, {1}));
  write("d/input_1.pb", tensor({2}, {1, 2}));
  write("d/input_3.pb", tensor({1}, {1}));
  llvm::Expected<DataSet> data = readDataSet(path("d"));
  ASSERT_TRUE(bool(data));
  ASSERT_EQ(data->inputs.size(), 2u);
  EXPECT_EQ(data->inputs[1].dims, std::vector<int64_t>{2});
}

TEST_F(Data, NoFolderAndNoTensor) {
  llvm::Expected<DataSet> absent = readDataSet(path("absent"));
  ASSERT_FALSE(bool(absent));
  EXPECT_EQ(text(absent.takeError()), path("absent") + ": error: is not a folder");
  std::filesystem::create_directories(path("bad"));
  std::ofstream(path("bad/input_0.pb")) << "not a tensor";
  llvm::Expected<DataSet> bad = readDataSet(path("bad"));
  ASSERT_FALSE(bool(bad));
  EXPECT_EQ(text(bad.takeError()).rfind(path("bad/input_0.pb") + ": error: ", 0), 0u);
}

TEST_F(Data, ShapesAreFixedFromTheDataWhereTheModelHasNone) {
  llvm::Expected<ModelFacts> facts = readModelFacts(model("m.onnx", {}, /*ranked=*/false));
  ASSERT_TRUE(bool(facts));
  ingot::pipeline::Options options;
  ASSERT_FALSE(bool(fixShapes(*facts, {"d", {tensor({2, 3}, {})}, {-1}}, options)));
  EXPECT_EQ(options.shapes.at("x"), (std::vector<int64_t>{2, 3}));
  // What the user has fixed stays.
  options.shapes["x"] = {5, 3};
  ASSERT_FALSE(bool(fixShapes(*facts, {"d", {tensor({2, 3}, {})}, {-1}}, options)));
  EXPECT_EQ(options.shapes.at("x"), (std::vector<int64_t>{5, 3}));
}

TEST_F(Data, ShapesOfTheModelAreLeftAlone) {
  llvm::Expected<ModelFacts> facts = readModelFacts(model("m.onnx", {-1, 3}));
  ASSERT_TRUE(bool(facts));
  ingot::pipeline::Options options;
  ASSERT_FALSE(bool(fixShapes(*facts, {"d", {tensor({2, 3}, {})}, {-1}}, options)));
  EXPECT_TRUE(options.shapes.empty());
}

TEST_F(Data, DataThatCannotFit) {
  llvm::Expected<ModelFacts> facts = readModelFacts(model("m.onnx", {2, 3}));
  ASSERT_TRUE(bool(facts));
  ingot::pipeline::Options options;
  EXPECT_EQ(text(fixShapes(*facts, {"d", {}, {}}, options)),
            "d: error: the folder has 0 input_K.pb, the model has 1 inputs");
  EXPECT_EQ(text(fixShapes(*facts, {"d", {tensor({2, 4}, {})}, {-1}}, options)),
            "d/input_0.pb: error: the tensor has shape [2, 4], but input 'x' is float32[2,3]");
}

TEST_F(Data, OutputsAreKeptOrRemovedTogether) {
  std::filesystem::create_directories(path("there"));
  {
    OutputWriter writer;
    ASSERT_FALSE(bool(writer.write(path("new/deep"), Recorded{{tensor({1}, {1})}, {-1}})));
    ASSERT_FALSE(bool(writer.write(path("there"), Recorded{{tensor({1}, {1})}, {-1}})));
    EXPECT_FALSE(std::filesystem::exists(path("new/deep/output_0.pb"))) << "before all of them are complete";
  }
  EXPECT_FALSE(std::filesystem::exists(path("new/deep")));
  EXPECT_TRUE(std::filesystem::is_empty(path("there")));
  OutputWriter writer;
  ASSERT_FALSE(bool(writer.write(path("there"), Recorded{{tensor({1}, {1}), tensor({1}, {2})}, {-1, -1}})));
  ASSERT_FALSE(bool(writer.keep()));
  EXPECT_TRUE(std::filesystem::exists(path("there/output_1.pb")));
}

TEST_F(Data, OutputsOfAnEarlierRunOutliveAFailure) {
  write("there/output_0.pb", tensor({1}, {7}));
  {
    OutputWriter writer;
    ASSERT_FALSE(bool(writer.write(path("there"), Recorded{{tensor({1}, {1})}, {-1}})));
  }
  llvm::Expected<Recorded> kept = readTensors(path("there"), "output");
  ASSERT_TRUE(bool(kept)) << text(kept.takeError());
  EXPECT_EQ(kept->tensors.at(0).bytes, tensor({1}, {7}).bytes);
}

TEST_F(Data, OutputFolderThatCannotBeMade) {
  std::ofstream(path("file")) << "x";
  OutputWriter writer;
  EXPECT_NE(text(writer.write(path("file/below"), {})).find(": error: the folder cannot be made: "), std::string::npos);
  EXPECT_NE(text(writer.write(path("file"), Recorded{{tensor({1}, {1})}, {-1}})).find("cannot be written"),
            std::string::npos);
}
