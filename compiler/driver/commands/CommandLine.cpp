// Declares the flags of all subcommands, with CLI11; those that concern the model are in ModelFlags.cpp. Each
// subcommand adds its own in a function.
#include "compiler/driver/commands/CommandLine.h"
#include "compiler/driver/commands/FlagChecks.h"
#include "compiler/driver/commands/Goals.h"
#include "compiler/driver/commands/ModelFlags.h"
#include "compiler/driver/packaging/Package.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ingot::driver {
namespace {

const char *const kFooter =
    "Exit codes: 0 done, 1 the model or the flags are wrong, 2 a bug in ingot (a reproducer is written).";

/// Writes help with the name of a flag's value and nothing else: its sentence says what may stand there.
class HelpFormatter : public CLI::Formatter {
public:
  HelpFormatter() { column_width(34); }
  std::string make_option_opts(const CLI::Option *option) const override {
    std::string type = option->get_type_name(); // NAME:CHECKS
    return type.empty() || option->get_items_expected_max() == 0 ? "" : " " + type.substr(0, type.find(':'));
  }
};

/// Checks numbers that are no integers: "nan" and "inf" are numbers to a parser, and NaN lies in every range.
CLI::Validator finite() {
  auto check = [](const std::string &text) {
    double value = std::strtod(text.c_str(), nullptr);
    return std::isfinite(value) ? std::string() : "'" + text + "' is no finite number";
  };
  return {check, ""};
}

/// Checks what outputs are compared with by --digest.
CLI::Validator isDigest() {
  auto check = [](const std::string &text) {
    bool isHex = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
    return isHex || text == "print" ? std::string() : "'" + text + "' is neither 64 hexadecimal digits nor 'print'";
  };
  return {check, ""};
}

void addCompile(CLI::App &app, Invocation &invocation) {
  addModelFlags(app, invocation, "ONNX model");
  pipeline::Options &options = invocation.model;
  options.outDir = ".";
  beginGroup(app, "Output");
  app.add_option("-o,--output", options.outDir, "Folder for the artifacts; made if it does not exist; default: .")
      ->type_name("DIR");
  WordList kinds(wordsOf(emit::Kind()));
  auto setKinds = [&options](const std::vector<std::string> &words) {
    options.emit.clear();
    for (const std::string &word : words) {
      options.emit.push_back(*support::valueOf<emit::Kind>(word));
    }
  };
  repeated(
      app.add_option_function<std::vector<std::string>>("--emit", setKinds, kinds.sentence("What to write", "lib")))
      ->delimiter(',')
      ->check(CLI::IsMember(kinds.words))
      ->type_name("KIND,...");
  app.add_flag("--profile", options.profile,
               "Call ingot_exec.profile before and after every kernel (a model without this flag has no trace of it)");
  app.add_flag("--depfile,-M", options.depfile,
               "Write NAME.d, the files that the result depends on, for make and ninja");
  auto setBudget = [&invocation](const std::vector<std::string> &kinds) {
    for (const std::string &kind : kinds) {
      if (std::string wrong = parseBudget(kind, invocation.budget); !wrong.empty()) {
        throw CLI::ValidationError("--budget", wrong);
      }
    }
  };
  repeated(
      app.add_option_function<std::vector<std::string>>(
          "--budget", setBudget,
          "What the model may take at most: flash=256K,ram=64K,stack=2K (K and M are 1024 and 1024 * 1024 bytes), "
          "cycles=20M@cortex-m4 (by estimate; 1000 and 1000 * 1000); exceeded: a table, exit code 1, and no files"))
      ->delimiter(',')
      ->type_name("KIND=NUMBER,...");
  CLI::Option *cache =
      app.add_option("--compile-cache", invocation.compileCache,
                     "Folder of earlier compilations: an equal one is copied from there; several processes may use it")
          ->type_name("DIR");
  app.add_option("--compile-cache-size", invocation.compileCacheBytes,
                 "What that folder may take before entries are dropped that were not used for longest; default: 2GB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::NonNegativeNumber)
      ->needs(cache)
      ->type_name("BYTES");
}

void addInspect(CLI::App &app, Invocation &invocation) {
  addModelFlags(app, invocation, "ONNX model");
  app.add_flag("--memory", invocation.memory, "Print the memory plan: offset, bytes and lifetime of every buffer")
      ->group("Looking inside");
  app.add_option("--top", invocation.largestKernels,
                 "Print the N kernels with the most multiply-adds, then with the most bytes of operands and results, "
                 "and their nodes")
      ->check(CLI::Range(1, 1000000))
      ->group("Looking inside")
      ->type_name("N");
  app.add_option("--top-buffers", invocation.largestBuffers,
                 "Print the N buffers of the memory plan with the most bytes, and the nodes that write them")
      ->check(CLI::Range(1, 1000000))
      ->group("Looking inside")
      ->type_name("N");
  app.add_option("--top-constants", invocation.largestConstants,
                 "Print the N constants of the file with the most bytes, their types, and the nodes that read them")
      ->check(CLI::Range(1, 1000000))
      ->group("Looking inside")
      ->type_name("N");
  app.add_flag("--coverage", invocation.coverage,
               "Print how the compiler takes each operator of the model, and which it refuses, without compiling it")
      ->group("Looking inside");
}

void addData(CLI::App &app, Invocation &invocation, const char *help) {
  repeated(app.add_option("--data", invocation.data, help))->group("Data")->type_name("DIR");
}

/// Adds the flag of all that runs a model.
void addThreads(CLI::App &app, Invocation &invocation) {
  app.add_option("--threads", invocation.threads, "Threads of a run; 0: all; default: 1")
      ->check(CLI::Range(0, 1024))
      ->group("Target")
      ->type_name("N");
}

/// Adds the flag that says how long to measure.
void addSeconds(CLI::App &app, Invocation &invocation) {
  app.add_option("--seconds", invocation.seconds, "How long to measure; default: 2")
      ->check(CLI::PositiveNumber)
      ->check(finite())
      ->group("Data")
      ->type_name("S");
}

const char *const kModelOrManifest = "ONNX model, or the manifest NAME.json of a compiled one (beside NAME.so)";

/// Adds the flags of run, verify and bench.
void addRunsModel(CLI::App &app, Invocation &invocation) {
  addModelFlags(app, invocation, kModelOrManifest);
  addThreads(app, invocation);
  app.add_option("--runner", invocation.runner,
                 "Run on another machine, by a command in front of ingot-runner and its arguments: "
                 "'qemu-aarch64 -L /usr/aarch64-linux-gnu', 'ssh host'; or on a board without an operating system, "
                 "emulated or of your own: 'board mps2-an386', 'board FILE.json' (docs/using/boards.md)")
      ->group("Target")
      ->type_name("COMMAND");
  app.add_option("--as", invocation.as,
                 "Run a model with several --levels as if this machine had no more than one of them")
      ->group("Target")
      ->type_name("T");
}

void addRun(CLI::App &app, Invocation &invocation) {
  addRunsModel(app, invocation);
  addData(app, invocation, "Folder with input_K.pb, K-th input of the model; may be repeated, each with its --out");
  repeated(app.add_option("--out", invocation.out, "Folder for output_K.pb; nothing is left there when it fails"))
      ->required()
      ->group("Data")
      ->type_name("DIR");
}

void addVerify(CLI::App &app, Invocation &invocation) {
  addRunsModel(app, invocation);
  addData(app, invocation,
          "Folder with input_K.pb and output_K.pb; may be repeated; default: test_data_set_* beside the model");
  app.add_option("--tolerance", invocation.tolerance,
                 "Floats may differ by T * max(1, max|b|) + 10 * T * |b|; default: 1e-4 (16-bit types: at least 1e-2)")
      ->check(CLI::NonNegativeNumber)
      ->check(finite())
      ->group("Data")
      ->type_name("T");
  app.add_option("--digest", invocation.digest,
                 "The SHA-256 that all outputs together have to have, in place of recorded ones; print: print it")
      ->check(isDigest())
      ->group("Data")
      ->type_name("HEX|print");
  app.add_flag("--per-node", invocation.perNode,
               "Name the first node that diverges, of a model that ingot-record wrote; implies --accuracy strict")
      ->group("Data");
}

void addBench(CLI::App &app, Invocation &invocation) {
  addRunsModel(app, invocation);
  addData(app, invocation, "Folder with input_K.pb; default: random inputs");
  addSeconds(app, invocation);
  app.add_flag("--profile", invocation.profile,
               "Time of each kernel with its ONNX nodes; a compiled model needs `ingot compile --profile`")
      ->group("Data");
}

void addReport(CLI::App &app, Invocation &invocation) {
  addModelFlags(app, invocation, "ONNX model");
  app.add_option("-o,--output", invocation.reportPath, "The file, one page that needs nothing else")
      ->required()
      ->group("Output")
      ->type_name("FILE.html");
  app.add_flag("--bench", invocation.profile, "Measure the time of every kernel, too")->group("Data");
  addData(app, invocation, "Folder with input_K.pb to measure with; default: random inputs");
  addSeconds(app, invocation);
  addThreads(app, invocation);
}

void addTune(CLI::App &app, Invocation &invocation) {
  addModelFlags(app, invocation, "ONNX model");
  app.remove_option(app.get_option("--tuning"));
  invocation.seconds = 60;
  app.add_option("-o,--output", invocation.tuningOutput,
                 "The file of schedules for --tuning; what it says of other kernels and machines stays")
      ->group("Output")
      ->type_name("FILE");
  app.add_flag("--list", invocation.listsSchedules, "Print which schedules the kernels can have, and measure nothing")
      ->group("Output");
  app.add_option("--time-limit", invocation.seconds, "Seconds that may be taken; default: 60")
      ->check(CLI::PositiveNumber)
      ->check(finite())
      ->group("Data")
      ->type_name("S");
  addData(app, invocation, "Folder with input_K.pb; default: random inputs");
  addThreads(app, invocation);
}

/// Adds the flags that say what is measured, and where the report goes.
void addQuantizeMeasures(CLI::App &app, Invocation &invocation) {
  const char *data = "Data", *output = "Output";
  addData(app, invocation,
          "Folder with input_K.pb, or with a .npy, .npz, .png, .jpg, .bmp, .ppm, .pgm or .wav for each run; may be "
          "repeated; default: test_data_set_* beside the model");
  Preprocessing &how = invocation.preprocessing;
  app.add_option("--scale", how.scale, "Factor for the values of pictures (0 to 255) and sounds (-1 to 1); default: 1")
      ->check(finite())
      ->check(CLI::Validator(
          [](const std::string &text) {
            return std::strtod(text.c_str(), nullptr) == 0 ? std::string("0 makes all values alike") : "";
          },
          ""))
      ->group(data)
      ->type_name("F");
  app.add_option("--mean", how.mean, "Subtracted from them behind that: one number, or one for each channel")
      ->delimiter(',')
      ->check(finite())
      ->group(data)
      ->type_name("F,...");
  app.add_option("--deviation", how.deviation, "What they are divided by at last: one number, or one for each channel")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->check(finite())
      ->group(data)
      ->type_name("F,...");
  app.add_flag("--bench", invocation.profile, "Measure the time of every layer before and after, too")->group(data);
  addSeconds(app, invocation);
  addThreads(app, invocation);
  app.add_option("-o,--output", invocation.quantization.output, "The quantized model")
      ->required()
      ->group(output)
      ->type_name("FILE.onnx");
  app.add_option("--report", invocation.reportPath, "Write the report, as JSON or as a page")
      ->group(output)
      ->type_name("FILE.json|.html");
}

void addDiff(CLI::App &app, Invocation &invocation) {
  invocation.manifests.resize(2);
  app.add_option("OLD", invocation.manifests[0], "Manifest NAME.json of the model as it was")->required();
  app.add_option("NEW", invocation.manifests[1], "Manifest of the model as it is")->required();
  auto setGrowth = [&invocation](const std::string &text) {
    std::string number = text.substr(0, text.size() - (!text.empty() && text.back() == '%' ? 1 : 0));
    char *end = nullptr;
    double percent = std::strtod(number.c_str(), &end);
    if (number.empty() || *end || !std::isfinite(percent) || percent < 0) {
      throw CLI::ValidationError("--fail-on-growth", "'" + text + "' is no percentage, such as 5%");
    }
    invocation.mostGrowth = percent;
  };
  app.add_option_function<std::string>("--fail-on-growth", setGrowth,
                                       "Exit with 1 where flash or RAM grows by more than this")
      ->type_name("N%");
  app.add_flag("--json", invocation.json, "Print one JSON object instead of text");
}

/// Checks the numbers of a version: all that the formats agree on.
std::string wrongVersion(const std::string &text) {
  llvm::SmallVector<llvm::StringRef> numbers;
  llvm::StringRef(text).split(numbers, '.');
  auto isNumber = [](llvm::StringRef part) {
    return !part.empty() && part.size() < 6 && llvm::all_of(part, llvm::isDigit) && (part == "0" || part[0] != '0');
  };
  return numbers.size() == 3 && llvm::all_of(numbers, isNumber) ? "" : "'" + text + "' is no version such as 1.0.0";
}

void addPackage(CLI::App &app, Invocation &invocation) {
  addModelFlags(app, invocation, "");
  app.remove_option(app.get_option("model"));
  app.add_option("model", invocation.models, "ONNX models")->required()->type_name("FILE");
  beginGroup(app, "Output");
  std::vector<std::string> words;
  std::string meanings;
  for (const PackageFormat &format : packageFormats()) {
    words.push_back(format.word.str());
    meanings += (meanings.empty() ? "" : ", ") + format.word.str() + " (" + format.help.str() + ")";
  }
  app.add_option("--for", invocation.packageFormat, "Whose package it is: " + meanings)
      ->required()
      ->check(CLI::IsMember(words))
      ->type_name("FORMAT");
  app.add_option("-o,--output", invocation.model.outDir, "Folder of the package; made if it does not exist")
      ->required()
      ->type_name("DIR");
  app.add_option("--package-name", invocation.packageName, "What the package is called; default: as its folder")
      ->type_name("NAME");
  invocation.packageVersion = "1.0.0";
  app.add_option("--package-version", invocation.packageVersion, "Its version; default: 1.0.0")
      ->check(CLI::Validator(wrongVersion, ""))
      ->type_name("A.B.C");
}

/// Adds the budgets of --scheme mixed.
void addQuantizeBudgets(CLI::App &app, quantizer::Options &options) {
  auto setBytes = [&options](const std::string &text) {
    std::optional<int64_t> bytes = parseAmount(text, 1024);
    if (!bytes || *bytes == 0) {
      throw CLI::ValidationError("--size", "'" + text + "' is no number of bytes, such as 65536, 64K or 1M");
    }
    options.mostBytes = *bytes;
  };
  app.add_option_function<std::string>("--size", setBytes, "Of mixed: bytes that the file may have, such as 3M")
      ->type_name("BYTES");
  auto setSeconds = [&options](const std::string &text) {
    char *end = nullptr;
    double number = std::strtod(text.c_str(), &end);
    llvm::StringRef unit(end);
    double seconds = unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : unit == "s" ? 1 : 0;
    if (end == text.c_str() || !std::isfinite(number) || number <= 0 || seconds == 0) {
      throw CLI::ValidationError("--latency", "'" + text + "' is no time, such as 150us or 2.5ms");
    }
    options.mostSeconds = number * seconds;
  };
  app.add_option_function<std::string>("--latency", setSeconds,
                                       "Of mixed: time that a run may take here, such as 150us or 2.5ms")
      ->type_name("TIME");
}

constexpr support::Word<bool> kActivations[] = {{false, "uint8", "any range"}, {true, "int8", "symmetric"}};

void addQuantize(CLI::App &app, Invocation &invocation) {
  addModelFlags(app, invocation, "ONNX model");
  addQuantizeMeasures(app, invocation);
  quantizer::Options &options = invocation.quantization;
  beginGroup(app, "Quantization");
  addWord(app, "--scheme", options.scheme, "How numbers are made smaller")->type_name("SCHEME");
  addWord(app, "--method", options.method, "How ranges are found; auto: for each value as its layers lose least")
      ->type_name("METHOD");
  addWord(app, "--effort", options.effort, "How much is tried where flags leave a choice")->type_name("EFFORT");
  app.add_option("--percentile", options.percentile, "Of --method percentile: values in the range; default: 99.99")
      ->check(CLI::Range(50.0, 100.0))
      ->check(finite())
      ->type_name("P");
  addWord<bool>(app, "--activations", options.signedActivations, "Bytes of activations", "", kActivations)
      ->type_name("TYPE");
  app.add_flag("--per-tensor", options.weights.perTensor, "One scale for a weight, not one for each output channel");
  app.add_flag("--short-sums", options.weights.shortSums,
               "Weights so small that sums of products fit 16 bits: a third faster with AVX2, but a bit less exact");
  repeated(app.add_option("--keep", options.keep, "A layer that stays in float, by its node's name; may be repeated"))
      ->type_name("NAME");
  app.add_option("--max-drop", options.maxDrop,
                 "Of int8: keep the most sensitive layers in float until 1 - cosine of each output is at most this; of "
                 "mixed: a budget of that")
      ->check(CLI::Range(0.0, 1.0))
      ->check(finite())
      ->type_name("X");
  addQuantizeBudgets(app, options);
  app.add_option(
         "--smooth", options.smooth,
         "Of int8 and int8-dynamic: move outliers of activations into the weights, everywhere with this exponent "
         "(SmoothQuant; 0: nowhere); default: where layers gain by it")
      ->check(CLI::Range(0.0, 1.0))
      ->check(finite())
      ->type_name("A");
  app.add_option("--block", options.block, "Of int8-weights, int4 and int2: values that share a scale; default: 32")
      ->check(CLI::Range(16, 4096))
      ->type_name("N");
  app.add_flag("--gptq", options.gptq,
               "Of these: round by what layers read on data (GPTQ), even where samples that are held out lose by it");
  app.add_flag("--keep-io", options.keepIo, "Of fp16 and bf16: inputs and outputs stay float32");
}

} // namespace

ParsedCommandLine parseCommandLine(int argc, const char *const *argv) {
  CLI::App app("ingot compiles ONNX models ahead of time into libraries that any program can link.", "ingot");
  app.require_subcommand(1);
  app.set_version_flag("--version", "ingot " INGOT_VERSION);
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());

  struct Subcommand {
    Command command;
    const char *name, *sentence;
    void (*add)(CLI::App &, Invocation &);
  };
  const Subcommand subcommands[] = {
      {Command::Compile, "compile", "Compile a model into a library, a C header and a manifest", addCompile},
      {Command::Inspect, "inspect",
       "Show a model: inputs, outputs, operators, what each target can take, and each kernel's algorithm", addInspect},
      {Command::Run, "run", "Compile a model and run it on recorded inputs", addRun},
      {Command::Verify, "verify", "Compile a model, run it and compare with recorded outputs", addVerify},
      {Command::Bench, "bench", "Measure the latency of a model", addBench},
      {Command::Report, "report", "Write a page that shows what became of a model: graph, kernels, memory, sizes",
       addReport},
      {Command::Quantize, "quantize", "Write a model with smaller types: integers, or floats of 16 bits", addQuantize},
      {Command::Tune, "tune", "Measure which schedules of a model's kernels are the fastest here, for compile --tuning",
       addTune},
      {Command::Diff, "diff", "Say what grew and shrank between two manifests of compiled models", addDiff},
      {Command::Package, "package", "Write models as a package of another tool, such as npm", addPackage},
      {Command::Targets, "targets", "List the known targets, and what this host is",
       [](CLI::App &sub, Invocation &invocation) {
         addLoadTarget(sub, invocation);
         sub.add_flag("--json", invocation.json, "Print one JSON object instead of text");
       }},
  };
  std::vector<Invocation> invocations(std::size(subcommands));
  for (size_t i = 0; i < std::size(subcommands); ++i) {
    CLI::App *sub = app.add_subcommand(subcommands[i].name, subcommands[i].sentence);
    sub->footer(kFooter);
    invocations[i].command = subcommands[i].command;
    subcommands[i].add(*sub, invocations[i]);
  }

  ParsedCommandLine parsed;
  try {
    app.parse(argc, argv);
    for (size_t i = 0; i < std::size(subcommands); ++i) {
      if (!app.got_subcommand(subcommands[i].name)) {
        continue;
      }
      Invocation &invocation = invocations[i];
      invocation.compileFlags = givenCompileFlags(*app.get_subcommand(subcommands[i].name));
      bool chosen = std::find(invocation.compileFlags.begin(), invocation.compileFlags.end(), "--accuracy") !=
                    invocation.compileFlags.end();
      if (invocation.perNode && !chosen) {
        invocation.model.accuracy = pipeline::Accuracy::Strict;
      }
      CLI::App &sub = *app.get_subcommand(subcommands[i].name);
      applyGoal(sub, invocation.goal);
      std::string wrong = checkFlags(invocation, [&](const char *flag) { return sub.get_option(flag)->count() > 0; });
      if (!wrong.empty()) {
        throw CLI::ValidationError(wrong);
      }
      parsed.invocation = std::move(invocation);
    }
  } catch (const CLI::CallForVersion &version) {
    parsed.text = std::string(version.what()) + "\n";
  } catch (const CLI::Success &) { // --help
    parsed.text = app.help();
  } catch (const CLI::Error &error) {
    parsed.exitCode = 1;
    bool unknown = argc > 1 && argv[1][0] != '-' && app.get_subcommands().empty();
    std::string text = unknown ? "unknown subcommand '" + std::string(argv[1]) + "'" : error.what();
    parsed.text = "ingot: error: " + text + (app.get_subcommands().empty() ? "; see `ingot --help`\n" : "\n");
  }
  return parsed;
}

} // namespace ingot::driver
