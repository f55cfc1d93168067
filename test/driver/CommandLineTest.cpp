// Every flag, and what is said of a wrong one.
#include "compiler/driver/commands/CommandLine.h"
#include <gtest/gtest.h>

using namespace ingot::driver;

namespace {

ParsedCommandLine parse(std::vector<const char *> arguments) {
  arguments.insert(arguments.begin(), "ingot");
  return parseCommandLine(int(arguments.size()), arguments.data());
}

Invocation parsed(std::vector<const char *> arguments) {
  ParsedCommandLine result = parse(arguments);
  EXPECT_TRUE(result.invocation) << result.text;
  return result.invocation.value_or(Invocation());
}

/// The message of a wrong command line.
std::string wrong(std::vector<const char *> arguments) {
  ParsedCommandLine result = parse(arguments);
  EXPECT_FALSE(result.invocation);
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_EQ(result.text.rfind("ingot: error: ", 0), 0u) << result.text;
  return result.text;
}

void expectSays(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

} // namespace

TEST(CommandLine, CompileDefaults) {
  Invocation invocation = parsed({"compile", "m.onnx"});
  EXPECT_EQ(invocation.command, Command::Compile);
  EXPECT_EQ(invocation.model.modelPath, "m.onnx");
  EXPECT_EQ(invocation.model.outDir, ".");
  EXPECT_EQ(invocation.model.emit, std::vector{ingot::emit::Kind::Lib});
  EXPECT_EQ(invocation.model.accuracy, ingot::pipeline::Accuracy::Default);
  EXPECT_TRUE(invocation.model.targets.empty());
  EXPECT_TRUE(invocation.model.fallback);
  EXPECT_FALSE(invocation.model.depfile);
}

TEST(CommandLine, CompileFlags) {
  Invocation invocation =
      parsed({"compile",       "m.onnx",        "-o",     "out",     "--name",   "net",          "--target",
              "a,b",           "--no-fallback", "--dim",  "batch=1", "--dim",    "seq=128",      "--shape",
              "x=1x3x224x224", "--shape",       "y:0=",   "--emit",  "obj,asm",  "--emit",       "llvm",
              "--depfile",     "--accuracy",    "strict", "--json",  "--timing", "--dump-after", "first,second"});
  const ingot::pipeline::Options &options = invocation.model;
  EXPECT_EQ(options.outDir, "out");
  EXPECT_EQ(options.name, "net");
  EXPECT_EQ(options.targets, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(options.fallback);
  EXPECT_EQ(options.dims, (std::map<std::string, int64_t>{{"batch", 1}, {"seq", 128}}));
  EXPECT_EQ(options.shapes.at("x"), (std::vector<int64_t>{1, 3, 224, 224}));
  EXPECT_EQ(options.shapes.at("y:0"), std::vector<int64_t>());
  EXPECT_EQ(options.emit, (std::vector{ingot::emit::Kind::Obj, ingot::emit::Kind::Asm, ingot::emit::Kind::Llvm}));
  EXPECT_TRUE(options.depfile);
  EXPECT_EQ(options.accuracy, ingot::pipeline::Accuracy::Strict);
  EXPECT_TRUE(invocation.json);
  EXPECT_TRUE(invocation.timing);
  EXPECT_EQ(parsed({"compile", "m.onnx", "--stop-after", "second"}).model.stopAfter, "second");
  EXPECT_EQ(parsed({"compile", "m.onnx"}).model.jobs, 0);
  EXPECT_EQ(parsed({"compile", "m.onnx", "-j", "3"}).model.jobs, 3);
  EXPECT_EQ(options.dumpAfter, (std::vector<std::string>{"first", "second"}));
}

TEST(CommandLine, Tuning) {
  Invocation tune = parsed({"tune", "m.onnx", "-o", "schedules.txt", "--time-limit", "5", "--threads", "2"});
  EXPECT_EQ(tune.command, Command::Tune);
  EXPECT_EQ(tune.tuningOutput, "schedules.txt");
  EXPECT_EQ(tune.seconds, 5);
  EXPECT_EQ(parsed({"tune", "m.onnx", "-o", "schedules.txt"}).seconds, 60);
  Invocation compile = parsed({"compile", "m.onnx", "--tuning", "schedules.txt", "--verbose"});
  EXPECT_EQ(compile.model.tuningFile, "schedules.txt");
  EXPECT_TRUE(compile.model.verbose);
  EXPECT_TRUE(parsed({"tune", "m.onnx", "--list"}).listsSchedules);
  expectSays(wrong({"tune", "m.onnx"}), "tune writes a file of schedules: give -o FILE, or --list");
  expectSays(wrong({"tune", "m.onnx", "-o", "f", "--tuning", "g"}), "--tuning");
  expectSays(wrong({"tune", "m.onnx", "-o", "f", "--data", "a", "--data", "b"}), "tune takes one --data");
}

TEST(CommandLine, Budget) {
  EXPECT_FALSE(parsed({"compile", "m.onnx"}).budget.isGiven());
  Budget budget = parsed({"compile", "m.onnx", "--budget", "flash=256K,ram=1000", "--json"}).budget;
  EXPECT_EQ(budget.flash, 262144);
  EXPECT_EQ(budget.ram, 1000);
  EXPECT_EQ(parsed({"compile", "--budget", "flash=1M", "m.onnx"}).budget.flash, 1048576);
  EXPECT_EQ(parsed({"compile", "m.onnx", "--budget", "ram=0"}).budget.ram, 0);
  for (const char *text : {"ram", "ram=", "ram=K", "ram=64k", "ram=+1", "ram=1.5K", "ram=9223372036854775807K"}) {
    expectSays(wrong({"compile", "m.onnx", "--budget", text}), "is no number of bytes");
  }
  expectSays(wrong({"compile", "m.onnx", "--budget", "ram=1,ram=2"}), "the budget of ram is given twice");
  EXPECT_EQ(parsed({"compile", "m.onnx", "--budget", "stack=2K"}).budget.stack, 2048);
  Budget ofTime = parsed({"compile", "m.onnx", "--budget", "cycles=20M@cortex-m4,flash=1K"}).budget;
  EXPECT_EQ(ofTime.cycles, 20'000'000);
  EXPECT_EQ(ofTime.core, "cortex-m4");
  EXPECT_EQ(parsed({"compile", "m.onnx", "--budget", "cycles=2K"}).budget.cycles, 2000);
  expectSays(wrong({"compile", "m.onnx", "--budget", "cycles=some@cortex-m4"}), "is no number of cycles");
  expectSays(wrong({"inspect", "m.onnx", "--budget", "ram=1"}), "--budget");
}

TEST(CommandLine, Goals) {
  using ingot::emit::Optimize;
  EXPECT_EQ(parsed({"compile", "m.onnx"}).model.optimize, Optimize::Balanced);
  Invocation small = parsed({"compile", "m.onnx", "--goal", "minimal-size"});
  EXPECT_EQ(small.model.optimize, Optimize::Size);
  EXPECT_EQ(small.model.winograd, ingot::lower::Winograd::Off);
  EXPECT_EQ(small.model.chains, ingot::layout::Chains::Off);
  EXPECT_EQ(small.compileFlags, std::vector<std::string>{"--goal"});
  EXPECT_EQ(parsed({"inspect", "m.onnx", "--goal", "low-latency"}).model.optimize, Optimize::Speed);
  EXPECT_EQ(parsed({"compile", "m.onnx", "--goal", "low-power"}).model.patches, 1);
  // What is given explicitly wins, wherever it stands.
  for (const auto &words : {std::vector<const char *>{"compile", "m.onnx", "--goal", "low-power", "--patches", "4"},
                            std::vector<const char *>{"compile", "m.onnx", "--patches", "4", "--goal", "low-power"}}) {
    EXPECT_EQ(parsed(words).model.patches, 4);
    EXPECT_EQ(parsed(words).model.optimize, Optimize::Speed);
  }
  expectSays(wrong({"compile", "m.onnx", "--goal", "fast"}),
             "--goal: fast not in {minimal-size,low-latency,low-power}");
}

TEST(CommandLine, Symbols) {
  using ingot::emit::Symbols;
  EXPECT_EQ(parsed({"compile", "m.onnx"}).model.symbols, Symbols::Libraries);
  EXPECT_EQ(parsed({"compile", "m.onnx", "--symbols", "none"}).model.symbols, Symbols::None);
  expectSays(wrong({"compile", "m.onnx", "--symbols", "some"}), "--symbols: some not in {libraries,none}");
  expectSays(wrong({"compile", "m.onnx", "--symbols", "none", "--emit", "cpp"}), "--symbols none is about objects");
}

TEST(CommandLine, Diff) {
  Invocation diff = parsed({"diff", "a.json", "b.json", "--fail-on-growth", "2.5%"});
  EXPECT_EQ(diff.command, Command::Diff);
  EXPECT_EQ(diff.manifests, (std::vector<std::string>{"a.json", "b.json"}));
  EXPECT_EQ(diff.mostGrowth, 2.5);
  EXPECT_FALSE(parsed({"diff", "a.json", "b.json"}).mostGrowth);
  for (const char *text : {"-1", "%", "5%%", "nan"}) {
    expectSays(wrong({"diff", "a.json", "b.json", "--fail-on-growth", text}), "is no percentage, such as 5%");
  }
}

TEST(CommandLine, Package) {
  Invocation package = parsed({"package", "a.onnx", "b.onnx", "--for", "npm", "-o", "out", "--dim", "batch=1"});
  EXPECT_EQ(package.command, Command::Package);
  EXPECT_EQ(package.models, (std::vector<std::string>{"a.onnx", "b.onnx"}));
  EXPECT_EQ(package.packageFormat, "npm");
  EXPECT_EQ(package.packageVersion, "1.0.0");
  EXPECT_EQ(package.model.dims.at("batch"), 1);
  auto with = [&](std::vector<const char *> more) {
    std::vector<const char *> all = {"package", "a.onnx", "--for", "zephyr", "-o", "out"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  EXPECT_EQ(parsed(with({"--package-version", "0.12.3"})).packageVersion, "0.12.3");
  for (const char *text : {"1.0", "v1.0.0", "1.0.00", "1..0"}) {
    expectSays(wrong(with({"--package-version", text})), "is no version such as 1.0.0");
  }
  expectSays(wrong({"package", "a.onnx", "--for", "cargo", "-o", "out"}), "--for: cargo not in {npm,");
  expectSays(wrong({"package", "a.onnx", "--for", "npm"}), "--output is required");
  expectSays(wrong({"package", "a.onnx", "b.onnx", "--for", "npm", "-o", "out", "--name", "n"}),
             "--name is for one model");
  expectSays(wrong(with({"--triple", "thumbv7em-none-eabi"})), "are for compile");
}

TEST(CommandLine, OpenSizes) {
  Invocation invocation = parsed(
      {"compile", "m.onnx", "--dim", "batch=1..8", "--dim", "seq=16", "--dim", "past=3..3", "--dim", "rows=2.."});
  ASSERT_EQ(invocation.model.bounds.count("batch"), 1u);
  EXPECT_EQ(invocation.model.bounds.at("batch").least, 1);
  EXPECT_EQ(invocation.model.bounds.at("batch").most, 8);
  EXPECT_EQ(invocation.model.dims, (std::map<std::string, int64_t>{{"seq", 16}, {"past", 3}}));
  EXPECT_FALSE(givesRunSizes(invocation));
  EXPECT_TRUE(givesRunSizes(parsed({"bench", "m.json", "--dim", "batch=8"})));
  EXPECT_FALSE(givesRunSizes(parsed({"bench", "m.onnx", "--data", "d"})));
  EXPECT_FALSE(givesRunSizes(parsed({"bench", "m.onnx", "--dim", "batch=8"})));
  expectSays(wrong({"verify", "m.json", "--dim", "batch=8"}),
             "--dim has no effect on a model that is compiled already");
}

TEST(CommandLine, BodiesForSizes) {
  ingot::pipeline::Options options =
      parsed({"compile", "m.onnx", "--dim", "a=64,16,64", "--dim", "b=1,*", "--dim", "c=1,2,0..9"}).model;
  EXPECT_EQ(options.choices.at("a").sizes, (std::vector<int64_t>{16, 64}));
  EXPECT_FALSE(options.choices.at("a").others);
  EXPECT_EQ(options.bounds.at("a").least, 16);
  EXPECT_EQ(options.bounds.at("a").most, 64);
  EXPECT_EQ(options.choices.at("b").sizes, std::vector<int64_t>{1});
  EXPECT_TRUE(options.choices.at("b").others);
  EXPECT_EQ(options.bounds.count("b"), 0u);
  EXPECT_EQ(options.choices.at("c").sizes, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(options.bounds.at("c").most, 9);
}

TEST(CommandLine, SeveralLevels) {
  EXPECT_EQ(parsed({"compile", "m.onnx", "--levels", "a,b"}).model.levels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parsed({"bench", "m.json", "--as", "b"}).as, "b");
  expectSays(wrong({"compile", "m.onnx", "--levels", "a,b", "--target", "a"}),
             "--target and --levels cannot be combined");
  expectSays(wrong({"run", "m.json", "--out", "o", "--levels", "a"}),
             "--levels has no effect on a model that is compiled already");
}

TEST(CommandLine, Places) {
  EXPECT_TRUE(parsed({"compile", "m.onnx"}).model.byCost);
  ingot::pipeline::Options options = parsed({"inspect", "m.onnx", "--partition", "greedy", "--require", "a:X=Conv,Add",
                                             "--require", "b=Relu", "--placement", "places.txt"})
                                         .model;
  EXPECT_FALSE(options.byCost);
  using Demands = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(options.demands, (Demands{{"a:X", "Conv,Add"}, {"b", "Relu"}}));
  EXPECT_EQ(options.placementFile, "places.txt");
  expectSays(wrong({"compile", "m.onnx", "--name", "a b"}), "--name: 'a b' is no identifier of C");
  expectSays(wrong({"compile", "m.onnx", "--name", "1a"}), "--name: '1a' is no identifier of C");
  expectSays(wrong({"compile", "m.onnx", "--name", "ingot"}), "--name: 'ingot' is the support library's own name");
  expectSays(wrong({"compile", "m.onnx", "--partition", "best"}), "--partition: best not in {greedy,cost}");
  expectSays(wrong({"compile", "m.onnx", "--require", "Conv"}), "'Conv' is not of the form T=Conv,MatMul");
  expectSays(wrong({"compile", "m.onnx", "--placement", "p", "--no-fallback"}),
             "--placement and --no-fallback cannot be combined");
  expectSays(wrong({"compile", "m.onnx", "--levels", "x86-64-v2,x86-64-v3", "--with-host-fallback"}),
             "--with-host-fallback and --levels cannot be combined");
  expectSays(wrong({"compile", "m.onnx", "--bind", "x=cuda", "--with-host-fallback"}),
             "--with-host-fallback and --bind cannot be combined");
  expectSays(wrong({"compile", "m.onnx", "--require", "a=Conv", "--levels", "a,b"}),
             "--require and --levels cannot be combined");
  expectSays(wrong({"run", "m.json", "--out", "o", "--placement", "p"}),
             "--placement has no effect on a model that is compiled already");
}

template <typename Value> void expectWords(const char *flag, Value ingot::pipeline::Options::*option) {
  for (const ingot::support::Word<Value> &row : wordsOf(Value())) {
    EXPECT_EQ(parsed({"compile", "m.onnx", flag, row.word.data()}).model.*option, row.value) << row.word.str();
  }
}

TEST(CommandLine, WordsOfOptions) {
  using ingot::pipeline::Options;
  expectWords("--accuracy", &Options::accuracy);
  expectWords("--winograd", &Options::winograd);
  expectWords("--strassen", &Options::strassen);
  expectWords("--split-floats", &Options::splitFloats);
  expectWords("--chains", &Options::chains);
  expectWords("--weights", &Options::weights);
  Options standard = parsed({"compile", "m.onnx"}).model;
  EXPECT_EQ(standard.winograd, ingot::lower::Winograd::Faster);
  EXPECT_EQ(standard.chains, ingot::layout::Chains::Faster);
  using ingot::quantizer::Method;
  using ingot::quantizer::Scheme;
  ingot::quantizer::Options quantization = parsed({"quantize", "m.onnx", "-o", "q.onnx"}).quantization;
  EXPECT_EQ(quantization.scheme, Scheme::Int8);
  EXPECT_EQ(quantization.method, Method::Auto);
  EXPECT_EQ(quantization.smooth, std::nullopt);
  EXPECT_EQ(quantization.effort, ingot::quantizer::Effort::Default);
  quantization = parsed({"quantize", "m.onnx", "-o", "q.onnx", "--effort", "quick", "--smooth", "0"}).quantization;
  EXPECT_EQ(quantization.smooth, 0);
  EXPECT_EQ(quantization.effort, ingot::quantizer::Effort::Quick);
  EXPECT_FALSE(quantization.signedActivations);
  quantization =
      parsed({"quantize", "m.onnx", "-o", "q.onnx", "--method", "mse", "--activations", "int8"}).quantization;
  EXPECT_EQ(quantization.method, Method::Mse);
  EXPECT_TRUE(quantization.signedActivations);
  EXPECT_EQ(parsed({"quantize", "m.onnx", "-o", "q.onnx", "--scheme", "bf16"}).quantization.scheme, Scheme::BFloat16);
  expectSays(wrong({"quantize", "m.onnx", "-o", "q.onnx", "--scheme", "int8-dynamic", "--method", "mse"}),
             "--method has no effect on --scheme int8-dynamic: it is for int8");
  expectSays(wrong({"quantize", "m.onnx", "-o", "q.onnx", "--scheme", "fp16", "--effort", "quick"}),
             "--effort has no effect on --scheme fp16: it is for int8, int8-dynamic, int4, int2");
  expectSays(wrong({"quantize", "m.onnx", "-o", "q.onnx", "--scheme", "int3"}),
             "int3 not in {int8,int8-dynamic,int8-weights,int4,int2,mixed,fp8,fp8-weights,fp16-weights,fp16,bf16}");
}

TEST(CommandLine, BudgetsOfAQuantization) {
  auto quantize = [](std::vector<const char *> flags) {
    flags.insert(flags.begin(), {"quantize", "m.onnx", "-o", "q.onnx", "--scheme", "mixed"});
    return flags;
  };
  ingot::quantizer::Options options = parsed(quantize({"--size", "3M", "--latency", "2.5ms"})).quantization;
  EXPECT_EQ(options.mostBytes, 3 << 20);
  EXPECT_DOUBLE_EQ(options.mostSeconds, 2.5e-3);
  EXPECT_LT(options.maxDrop, 0);
  EXPECT_DOUBLE_EQ(parsed(quantize({"--latency", "150us"})).quantization.mostSeconds, 150e-6);
  for (const char *size : {"3L", "0", "9999999999999M"}) {
    expectSays(wrong(quantize({"--size", size})), "is no number of bytes, such as 65536, 64K or 1M");
  }
  for (const char *time : {"3", "ms", "0us", "nanms"}) {
    expectSays(wrong(quantize({"--latency", time})), "is no time, such as 150us or 2.5ms");
  }
  expectSays(wrong(quantize({})), "--scheme mixed is for a budget: give --max-drop, --size or --latency");
  expectSays(wrong(quantize({"--size", "1K", "--gptq"})), "--gptq has no effect on --scheme mixed");
}

TEST(CommandLine, CoverageCompilesNothing) {
  EXPECT_TRUE(parsed({"inspect", "m.onnx", "--coverage", "--json"}).coverage);
  for (const char *flag : {"--memory", "--top=3", "--top-buffers=3", "--strassen=off", "--target=x86-64-v3"}) {
    std::string name = llvm::StringRef(flag).split('=').first.str();
    expectSays(wrong({"inspect", "m.onnx", "--coverage", flag}),
               name + " has no effect with --coverage, which compiles nothing");
  }
  expectSays(wrong({"inspect", "m.onnx", "--coverage", "--top-constants", "3"}),
             "--top-constants has no effect with --coverage, which prints operators alone");
}

TEST(CommandLine, NamesMayHoldEqualsSigns) {
  EXPECT_EQ(parsed({"compile", "m.onnx", "--shape", "a=b=2x3"}).model.shapes.at("a=b"), (std::vector<int64_t>{2, 3}));
}

TEST(CommandLine, ThreadsZeroMeansAll) { EXPECT_EQ(parsed({"bench", "m.onnx", "--threads", "0"}).threads, 0); }

TEST(CommandLine, RunPairsDataWithOut) {
  Invocation invocation = parsed({"run", "m.onnx", "--data", "d0", "--out", "o0", "--data", "d1", "--out", "o1"});
  EXPECT_EQ(invocation.data, (std::vector<std::string>{"d0", "d1"}));
  EXPECT_EQ(invocation.out, (std::vector<std::string>{"o0", "o1"}));
  expectSays(wrong({"run", "m.onnx", "--out", "o"}), "run needs --data, a folder with input_K.pb for each --out");
  expectSays(wrong({"run", "m.onnx", "--data", "d0", "--data", "d1", "--out", "o"}),
             "each --data needs its --out: 2 and 1 are given");
  expectSays(wrong({"run", "m.onnx", "--data", "d0"}), "--out is required");
}

TEST(CommandLine, OtherSubcommands) {
  EXPECT_TRUE(parsed({"inspect", "m.onnx", "--memory"}).memory);
  EXPECT_EQ(parsed({"inspect", "m.onnx", "--top", "3"}).largestKernels, 3);
  EXPECT_EQ(parsed({"inspect", "m.onnx", "--top-buffers", "3"}).largestBuffers, 3);
  EXPECT_EQ(parsed({"inspect", "m.onnx", "--top-constants", "3"}).largestConstants, 3);
  EXPECT_DOUBLE_EQ(parsed({"verify", "m.onnx", "--tolerance", "0.01"}).tolerance, 0.01);
  EXPECT_DOUBLE_EQ(parsed({"bench", "m.onnx", "--seconds", "0.3"}).seconds, 0.3);
  EXPECT_EQ(parsed({"targets", "--json"}).command, Command::Targets);
}

TEST(CommandLine, WrongFlags) {
  expectSays(wrong({}), "A subcommand is required; see `ingot --help`");
  expectSays(wrong({"frobnicate"}), "unknown subcommand 'frobnicate'; see `ingot --help`");
  expectSays(wrong({"compile"}), "model is required");
  expectSays(wrong({"compile", "m.onnx", "--frobnicate"}), "--frobnicate");
  expectSays(wrong({"compile", "m.onnx", "--emit", "ptx"}), "ptx not in {lib,obj,shared,cpp,asm,llvm,mlir}");
  expectSays(wrong({"compile", "m.onnx", "--stop-after", "third"}), "third not in {first,second}");
  expectSays(wrong({"compile", "m.onnx", "--dump-after", "third"}), "third not in {first,second}");
  expectSays(wrong({"compile", "m.onnx", "--accuracy", "sloppy"}),
             "sloppy not in {reproducible,strict,default,close,fast}");
  expectSays(wrong({"compile", "m.onnx", "--winograd", "3"}), "--winograd: 3 not in {off,2,4}");
  expectSays(wrong({"compile", "m.onnx", "--winograd", "4", "--accuracy", "strict"}),
             "--winograd 4 and --accuracy strict cannot be combined: its sums are not the model's");
  expectSays(wrong({"compile", "m.onnx", "--strassen", "2"}), "--strassen: 2 not in {off,on}");
  expectSays(wrong({"compile", "m.onnx", "--strassen", "on", "--accuracy", "strict"}),
             "--strassen on and --accuracy strict cannot be combined: its sums are not the model's");
  expectSays(wrong({"compile", "m.onnx", "--split-floats", "2"}), "--split-floats: 2 not in {off,on}");
  expectSays(wrong({"compile", "m.onnx", "--split-floats", "on", "--accuracy", "strict"}),
             "--split-floats on and --accuracy strict cannot be combined: its sums are not the model's");
  expectSays(wrong({"compile", "m.onnx", "--winograd", "2", "--accuracy", "reproducible"}),
             "--winograd 2 and --accuracy reproducible cannot be combined: its sums are not the model's");
  expectSays(wrong({"compile", "m.onnx", "--tuning", "t", "--accuracy", "reproducible"}),
             "--tuning and --accuracy reproducible cannot be combined: schedules that are measured may order sums");
  expectSays(wrong({"verify", "m.onnx", "--digest", "0123"}), "'0123' is neither 64 hexadecimal digits nor 'print'");
  expectSays(wrong({"verify", "m.onnx", "--digest", "print", "--per-node"}),
             "--digest reads no recorded outputs: use it without --per-node");
  expectSays(wrong({"compile", "m.onnx", "--threads", "2"}), "--threads");
  expectSays(wrong({"bench", "m.onnx", "--threads", "-1"}), "--threads");
  expectSays(wrong({"compile", "m.onnx", "--cache-room", "9"}), "--cache-room says how large caches are");
  expectSays(wrong({"report", "m.onnx", "-o", "r.html", "--data", "d"}),
             "--data is for measuring: use it with --bench");
  expectSays(wrong({"report", "m.onnx", "-o", "r.html", "--seconds", "1"}), "--seconds is for measuring");
  expectSays(wrong({"bench", "m.json", "--timing"}), "--timing has no effect on a model that is compiled already");
  expectSays(wrong({"bench", "m.onnx", "--seconds", "0"}), "--seconds");
  expectSays(wrong({"verify", "m.onnx", "--tolerance", "-1"}), "--tolerance");
  expectSays(wrong({"compile", "m.onnx", "--runner", "qemu"}), "--runner");
  expectSays(wrong({"bench", "m.onnx", "--data", "a", "--data", "b"}), "bench takes one --data");
  expectSays(wrong({"verify", "m.onnx", "--stop-after", "first"}), "--stop-after leaves nothing to run");
  expectSays(wrong({"compile", "m.onnx", "--stop-after", "first", "--json"}), "prints the IR alone, without --json");
  expectSays(wrong({"compile", "m.onnx", "--stop-after", "first", "-M"}), "without --depfile");
  expectSays(wrong({"inspect", "m.onnx", "--stop-after", "first", "--memory"}), "without --memory");
  expectSays(wrong({"inspect", "m.onnx", "--stop-after", "first", "--top", "3"}), "without --top");
  expectSays(wrong({"inspect", "m.onnx", "--stop-after", "first", "--top-buffers", "3"}), "without --top-buffers");
  expectSays(wrong({"inspect", "m.onnx", "--stop-after", "first", "--top-constants", "3"}), "without --top-constants");
  expectSays(wrong({"inspect", "m.onnx", "--top", "0"}), "--top");
  expectSays(wrong({"inspect", "m.onnx", "--top-buffers", "0"}), "--top-buffers");
  expectSays(wrong({"inspect", "m.onnx", "--top-constants", "0"}), "--top-constants");
  expectSays(wrong({"report", "m.onnx", "--stop-after", "first", "-o", "r.html"}), "without the report");
}

TEST(CommandLine, WrongDims) {
  expectSays(wrong({"compile", "m.onnx", "--dim", "batch"}), "--dim: 'batch' is not of the form NAME=SIZE");
  expectSays(wrong({"compile", "m.onnx", "--dim", "=1"}), "--dim: '=1' is not of the form NAME=SIZE");
  expectSays(wrong({"compile", "m.onnx", "--dim", "batch=x"}), "--dim: 'batch=x': 'x' is not a size");
  expectSays(wrong({"compile", "m.onnx", "--dim", "batch=-1"}), "'-1' is not a size");
  expectSays(wrong({"compile", "m.onnx", "--dim", "batch=99999999999999999999"}), "is not a size");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=1,*,8"}), "--dim: 'b=1,*,8': '*' or a range stands for all");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=1,"}), "--dim: 'b=1,': '' is not a size");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=1,9..2"}), "--dim: 'b=1,9..2': the range is empty");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=1,2", "--dim", "b=3"}), "dimension 'b' is given twice");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=8..1"}), "--dim: 'b=8..1': the range is empty");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=..8"}), "--dim: 'b=..8': '' is not a size");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=1..8", "--dim", "b=2"}), "dimension 'b' is given twice");
  expectSays(wrong({"compile", "m.onnx", "--dim", "b=1", "--dim", "b=2"}), "--dim: dimension 'b' is given twice");
}

TEST(CommandLine, WrongShapes) {
  expectSays(wrong({"compile", "m.onnx", "--shape", "1x2"}), "--shape: '1x2' is not of the form INPUT=1x3x224x224");
  expectSays(wrong({"compile", "m.onnx", "--shape", "x=1xx2"}), "--shape: 'x=1xx2': '' is not a size");
  expectSays(wrong({"compile", "m.onnx", "--shape", "x=1x"}), "--shape: 'x=1x': '' is not a size");
  expectSays(wrong({"compile", "m.onnx", "--shape", "x=1,2"}), "'1,2' is not a size");
  expectSays(wrong({"compile", "m.onnx", "--shape", "x=1", "--shape", "x=2"}), "--shape: input 'x' is given twice");
}

TEST(CommandLine, ManifestInPlaceOfTheModel) {
  EXPECT_EQ(parsed({"bench", "out/m.json", "--threads", "2"}).model.modelPath, "out/m.json");
  expectSays(wrong({"bench", "out/m.json", "--target", "a"}),
             "--target has no effect on a model that is compiled already ('out/m.json')");
  expectSays(wrong({"compile", "out/m.json"}),
             "'out/m.json' is the manifest of a compiled model; an ONNX model is expected");
  expectSays(wrong({"inspect", "out/m.json"}), "an ONNX model is expected");
}

TEST(CommandLine, HelpAndVersion) {
  ParsedCommandLine help = parse({"--help"});
  EXPECT_EQ(help.exitCode, 0);
  for (const char *part : {"compile", "inspect", "run", "verify", "bench", "targets", "Exit codes: 0 done"}) {
    expectSays(help.text, part);
  }
  ParsedCommandLine compile = parse({"compile", "--help"});
  EXPECT_EQ(compile.exitCode, 0);
  for (const char *part :
       {"Model:", "Target:", "Output:", "Looking inside:", "--shape INPUT=1x3x224x224", "phases: first, second"}) {
    expectSays(compile.text, part);
  }
  ParsedCommandLine version = parse({"--version"});
  EXPECT_EQ(version.exitCode, 0);
  EXPECT_EQ(version.text.rfind("ingot ", 0), 0u);
}
