// Has the way of a model, as a table of phases. Flags (--stop-after, --dump-after, --timing), documentation and tests
// come from the table.
#pragma once
#include "compiler/emit/BuildInfo.h"
#include "compiler/emit/Kinds.h"
#include "compiler/layout/Chains.h"
#include "compiler/lower/Policies.h"
#include "compiler/plan/WeightsPlace.h"
#include "compiler/support/Size.h"
#include "compiler/target/Schedules.h"
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ingot::pipeline {

struct Result;

/// The bounds of a symbolic dimension: --dim batch=1..8.
struct RequestedBounds {
  int64_t least = 0;
  std::optional<int64_t> most; ///< nothing: there is no bound
};

/// The sizes of a symbolic dimension for which there are variants of their own: --dim seq=64,128,512.
struct SpecializedSizes {
  std::vector<int64_t> sizes;
  bool others = false; ///< a general variant runs all other sizes; false: they are refused
};

/// The freedom of arithmetic.
enum class Accuracy { Reproducible, Strict, Default, Close, Fast };
inline constexpr support::Word<Accuracy> accuracyWords[] = {
    {Accuracy::Reproducible, "reproducible", "as strict, with the same bits on every machine"},
    {Accuracy::Strict, "strict", "as the nodes say it"},
    {Accuracy::Default, "default", "rounded as float32, in another order"},
    {Accuracy::Close, "close", "factors of float32 may be rounded to 16 bits where the machine gains by it"},
    {Accuracy::Fast, "fast", "to 8 bits, bfloat16, where the machine gains by it"}};
inline llvm::ArrayRef<support::Word<Accuracy>> wordsOf(Accuracy) { return accuracyWords; }

/// A read of fewer bytes would take longer to begin than the bytes take.
constexpr int64_t usualLeastStreamed = 512;

/// The options of every subcommand that takes a model.
struct Options {
  std::string modelPath;
  std::string name;                 ///< a C identifier; empty: it is made of the file's name
  std::vector<std::string> targets; ///< in the user's order of preference; empty: native
  std::vector<std::string> levels;  ///< machines for which there is a variant each; instead of targets
  std::vector<std::string> plugIns; ///< shared objects of targets, which the caller has loaded
  std::string triple;               ///< a triple of LLVM for another system than the target's own; empty: that one
  bool fallback = true;             ///< false (--no-fallback): every node must run on the first target
  bool byCost = true;               ///< false (--partition=greedy): targets keep whatever they take
  bool hostFallback = false;        ///< --with-host-fallback: runs without the devices take variants for the host alone
  /// --require DEVICE=Conv,MatMul: operators that must run on a target
  std::vector<std::pair<std::string, std::string>> demands;
  std::string placementFile;                          ///< a file with targets for nodes by name
  std::map<std::string, int64_t> dims;                ///< --dim batch=1
  std::map<std::string, std::vector<int64_t>> shapes; ///< --shape x=1x3x224x224, by input name
  std::map<std::string, int64_t> sequences;           ///< --sequence x=3: tensors of an input that is a sequence
  std::map<std::string, RequestedBounds> bounds;      ///< bounds of symbols that stay open, as all do that nobody fixes
  std::map<std::string, SpecializedSizes> choices;    ///< choices for such symbols
  std::vector<std::string> independentDims;           ///< --independent-dims=N, "*" for all names
  /// --cache past.*=present.*: inputs and the outputs that continue them in the same memory (graph/ShareCaches.h)
  std::vector<std::pair<std::string, std::string>> caches;
  /// --bind x=DEVICE: inputs and outputs that the caller has in the memory of a device
  std::vector<std::pair<std::string, std::string>> bindings;
  int64_t cacheRoom = -1; ///< rows for which caches have room; -1: each run says it
  /// --patches 4: parts of rows in which the first layers run one after the other; 0: one, or as many as it takes for
  /// `mostRam`
  int64_t patches = 0;
  std::optional<int64_t> mostRam; ///< --budget ram=64K: bytes that a run may take
  /// --memories dtcm=64K,sram=256K: memories that share the workspace, with their names, sizes and speeds; empty: one
  std::vector<plan::MemoryInfo> memories;
  std::vector<std::string> lastRows; ///< --last-row logits: outputs of which callers read the last row alone
  Accuracy accuracy = Accuracy::Default;
  bool isReproducible() const { return accuracy == Accuracy::Reproducible; }
  bool isStrict() const { return accuracy == Accuracy::Strict || isReproducible(); }
  lower::Winograd winograd = lower::Winograd::Faster;
  lower::Use strassen = lower::Use::Faster, splitFloats = lower::Use::Faster;
  layout::Chains chains = layout::Chains::Faster;
  std::string tuningFile; ///< a file with schedules for kernels; empty: none
  /// The schedules in place of that file, and whether those of the kernels are told (Result::choices), for `ingot
  /// tune`.
  std::optional<target::ScheduleTable> schedules = {};
  bool listsSchedules = false;
  bool verbose = false; ///< whether remarks say what became of a choice
  /// --remarks=NODE: remarks say how the kernels of these nodes are computed, "*" for all nodes.
  std::vector<std::string> remarks;
  bool allocate = true; ///< false (--no-allocate): models whose sizes nothing bounds are refused

  plan::WeightsPlace weights = plan::WeightsPlace::Embed;
  /// --stream-least: bytes of the smallest constants that --weights stream lets a run read; nothing: usualLeastStreamed
  std::optional<int64_t> leastStreamed;
  /// --stream-buffer: bytes of the workspace that streamed weights may take at one time; nothing: what two kernels take
  std::optional<int64_t> streamBuffer;
  emit::Optimize optimize = emit::Optimize::Balanced;
  emit::Symbols symbols = emit::Symbols::Libraries;

  int64_t flashWaitStates = 0; ///< cycles that a read of a microcontroller's flash waits, for the estimate of a run

  std::string outDir; ///< where artifacts go; empty: nothing is written
  /// Whether code is made where nothing is written, for the sizes and cycles of a model for a microcontroller.
  bool measures = false;
  std::vector<emit::Kind> emit = {emit::Kind::Lib};
  bool depfile = false;
  int jobs = 0;         ///< threads that make code; 0: one for each processor
  int64_t runs = 0;     ///< how often the model runs; code for few short ones is made quickly. 0: nobody knows
  bool profile = false; ///< the entry calls ingot_exec.profile around every kernel
  bool account = false; ///< whether Result::imported is wanted

  bool importsOnly = false;           ///< whether the file is a model, and nothing else, is wanted
  std::string stopAfter;              ///< the name of a phase; the module is then printed to stdout
  std::vector<std::string> dumpAfter; ///< names of phases; modules are printed to stderr
  std::function<void(int done, int total, const std::string &phase)> progress; ///< may be empty
  /// A function that is told the files of external data that the model reads, by the names that it gives them; may be
  /// empty.
  std::function<void(const std::map<std::string, std::string> &)> reads;
  /// A function that says why files are not to be written, when everything is known of them; may be empty.
  std::function<std::string(const Result &result, const plan::ModelInfo &model, const emit::BuildSizes &sizes)> refuses;
};

struct PhaseTime {
  std::string name;
  double seconds = 0;
};
struct NodePlacement {
  std::string node, op, kernel, target; ///< `target` is empty when nobody takes the node
  std::string whyNot;                   ///< what targets earlier in the user's order said, or why they gave it back
  double seconds = -1;                  ///< estimated seconds; -1: all targets have one memory, and nothing was weighed
  int piece = -1; ///< the number of the target's piece, counted over all targets; -1: it works in the host's memory
};

/// A value that is copied between the memories of two targets.
struct Transfer {
  std::string value;                ///< "input 'x'", "result of 'conv1' (Conv)"
  std::string from, to;             ///< targets; empty: the host's memory
  std::vector<std::string> readers; ///< "'relu' (Relu)", "output 'y'"
  int64_t bytes = -1;               ///< -1: the text says it
  std::string bytesText;            ///< the expression, where sizes are open
  int copy = 0;                     ///< the number of the copy: several small values may go in one
  double saved = 0;                 ///< seconds, estimated, that this copy saves by taking several values
};

/// An op of the model as imported, or a kernel call; values in between have no name.
struct GraphNode {
  std::string name, op, type; ///< `type` is that of the first result, "float32[1, 3]"
  std::vector<int> from;      ///< nodes whose results it reads, by index; -1 - k: input k of the model
  plan::LaunchInfo launch;    ///< the launch of a kernel
  int step = -1;              ///< the place of a kernel in the order that the memory plan counts
  std::string key = "";       ///< the name of a kernel that has several schedules in a table of them
};

struct BufferLife {
  std::string name;
  int64_t offset = 0, bytes = 0;
  int first = 0, last = 0; ///< the first and the last step
  std::string target = ""; ///< the target in whose memory it is; empty: the host's
  std::string memory = ""; ///< which of the host's memories, where there are several; the offset is in that
};

/// The figures of one compilation, as `compile --json`, `inspect` and the manifest print them.
struct Result {
  std::vector<PhaseTime> phases;
  std::vector<emit::Artifact> artifacts;
  double seconds = 0;
  int64_t arenaBytes = 0, arenaLowerBound = 0, weightBytes = 0, codeBytes = 0, kernels = 0;
  int64_t flashBytes = -1, ramBytes = -1, stackBytes = -1; ///< of BuildSizes
  int64_t leastRam = -1, leastPatches = 1;          ///< the least of a search for patches that found none for `mostRam`
  int64_t cycles = -1;                              ///< of a run, by estimate
  std::vector<emit::FunctionCycles> functionCycles; ///< those of each function; those with most first
  int64_t macs = 0;
  std::string macsText; ///< the expression, where they depend on the open sizes; arenaBytes and macs are -1 then
  std::vector<NodePlacement> placement;
  std::vector<Transfer> transfers;        ///< in the order of the run
  std::vector<plan::DeviceInfo> devices;  ///< targets with memories of their own
  std::vector<plan::MemoryInfo> memories; ///< those of the host, where there are several
  /// Weights that a run reads piece by piece: their bytes, and how many of the workspace they take at one time.
  int64_t streamedBytes = 0, streamBytes = 0;
  std::vector<plan::ReadInfo> reads; ///< in the order of the entry
  std::vector<plan::SymbolInfo> openSizes;
  std::vector<plan::RequirementInfo> requirements;
  std::vector<plan::AllocationInfo> allocations;
  std::vector<GraphNode> launches;          ///< kernel calls, in the order in which they stand in the entry
  std::vector<GraphNode> imported;          ///< the model's own nodes; with Options::account
  std::vector<std::string> inputs, outputs; ///< names of inputs and outputs
  std::vector<BufferLife> buffers;          ///< the buffers of the arena; where sizes are open, for one size of each
  std::vector<plan::LevelInfo> levels;      ///< highest first; empty: the model is for one machine
  std::string memoryPlan;                   ///< `inspect --memory`, text
  std::string variant;                 ///< what a variant of the model is for: "seq = 64"; empty: for all other sizes
  int64_t firstLaunch = 0;             ///< the number of the first of `launches` in a profile
  std::vector<std::string> launchKeys; ///< GraphNode::key of all launches of all variants, by their numbers
  /// The schedules that each kernel can have, by its key; with Options::listsSchedules.
  std::map<std::string, target::ScheduleChoices> choices;
  std::vector<Result> variants; ///< launches, buffers and arena of the other variants behind the model's entry
};

enum class Status { Ok = 0, UserError = 1, Bug = 2 };

/// Compiles one model. Diagnostics go to `diagnostics` (one message a line, "FILE: error: node 'x' (Op): text").
Status compile(const Options &options, Result &result, std::string &diagnostics);

struct PhaseInfo {
  std::string name, sentence;
};
/// Returns the phases in their order.
const std::vector<PhaseInfo> &phases();

} // namespace ingot::pipeline
