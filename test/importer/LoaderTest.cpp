// Files that are no models, damaged or hostile ones; and that weights are not copied.
#include "Models.h"
#include "compiler/importer/SlimModel.h"
#include <sys/resource.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::test;

/// A length-delimited field around `payload`.
static std::string wrap(uint32_t number, const std::string &payload) {
  std::string out;
  for (uint64_t value : {uint64_t(number) << 3 | 2, uint64_t(payload.size())}) {
    for (; value > 0x7f; value >>= 7) {
      out.push_back(char(value | 0x80));
    }
    out.push_back(char(value));
  }
  return out + payload;
}

static long peakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Loader, GoodModel) { EXPECT_EQ(problemsOf(reluModel()), ""); }

TEST(Loader, NoSuchFile) {
  expectProblem(problemsOf(std::string("/nowhere/m.onnx")), "m.onnx: error: cannot be opened: No such file");
}

TEST(Loader, FolderAndPipe) {
  expectProblem(problemsOf(std::string("/tmp")), "is not a regular file");
  expectProblem(problemsOf(std::string("/dev/zero")), "is not a regular file");
}

TEST(Loader, Empty) {
  Folder folder;
  expectProblem(problemsOf(folder.write("m.onnx", "")), "is empty");
}

TEST(Loader, LfsPointer) {
  Folder folder;
  expectProblem(problemsOf(folder.write("m.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")),
                "git-lfs pointer");
}

TEST(Loader, RandomBytes) {
  Folder folder;
  std::string bytes;
  uint32_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 1664525 + 1013904223;
    bytes.push_back(char(state >> 24));
  }
  expectProblem(problemsOf(folder.write("m.onnx", bytes)), "not an ONNX model, or a damaged one");
}

TEST(Loader, TruncatedAnywhere) {
  Folder folder;
  std::string bytes = reluModel().SerializeAsString();
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_NE(problemsOf(folder.write("m.onnx", llvm::StringRef(bytes).take_front(size))), "") << size;
  }
}

TEST(Loader, NoGraph) { expectProblem(problemsOf(emptyModel()), "it has no graph"); }

// A graph in an attribute of a node of a graph ... ten thousand times: protobuf and we would overflow the stack.
TEST(Loader, SubgraphsTenThousandDeep) {
  Folder folder;
  std::string graph;
  for (int i = 0; i < 10000; ++i) {
    graph = wrap(1, wrap(4, "If") + wrap(5, wrap(1, "then_branch") + wrap(6, graph)));
  }
  expectProblem(problemsOf(folder.write("m.onnx", wrap(7, graph))),
                "m.onnx: error: nests messages more than 96 deep, in subgraphs of subgraphs (each takes three) or "
                "types of types");
}

TEST(Loader, TypesTenThousandDeep) {
  Folder folder;
  std::string type;
  for (int i = 0; i < 10000; ++i) {
    type = wrap(4, wrap(1, type));
  }
  expectProblem(problemsOf(folder.write("m.onnx", wrap(7, wrap(11, wrap(1, "x") + wrap(2, type))))),
                "nests messages more than 96 deep");
}

TEST(Loader, NestingInAnUnknownField) {
  Folder folder;
  std::string inner;
  for (int i = 0; i < 10000; ++i) {
    inner = wrap(99, inner);
  }
  std::string model = reluModel().SerializeAsString();
  EXPECT_EQ(problemsOf(folder.write("m.onnx", model + wrap(99, inner))), "")
      << "unknown fields are ignored, whatever is in them";
}

TEST(Loader, MillionsOfParts) {
  Folder folder;
  std::string nodes;
  for (int i = 0; i < 5'000'000; ++i) {
    nodes += "\x0a";
    nodes.push_back('\0');
  }
  expectProblem(problemsOf(folder.write("m.onnx", wrap(7, nodes))),
                "has more than 4625000 parts, which is too much for a file of 10000005 bytes");
}

// Trees of boosted models have a text for each of their nodes.
TEST(Loader, PartsGrowWithTheFile) {
  std::string modes;
  for (int i = 0; i < 4'100'000; ++i) {
    modes += wrap(9, "BRANCH_LEQ");
  }
  std::string graph = wrap(1, wrap(4, "TreeEnsembleRegressor") + wrap(5, wrap(1, "nodes_modes") + modes));
  std::string model = wrap(7, graph);
  llvm::Expected<importer::SlimModel> slim = importer::slimModel(model);
  ASSERT_TRUE(bool(slim)) << llvm::toString(slim.takeError());
}

TEST(Loader, WeightsStayInTheFile) {
  Folder folder;
  pb::ModelProto model = reluModel();
  size_t bytes = size_t(64) << 20;
  addWeight(model, "raw", 1, {int64_t(bytes / 4)}).set_raw_data(std::string(bytes, '\x3f'));
  std::string path = folder.write("m.onnx", model);
  model.Clear();
  support::Problems problems("m.onnx");
  long before = peakKilobytes();
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(path, problems);
  ASSERT_TRUE(file);
  EXPECT_LT(peakKilobytes() - before, 16 << 10);
  llvm::Expected<importer::TensorData> data = importer::readTensor(file->model().graph().initializer(0), *file);
  ASSERT_TRUE(bool(data));
  EXPECT_EQ(data->data.size(), bytes);
  EXPECT_EQ(data->data.front(), '\x3f');
}

TEST(Loader, PackedFloatsStayInTheFile) {
  pb::ModelProto model = reluModel();
  pb::TensorProto &tensor = addWeight(model, "w", 1, {3});
  for (float value : {1.f, 2.f, 3.f}) {
    tensor.add_float_data(value);
  }
  std::string bytes = model.SerializeAsString();
  llvm::Expected<importer::SlimModel> slim = importer::slimModel(bytes);
  ASSERT_TRUE(bool(slim));
  ASSERT_EQ(slim->slices.size(), 1u);
  EXPECT_EQ(slim->slices[0].size(), 12u);
}

TEST(Loader, RawDataThatLooksLikeANumber) {
  Folder folder;
  pb::ModelProto model = reluModel();
  addWeight(model, "w", 6, {1}).set_raw_data(std::string("\xff\xff\xff\xff", 4));
  support::Problems problems("m.onnx");
  std::unique_ptr<importer::ModelFile> file = importer::ModelFile::load(folder.write("m.onnx", model), problems);
  ASSERT_TRUE(file);
  llvm::Expected<importer::TensorData> data = importer::readTensor(file->model().graph().initializer(0), *file);
  ASSERT_TRUE(bool(data));
  EXPECT_EQ(data->data, llvm::StringRef("\xff\xff\xff\xff", 4));
}

// Whatever bytes are wrong, the answer is a message or a model, never a crash; the sanitizer preset watches this test.
TEST(Loader, Fuzz) {
  Folder folder;
  pb::ModelProto model = reluModel();
  addWeight(model, "w", 1, {2, 3}).set_raw_data(std::string(24, 'a'));
  addWeight(model, "v", 7, {3}).add_int64_data(1);
  pb::NodeProto &node = addNode(*model.mutable_graph()->mutable_node(), "If", {"y"}, {"z"}, "branch");
  pb::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("then_branch");
  addNode(*attribute.mutable_g()->mutable_node(), "Add", {"y", "w"}, {"inner"});
  addValue(*attribute.mutable_g()->mutable_output(), "inner");
  pb::FunctionProto &function = *model.add_functions();
  function.set_name("Twice");
  function.set_domain("mine");
  addNode(*function.mutable_node(), "Add", {"a", "a"}, {"b"});
  std::string good = model.SerializeAsString();
  uint32_t state = 7;
  auto random = [&](uint32_t limit) { return (state = state * 1664525 + 1013904223) / 65536 % limit; };
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (uint32_t edits = 1 + random(4); edits > 0; --edits) {
      switch (size_t at = random(uint32_t(bytes.size())); random(4)) {
      case 0:
        bytes[at] = char(random(256));
        break;
      case 1:
        bytes[at] = char(bytes[at] ^ (1 << random(8)));
        break;
      case 2:
        bytes.erase(at, 1 + random(8));
        break;
      default:
        bytes.insert(at, good.substr(random(uint32_t(good.size())), random(20)));
      }
      if (bytes.empty()) {
        bytes = good;
      }
    }
    problemsOf(folder.write("m.onnx", bytes));
  }
}
