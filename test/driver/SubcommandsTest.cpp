// The subcommands from argument list to exit code, on the fake pipeline.
#include "compiler/driver/Driver.h"
#include "test/driver/FakePipeline.h"
#include "test/driver/Files.h"
#include "llvm/Support/JSON.h"

using namespace ingot;

namespace {

struct Outcome {
  int code;
  std::string out, err;
};

class Subcommands : public test::FilesTest {
protected:
  Outcome ingot(std::vector<std::string> arguments) {
    std::vector<const char *> pointers = {"ingot"};
    for (const std::string &argument : arguments) {
      pointers.push_back(argument.c_str());
    }
    test::compilations = 0;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int code = driver::run(int(pointers.size()), pointers.data());
    std::string out = testing::internal::GetCapturedStdout();
    return {code, out, testing::internal::GetCapturedStderr()};
  }

  void data(const std::string &name, std::vector<int64_t> dims, std::vector<float> input, std::vector<float> output) {
    write(name + "/input_0.pb", tensor(dims, input));
    write(name + "/output_0.pb", tensor(dims, output));
  }

  static llvm::json::Object json(const std::string &text) {
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
    EXPECT_TRUE(bool(value)) << text;
    if (!value) {
      llvm::consumeError(value.takeError());
      return {};
    }
    return std::move(*value->getAsObject());
  }

  static void expectSays(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
};

} // namespace

TEST_F(Subcommands, CompileText) {
  Outcome outcome = ingot({"compile", model("m.onnx", {2, 3}), "--name", "double", "-o", root, "--timing"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expectSays(outcome.out, path("double.so") + "  1.0 kB\n");
  expectSays(outcome.out, "arena 4.1 kB, weights 20 B, code 300 B, 2 kernels, 0.75 s\n");
  expectSays(outcome.out, "node 'b' (Relu) runs on x86: cuda: no Relu\n");
  expectSays(outcome.err, "     0.250 s  first\n     0.500 s  second\n     0.750 s  total\n");
}

TEST_F(Subcommands, CompileJson) {
  Outcome outcome = ingot({"compile", model("m.onnx", {2, 3}), "--name", "double", "-o", root, "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  llvm::json::Object object = json(outcome.out);
  for (const char *field : {"seconds", "peak_rss_bytes", "phases", "artifacts", "arena_bytes", "weight_bytes",
                            "code_bytes", "kernels", "allocates", "fallbacks"}) {
    EXPECT_TRUE(object.get(field)) << field;
  }
  EXPECT_EQ(object.getArray("fallbacks")->size(), 1u);
  EXPECT_EQ(object.getArray("artifacts")->size(), 2u);
}

TEST_F(Subcommands, ExitCodes) {
  std::string file = model("m.onnx", {2, 3});
  Outcome wrong = ingot({"compile", file, "--name", "wrong"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_EQ(wrong.err, file + ": error: node 'n' (Foo, opset 9): unsupported operator\n");
  EXPECT_EQ(wrong.out, "");
  Outcome bug = ingot({"compile", file, "--name", "bug"});
  EXPECT_EQ(bug.code, 2);
  expectSays(bug.err, "internal error\ningot: error: internal error; please report it with the reproducer ");
  Outcome memory = ingot({"compile", file, "--name", "memory"});
  EXPECT_EQ(memory.code, 1);
  EXPECT_EQ(memory.err, "ingot: error: out of memory\n");
  Outcome flags = ingot({"compile"});
  EXPECT_EQ(flags.code, 1);
  EXPECT_EQ(ingot({"--help"}).code, 0);
}

TEST_F(Subcommands, CrashLeavesAReproducer) {
  std::string file = model("m.onnx", {2, 3});
  const char *arguments[] = {"ingot", "compile", file.c_str(), "--name", "crash"};
  setenv("TMPDIR", root.c_str(), 1);
  EXPECT_EXIT(driver::run(5, arguments), testing::ExitedWithCode(2),
              "ingot: error: internal error: segmentation fault while compiling, in phase 'second'; this is a bug in "
              "ingot, please "
              "report it with the reproducer .*ingot-crash-[0-9]*.sh");
  const char *overflow[] = {"ingot", "compile", file.c_str(), "--name", "overflow"};
  EXPECT_EXIT(driver::run(5, overflow), testing::ExitedWithCode(2),
              "internal error: segmentation fault while compiling");
  unsetenv("TMPDIR");
}

TEST_F(Subcommands, StopAfterPrintsNothingElse) {
  Outcome outcome = ingot({"compile", model("m.onnx", {2, 3}), "--stop-after", "first"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Subcommands, RunWritesOutputs) {
  data("d", {2, 3}, {1, 2, 3, 4, 5, 6}, {});
  Outcome outcome =
      ingot({"run", model("m.onnx", {2, 3}), "--name", "double", "--data", path("d"), "--out", path("o")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(test::lastOptions.emit, std::vector{emit::Kind::Shared});
  EXPECT_FALSE(std::filesystem::exists(test::lastOptions.outDir)) << "the temporary folder is removed";
  llvm::Expected<importer::HostTensor> output = importer::readTensorFile(path("o/output_0.pb"));
  ASSERT_TRUE(bool(output));
  EXPECT_EQ(output->name, "y");
  EXPECT_EQ(output->dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(output->bytes, tensor({6}, {2, 4, 6, 8, 10, 12}).bytes);
}

TEST_F(Subcommands, RunCompilesOnceForEachShapeWhereTheModelHasNone) {
  data("a", {1, 3}, {1, 2, 3}, {});
  data("b", {2, 3}, {1, 2, 3, 4, 5, 6}, {});
  data("c", {1, 3}, {4, 5, 6}, {});
  std::string symbolic = model("m.onnx", {}, /*ranked=*/false);
  std::vector<std::string> arguments = {"run", symbolic, "--name", "double", "--threads", "2"};
  for (const char *set : {"a", "b", "c"}) {
    arguments.insert(arguments.end(), {"--data", path(set), "--out", path(std::string("out-") + set)});
  }
  Outcome outcome = ingot(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(test::compilations, 2);
  llvm::Expected<importer::HostTensor> output = importer::readTensorFile(path("out-c/output_0.pb"));
  ASSERT_TRUE(bool(output));
  EXPECT_EQ(output->bytes, tensor({3}, {8, 10, 12}).bytes);
}

TEST_F(Subcommands, OpenSizesCompileOnceForAllData) {
  data("test_data_set_0", {1, 3}, {1, 2, 3}, {2, 4, 6});
  data("test_data_set_1", {4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2}, {2, 4, 6, 8, 10, 12, 14, 16, 18, 0, 2, 4});
  data("large", {5, 3}, std::vector<float>(15), std::vector<float>(15));
  std::string file = model("m.onnx", {-1, 3});
  Outcome outcome = ingot({"verify", file, "--name", "open", "--dim", "rows=1..4"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(test::compilations, 1);
  EXPECT_TRUE(test::lastOptions.shapes.empty());
  EXPECT_EQ(test::lastOptions.bounds.at("rows").most, 4);
  expectSays(outcome.out, "test_data_set_0  y  float32[1, 3]");
  expectSays(outcome.out, "test_data_set_1  y  float32[4, 3]");
  Outcome large = ingot({"verify", file, "--name", "open", "--data", path("large")});
  EXPECT_EQ(large.code, 1);
  expectSays(large.err, "large: error: input 'x' is float32[rows, 3], but the recorded one is float32[5, 3]; here rows "
                        "is 5 (at most 4)");
}

TEST_F(Subcommands, BenchOfOpenSizes) {
  std::string file = model("m.onnx", {-1, 3});
  Outcome outcome = ingot({"bench", file, "--name", "open", "--seconds", "0.01", "--json", "--dim", "n=2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(test::lastOptions.dims.at("n"), 2) << "the model's sizes are fixed";
  llvm::json::Object object = json(outcome.out);
  EXPECT_EQ(object.getInteger("macs"), 3);
  EXPECT_EQ(object.getInteger("arena_bytes"), 64);
  expectSays(outcome.err, "warning: the size 'rows' is open and taken as 1; give another with --dim rows=SIZE, --shape "
                          "or --data");
}

TEST_F(Subcommands, RunWithoutDataSaysWhatItNeeds) {
  Outcome outcome = ingot({"run", model("m.onnx", {2, 3}), "--name", "double", "--out", path("o")});
  EXPECT_EQ(outcome.code, 1);
  expectSays(outcome.err, "run needs --data, a folder with input_K.pb for each --out; bench runs a model on random");
  EXPECT_FALSE(std::filesystem::exists(path("o")));
}

TEST_F(Subcommands, RunLeavesNothingWhenItFails) {
  data("good", {2, 3}, {1, 2, 3, 4, 5, 6}, {});
  data("bad", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, {});
  Outcome outcome = ingot({"run", model("m.onnx", {2, 3}), "--name", "double", "--data", path("good"), "--out",
                           path("o1"), "--data", path("bad"), "--out", path("o2")});
  EXPECT_EQ(outcome.code, 1);
  expectSays(outcome.err, "bad/input_0.pb: error: the tensor has shape [2, 4], but input 'x' is float32[2,3]");
  EXPECT_FALSE(std::filesystem::exists(path("o1")));
  EXPECT_FALSE(std::filesystem::exists(path("o2")));
}

TEST_F(Subcommands, ErrorsOfARun) {
  data("d", {2, 3}, {1, 2, 3, 4, 5, 6}, {});
  std::string file = model("m.onnx", {2, 3});
  Outcome fails = ingot({"run", file, "--name", "fails", "--data", path("d"), "--out", path("o")});
  EXPECT_EQ(fails.code, 1);
  expectSays(fails.err, path("d") + ": error: model 'fails': ");
  expectSays(fails.err, "lookup");
  Outcome spill = ingot({"run", file, "--name", "spill", "--data", path("d"), "--out", path("o")});
  EXPECT_EQ(spill.code, 2);
  expectSays(spill.err, "internal error: the compiled model wrote behind its output 'y'");
  EXPECT_FALSE(std::filesystem::exists(path("o")));
}

TEST_F(Subcommands, VerifyCompares) {
  data("test_data_set_0", {2, 3}, {1, 2, 3, 4, 5, 6}, {2, 4, 6, 8, 10, 12});
  data("test_data_set_1", {2, 3}, {1, 2, 3, 4, 5, 6}, {2, 4, 6, 8, 10, 13});
  std::string file = model("m.onnx", {2, 3});
  Outcome one = ingot({"verify", file, "--name", "double", "--data", path("test_data_set_0")});
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.out, "ok    " + path("test_data_set_0") + "  y  float32[2, 3]  max error 0, max 12\n");
  Outcome both = ingot({"verify", file, "--name", "double"});
  EXPECT_EQ(both.code, 1);
  expectSays(both.out, "FAIL  " + path("test_data_set_1") +
                           "  y  float32[2, 3]  max error 1 at max 13, 1 of 6 beyond tolerance\n");
  EXPECT_EQ(ingot({"verify", file, "--name", "double", "--tolerance", "0.1"}).code, 0);
  Outcome object = ingot({"verify", file, "--name", "double", "--json"});
  EXPECT_EQ(object.code, 1);
  EXPECT_EQ(json(object.out).getBoolean("passed"), false);
}

TEST_F(Subcommands, VerifyWantsData) {
  std::string file = model("m.onnx", {2, 3});
  Outcome none = ingot({"verify", file});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "ingot: error: no --data is given, and there is no test_data_set_* beside the model\n");
  write("d/input_0.pb", tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  Outcome outputs = ingot({"verify", file, "--name", "double", "--data", path("d")});
  EXPECT_EQ(outputs.code, 1);
  expectSays(outputs.err, "d: error: the folder has 0 output_K.pb, the model has 1 outputs");
}

TEST_F(Subcommands, BenchJson) {
  Outcome outcome = ingot({"bench", model("m.onnx", {2, 3}), "--name", "double", "--seconds", "0.02", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  llvm::json::Object object = json(outcome.out);
  for (const char *field : {"model", "target", "threads", "runs", "min_us", "median_us", "p99_us", "mean_us", "macs",
                            "gflops", "arena_bytes", "weight_bytes", "code_bytes", "compile_seconds"}) {
    EXPECT_TRUE(object.get(field)) << field;
  }
  EXPECT_EQ(object.getString("model"), "double");
  EXPECT_EQ(object.getInteger("threads"), 1);
  EXPECT_EQ(object.getInteger("macs"), 1000);
  EXPECT_LE(*object.getNumber("min_us"), *object.getNumber("median_us"));
  EXPECT_LE(*object.getNumber("median_us"), *object.getNumber("p99_us"));
  Outcome text = ingot({"bench", path("m.onnx"), "--name", "double", "--seconds", "0.02", "--threads", "2"});
  expectSays(text.out, "double on fake, 2 threads\n");
  EXPECT_EQ(ingot({"bench", path("m.onnx"), "--name", "fails", "--seconds", "0.02"}).code, 1);
}

TEST_F(Subcommands, ManifestIsNotCompiledAgain) {
  data("d", {2, 3}, {1, 2, 3, 4, 5, 6}, {2, 4, 6, 8, 10, 12});
  ASSERT_EQ(ingot({"compile", model("m.onnx", {2, 3}), "--name", "double", "-o", root}).code, 0);
  Outcome verify = ingot({"verify", path("double.json"), "--data", path("d")});
  EXPECT_EQ(verify.code, 0) << verify.err;
  EXPECT_EQ(test::compilations, 0);
  EXPECT_EQ(ingot({"bench", path("double.json"), "--data", path("d"), "--seconds", "0.02"}).code, 0);
  write("other/input_0.pb", tensor({3, 2}, {1, 2, 3, 4, 5, 6}));
  Outcome other = ingot({"run", path("double.json"), "--data", path("other"), "--out", path("o")});
  EXPECT_EQ(other.code, 1);
  expectSays(other.err, "other: error: input 'x' is float32[2, 3], but the recorded one is float32[3, 2]");
  std::filesystem::remove(path("double.so"));
  Outcome absent = ingot({"verify", path("double.json"), "--data", path("d")});
  EXPECT_EQ(absent.code, 1);
  expectSays(absent.err, "double.so: error: not found beside the manifest; compile with --emit shared");
}

TEST_F(Subcommands, LibrariesThatCannotBeUsed) {
  std::filesystem::create_directories(path("x"));
  std::ofstream(path("x/m.json")) << R"({"manifest_version":1,"name":"m"})";
  std::ofstream(path("x/m.so")) << "not a library";
  Outcome damaged = ingot({"bench", path("x/m.json")});
  EXPECT_EQ(damaged.code, 1);
  expectSays(damaged.err, "m.so: error: cannot be loaded: ");
  ASSERT_EQ(ingot({"compile", model("m.onnx", {2, 3}), "--name", "old", "-o", root}).code, 0);
  Outcome old = ingot({"bench", path("old.json")});
  EXPECT_EQ(old.code, 1);
  expectSays(old.err, "was compiled by another version of ingot (ABI 99, this one has ");
}

TEST_F(Subcommands, Inspect) {
  std::string file = model("m.onnx", {-1, 3});
  Outcome outcome = ingot({"inspect", file, "--memory"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(test::lastOptions.measures && test::lastOptions.outDir.empty());
  for (const char *part : {"ONNX IR 8, opset 17", "float32[", "  2 in 1 tensors, 8 B\n", "1  ",
                           "1,234,567 multiply-adds, 2 kernels", "arena 4.1 kB (largest live set 4.0 kB)", "1  x86\n",
                           "runs on x86: cuda: no Relu", "memory plan\nthe plan\n"}) {
    expectSays(outcome.out, part);
  }
  llvm::json::Object object = json(ingot({"inspect", file, "--json"}).out);
  EXPECT_EQ(object.getBoolean("compiles"), true);
  EXPECT_EQ(object.getObject("ops")->getInteger("Add"), 1);
  EXPECT_EQ(object.getArray("placement")->size(), 2u);
}

TEST_F(Subcommands, InspectOfAModelThatCannotBeCompiled) {
  Outcome outcome = ingot({"inspect", model("m.onnx", {2, 3}), "--name", "wrong"});
  EXPECT_EQ(outcome.code, 1);
  expectSays(outcome.out, "float32[2,3]");
  expectSays(outcome.err, "unsupported operator");
  Outcome absent = ingot({"inspect", path("absent.onnx")});
  EXPECT_EQ(absent.code, 1);
  EXPECT_EQ(absent.err.rfind(path("absent.onnx") + ": error: ", 0), 0u) << absent.err;
}

TEST_F(Subcommands, Targets) {
  Outcome outcome = ingot({"targets"});
  EXPECT_EQ(outcome.code, 0);
  expectSays(outcome.out, "this host: ");
  expectSays(outcome.out, "native");
  EXPECT_GE(json(ingot({"targets", "--json"}).out).getArray("targets")->size(), 1u);
}
