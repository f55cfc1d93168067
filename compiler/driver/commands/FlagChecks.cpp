// Checks what no single flag can check: first what concerns all subcommands, then what a single one reads of its own
// flags.
#include "compiler/driver/commands/FlagChecks.h"
#include "compiler/driver/execution/Board.h"
#include "compiler/driver/packaging/Package.h"
#include "compiler/emit/Emit.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

namespace ingot::driver {
namespace {

using IsGiven = std::function<bool(const char *flag)>;

/// Checks the flags of a report that only its measurement reads.
std::string checkReport(const Invocation &invocation, const IsGiven &isGiven) {
  for (const char *flag : {"--data", "--seconds", "--threads"}) {
    if (!invocation.profile && isGiven(flag)) {
      return std::string(flag) + " is for measuring: use it with --bench";
    }
  }
  return "";
}

/// Checks the flags of a quantization that its scheme does not read.
std::string checkQuantize(const Invocation &invocation, const IsGiven &isGiven) {
  using quantizer::Scheme;
  const std::vector<Scheme> ranges = {Scheme::Int8, Scheme::Mixed},
                            bytes = {Scheme::Int8, Scheme::Int8Dynamic, Scheme::Mixed}, mixed = {Scheme::Mixed},
                            tried = {Scheme::Int8, Scheme::Int8Dynamic, Scheme::Int4, Scheme::Int2, Scheme::Mixed},
                            rounded = {Scheme::Int8Weights, Scheme::Int4, Scheme::Int2},
                            blocks = {Scheme::Int8Weights, Scheme::Int4, Scheme::Int2, Scheme::Mixed},
                            narrow = {Scheme::Float16, Scheme::BFloat16};
  const std::pair<const char *, const std::vector<Scheme> &> schemes[] = {
      {"--method", ranges}, {"--percentile", ranges}, {"--activations", ranges}, {"--max-drop", ranges},
      {"--smooth", bytes},  {"--per-tensor", bytes},  {"--short-sums", bytes},   {"--effort", tried},
      {"--block", blocks},  {"--gptq", rounded},      {"--keep-io", narrow},     {"--size", mixed},
      {"--latency", mixed},
  };
  const quantizer::Options &options = invocation.quantization;
  for (const auto &[flag, of] : schemes) {
    if (isGiven(flag) && !llvm::is_contained(of, options.scheme)) {
      return std::string(flag) + " has no effect on --scheme " + support::wordOf(options.scheme) + ": it is for " +
             llvm::join(llvm::map_range(of, [](Scheme scheme) { return support::wordOf(scheme); }), ", ");
    }
  }
  if (options.scheme == Scheme::Mixed && options.maxDrop < 0 && options.mostBytes < 0 && options.mostSeconds < 0) {
    return "--scheme mixed is for a budget: give --max-drop, --size or --latency";
  }
  if (isGiven("--percentile") && options.method != quantizer::Method::Percentile) {
    return "--percentile is for --method percentile";
  }
  if (isGiven("--seconds") && !invocation.profile) {
    return "--seconds is for measuring: use it with --bench";
  }
  if (!invocation.model.levels.empty() || !invocation.model.stopAfter.empty() || !invocation.model.caches.empty()) {
    return "quantize runs the model here: --levels, --stop-after and --cache are for compile";
  }
  return "";
}

/// Checks the flags of an inspection. How operators are taken (--coverage) is asked of the tables, and nothing
/// compiled.
std::string checkInspect(const Invocation &invocation) {
  std::vector<std::string> others = invocation.compileFlags;
  if (invocation.memory) {
    others.push_back("--memory");
  }
  if (invocation.largestKernels > 0) {
    others.push_back("--top");
  }
  if (invocation.largestBuffers > 0) {
    others.push_back("--top-buffers");
  }
  if (invocation.coverage && invocation.largestConstants > 0) {
    return "--top-constants has no effect with --coverage, which prints operators alone";
  }
  return invocation.coverage && !others.empty()
             ? others.front() + " has no effect with --coverage, which compiles nothing"
             : "";
}

/// Checks what a compilation counts, or puts into objects.
std::string checkCompile(const Invocation &invocation) {
  const Budget &budget = invocation.budget;
  if (invocation.model.symbols == emit::Symbols::None && !emit::needsMachineCode(invocation.model.emit)) {
    std::string kind = support::wordOf(invocation.model.emit.front());
    return "--symbols none is about objects, which --emit " + kind + " does not write";
  }
  const char *kind = budget.flash ? "flash" : budget.stack ? "stack" : budget.cycles ? "cycles" : nullptr;
  return kind && !emit::needsMachineCode(invocation.model.emit)
             ? std::string("--budget ") + kind +
                   " counts machine code, which another compiler makes of what --emit writes here"
             : "";
}

/// Checks what cannot be measured of schedules.
std::string checkTune(const Invocation &invocation) {
  const pipeline::Options &model = invocation.model;
  if (!model.levels.empty() || model.targets.size() > 1) {
    return "tune measures kernels for one machine: give one --target, and no --levels";
  }
  if (invocation.tuningOutput.empty() != invocation.listsSchedules) {
    return invocation.listsSchedules ? "--list measures nothing that could be written: leave -o out"
                                     : "tune writes a file of schedules: give -o FILE, or --list";
  }
  return model.stopAfter.empty() ? "" : "--stop-after leaves nothing to measure; use it with compile";
}

/// Checks the flags of a package, which says itself for which machines and in which files its models are.
std::string checkPackage(const Invocation &invocation) {
  const pipeline::Options &model = invocation.model;
  const PackageFormat &format = *packageFormat(invocation.packageFormat);
  llvm::SetVector<llvm::StringRef> targets;
  for (const PackageMachine &machine : format.machines) {
    targets.insert(machine.target);
  }
  for (const std::string &target : model.targets) {
    if (!format.choosesTargets || !targets.contains(target)) {
      return "--target " + target + " and --for " + format.word.str() + " do not go together: the package is for " +
             llvm::join(targets, ", ");
    }
  }
  if (!model.levels.empty() || !model.triple.empty() || !model.stopAfter.empty()) {
    return "--levels, --triple and --stop-after are for compile: a package has its own machines and files";
  }
  if (!model.memories.empty()) {
    return "--memories is for compile: a package has one workspace for each model, wherever its board has memory";
  }
  if (model.weights == plan::WeightsPlace::Stream) {
    return "--weights stream is for compile: a package has the weights of its models where programs find them";
  }
  if (!model.name.empty() && invocation.models.size() > 1) {
    return "--name is for one model; several are called after their files";
  }
  auto manifest = llvm::find_if(invocation.models, isManifest);
  return manifest == invocation.models.end()
             ? ""
             : "'" + *manifest + "' is the manifest of a compiled model; an ONNX model is expected";
}

/// Checks --stop-after, which prints the IR, so that nothing else is written.
std::string checkStop(const Invocation &invocation) {
  const pipeline::Options &options = invocation.model;
  std::string flag = invocation.json                         ? "--json"
                     : options.depfile                       ? "--depfile"
                     : invocation.budget.isGiven()           ? "--budget"
                     : invocation.memory                     ? "--memory"
                     : invocation.largestKernels > 0         ? "--top"
                     : invocation.largestBuffers > 0         ? "--top-buffers"
                     : invocation.largestConstants > 0       ? "--top-constants"
                     : invocation.command == Command::Report ? "the report"
                                                             : "";
  return options.stopAfter.empty() || flag.empty() ? "" : "--stop-after prints the IR alone, without " + flag;
}

/// Checks the flags that say where nodes run.
std::string checkPlaces(const pipeline::Options &options) {
  std::string flag = !options.demands.empty() ? "--require" : options.placementFile.empty() ? "" : "--placement";
  if (!flag.empty() && !options.levels.empty()) {
    return flag + " and --levels cannot be combined: with --levels, each of them is the only target of its variant";
  }
  if (!flag.empty() && !options.fallback) {
    return flag + " and --no-fallback cannot be combined: without fallback, all nodes run on the first target";
  }
  if (options.hostFallback && !options.levels.empty()) {
    return "--with-host-fallback and --levels cannot be combined: levels have no devices that a run may be without";
  }
  if (options.hostFallback && !options.bindings.empty()) {
    return "--with-host-fallback and --bind cannot be combined: without the device the host cannot reach the tensor";
  }
  return "";
}

/// Returns what is wrong with an algorithm where sums have to be the model's.
template <typename Choice> std::string refuseStrict(const char *flag, Choice choice, pipeline::Accuracy accuracy) {
  bool isUsed = choice != Choice::Faster && choice != Choice::Off;
  return isUsed ? std::string(flag) + " " + support::wordOf(choice) + " and --accuracy " + support::wordOf(accuracy) +
                      " cannot be combined: its sums are not the model's"
                : "";
}

/// Checks algorithms that are asked for and round otherwise than the model.
std::string checkStrict(const pipeline::Options &options) {
  for (const std::string &wrong : {refuseStrict("--winograd", options.winograd, options.accuracy),
                                   refuseStrict("--strassen", options.strassen, options.accuracy),
                                   refuseStrict("--split-floats", options.splitFloats, options.accuracy)}) {
    if (options.isStrict() && !wrong.empty()) {
      return wrong;
    }
  }
  if (options.isReproducible() && !options.tuningFile.empty()) {
    return "--tuning and --accuracy reproducible cannot be combined: schedules that are measured may order sums";
  }
  return "";
}

/// Returns what is wrong with flags that a board cannot follow: it runs code for one target, in one thread, and its
/// emulator does not measure time. Empty: nothing is wrong.
std::string checkBoard(const Invocation &invocation) {
  if (!boardOf(invocation.runner)) {
    return "";
  }
  if (invocation.command == Command::Bench) {
    return "--runner board runs models on boards that tell no time: verify prints what they take";
  }
  if (invocation.threads != 1) {
    return "--threads and --runner board cannot be combined: a board's program has one thread";
  }
  return invocation.model.levels.empty() ? "" : "--levels and --runner board cannot be combined: give one --target";
}

/// Returns why flags do not go together, of what no single one can check.
std::string checkTogether(const Invocation &invocation) {
  bool manifest = isManifest(invocation.model.modelPath);
  bool runs = invocation.command == Command::Run || invocation.command == Command::Verify ||
              invocation.command == Command::Bench;
  if (manifest && !runs && invocation.command != Command::Targets) {
    return "'" + invocation.model.modelPath + "' is the manifest of a compiled model; an ONNX model is expected";
  }
  auto cannotObey = [&](const std::string &flag) {
    return !givesRunSizes(invocation) || (flag != "--dim" && flag != "--shape");
  };
  auto flag = std::find_if(invocation.compileFlags.begin(), invocation.compileFlags.end(), cannotObey);
  if (manifest && flag != invocation.compileFlags.end()) {
    return *flag + " has no effect on a model that is compiled already ('" + invocation.model.modelPath + "')";
  }
  bool comparesData = invocation.command == Command::Run || invocation.command == Command::Verify;
  if (!invocation.model.lastRows.empty() && invocation.command == Command::Verify) {
    return "--last-row leaves other outputs than recorded data have: verify a model without it";
  }
  if (!invocation.model.caches.empty() && (comparesData || !invocation.data.empty())) {
    return "--cache gives the caches other shapes than recorded data have: run and verify a model without it, and use "
           "the flag with compile";
  }
  for (const auto &[name, choice] : invocation.model.choices) {
    if (!invocation.model.caches.empty() && !choice.sizes.empty()) {
      return "--cache cannot be combined with several sizes (--dim " + name + "=A,B)";
    }
  }
  if (!invocation.model.targets.empty() && !invocation.model.levels.empty()) {
    return "--target and --levels cannot be combined: with --levels, each of them is the only target of its variant";
  }
  if (!invocation.model.tuningFile.empty() && !invocation.model.levels.empty()) {
    return "--tuning and --levels cannot be combined: schedules are measured for one machine";
  }
  if (std::string wrong = checkBoard(invocation); !wrong.empty()) {
    return wrong;
  }
  if (std::string wrong = checkPlaces(invocation.model); !wrong.empty()) {
    return wrong;
  }
  if (std::string wrong = checkStrict(invocation.model); !wrong.empty()) {
    return wrong;
  }
  if (invocation.model.caches.empty() && invocation.model.cacheRoom >= 0) {
    return "--cache-room says how large caches are: use it with --cache";
  }
  bool saysHow = invocation.model.leastStreamed || invocation.model.streamBuffer;
  if (saysHow && invocation.model.weights != plan::WeightsPlace::Stream) {
    return "--stream-least and --stream-buffer say how weights are streamed: use them with --weights stream";
  }
  if (runs && !invocation.model.stopAfter.empty()) {
    return "--stop-after leaves nothing to run; use it with compile";
  }
  if (std::string wrong = checkStop(invocation); !wrong.empty()) {
    return wrong;
  }
  if (!invocation.digest.empty() && invocation.perNode) {
    return "--digest reads no recorded outputs: use it without --per-node";
  }
  if (invocation.command == Command::Run && invocation.data.empty()) {
    return "run needs --data, a folder with input_K.pb for each --out; bench runs a model on random inputs";
  }
  if (invocation.command == Command::Run && invocation.data.size() != invocation.out.size()) {
    return "each --data needs its --out: " + std::to_string(invocation.data.size()) + " and " +
           std::to_string(invocation.out.size()) + " are given";
  }
  const std::pair<Command, const char *> measures[] = {
      {Command::Bench, "bench"}, {Command::Report, "report"}, {Command::Tune, "tune"}};
  for (auto [command, name] : measures) {
    if (invocation.command == command && invocation.data.size() > 1) {
      return std::string(name) + " takes one --data";
    }
  }
  return "";
}

} // namespace

bool isManifest(const std::string &path) { return path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0; }

bool givesRunSizes(const Invocation &invocation) {
  return invocation.command == Command::Bench && invocation.data.empty() && isManifest(invocation.model.modelPath);
}

std::string checkFlags(const Invocation &invocation, const IsGiven &isGiven) {
  std::string wrong = checkTogether(invocation);
  if (!wrong.empty()) {
    return wrong;
  }
  switch (invocation.command) {
  case Command::Compile:
    return checkCompile(invocation);
  case Command::Report:
    return checkReport(invocation, isGiven);
  case Command::Quantize:
    return checkQuantize(invocation, isGiven);
  case Command::Tune:
    return checkTune(invocation);
  case Command::Inspect:
    return checkInspect(invocation);
  case Command::Package:
    return checkPackage(invocation);
  default:
    return "";
  }
}

} // namespace ingot::driver
