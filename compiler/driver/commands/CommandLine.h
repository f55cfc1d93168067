// Describes the command line as data. Subcommands get an Invocation and know nothing of flags.
#pragma once
#include "compiler/driver/Crash.h"
#include "compiler/driver/commands/Budget.h"
#include "compiler/driver/execution/Preprocessing.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/quantizer/Options.h"
#include <optional>

namespace ingot::driver {

enum class Command { Compile, Inspect, Run, Verify, Bench, Report, Quantize, Tune, Diff, Package, Targets };

struct Invocation {
  Command command = Command::Targets;
  pipeline::Options model;               ///< what every subcommand that takes a model is told
  std::vector<std::string> compileFlags; ///< those given that only a compilation can obey, for example "--target"

  std::vector<std::string> arguments; ///< the command line behind the program's name

  std::string compileCache;                     ///< compile: folder of earlier compilations; empty: none
  int64_t compileCacheBytes = int64_t(2) << 30; ///< bytes that the folder may take

  Budget budget; ///< compile: what the model may take

  std::string shownPath; ///< what messages call the model, where it is a file that the user does not know; or empty

  std::string goal; ///< a name of a set of flags, which have set the others; empty: none

  bool json = false, timing = false;
  bool memory = false;                ///< inspect: the memory plan
  bool coverage = false;              ///< inspect: how each operator is taken, and nothing else
  int64_t largestKernels = 0;         ///< inspect: how many of the kernels with the most work to print
  int64_t largestBuffers = 0;         ///< inspect: how many of the buffers with the most bytes to print
  int64_t largestConstants = 0;       ///< inspect: how many of the constants with the most bytes to print
  int threads = 1;                    ///< for run, verify and bench; 0: all that the process may use
  std::string runner;                 ///< run, verify, bench: the command that starts a program on another machine
  std::string as;                     ///< run, verify, bench: the level that a model with several shall not exceed
  std::vector<std::string> data, out; ///< folders
  double tolerance = 1e-4;            ///< verify
  std::string digest;                 ///< verify: the digest that outputs have to have, or "print"; empty: none
  bool perNode = false;               ///< verify: outputs are all values of a model, in the order of its nodes
  double seconds = 2;                 ///< bench, tune: how long to measure
  bool profile = false;               ///< bench: time of each kernel; report: measure it
  std::string reportPath;             ///< report: the file
  std::string tuningOutput;           ///< tune: the file
  bool listsSchedules = false;        ///< tune: what there is to measure, in place of measuring it
  std::vector<std::string> manifests; ///< diff: the old one and the new one
  std::optional<double> mostGrowth;   ///< diff: percent that flash and ram may grow
  std::vector<std::string> models;    ///< package: the models, each of which is model.modelPath once
  std::string packageFormat;          ///< package: the word of a PackageFormat
  std::string packageName;            ///< package: what it is called; empty: as its folder
  std::string packageVersion;         ///< package: its version
  quantizer::Options quantization;    ///< quantize
  Preprocessing preprocessing;        ///< quantize: of pictures and sounds
  Reproduction reproduction;          ///< how a failure is seen again
};

/// Whether --dim and --shape do not fix sizes but say with which to run: `bench` without data, of a compiled model.
bool givesRunSizes(const Invocation &invocation);

/// The meaning of a command line: an invocation, or a text to print and an exit code (help, version, wrong flags).
struct ParsedCommandLine {
  std::optional<Invocation> invocation;
  int exitCode = 0;
  std::string text;
};
ParsedCommandLine parseCommandLine(int argc, const char *const *argv);

/// Whether `path` names the manifest of a compiled model rather than a model.
bool isManifest(const std::string &path);

} // namespace ingot::driver
