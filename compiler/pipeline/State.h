// Has what the phases hand to one another.
#pragma once
#include "compiler/importer/Import.h"
#include "compiler/partition/MergeTransfers.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ingot::memory {
struct MemoryPlan;
} // namespace ingot::memory

namespace ingot::pipeline {

/// The model on its way through the phases: for all sizes, for some, for one machine of several, or both of these. All
/// variants stand behind the same entry.
struct Variant {
  std::string suffix = "";                   ///< "_seq64_x86_64_v3"
  std::map<std::string, int64_t> sizes = {}; ///< sizes of symbols; empty: it is for all sizes
  mlir::OwningOpRef<mlir::ModuleOp> module = nullptr;
  plan::ModelInfo info = {};
  std::vector<partition::Device> devices = {};
  unsigned level = 0;  ///< a number in ModelInfo::levels
  bool runs = true;    ///< false: other variants take all runs, and this one only tells the model's names and types
  bool onHost = false; ///< it takes runs without the model's devices (--with-host-fallback)
  Result result = {};  ///< what phases tell of this variant, where that is not told of the model

  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  const target::MachineModel &machineOf(llvm::StringRef spec) const;
};

/// The patches in which the first layers run (graph/RowPatches.h).
struct Patches {
  int64_t number = 1;
  size_t choice = 0;    ///< the number of the value that is made in parts
  bool areMade = false; ///< whether there was such a value
};

struct State {
  const Options &options;
  Result &result;
  mlir::MLIRContext &context;
  std::string name; ///< the name of the model, a C identifier
  std::vector<partition::Device> devices;
  partition::Policy policy = {};
  Patches patches = {};

  std::unique_ptr<importer::ModelFile> file = nullptr; ///< constants of the modules point into it
  plan::WeightTable weights = {};
  std::optional<target::ScheduleTable> schedules = {};
  /// Problems of the model, found while it is imported and resolved.
  support::Problems problems = support::Problems("");
  std::string warnings = ""; ///< warnings of the import, which nobody has been told yet
  /// The user's choices, and those that small models get without being asked, by symbol.
  std::map<std::string, SpecializedSizes> choices = {};
  std::map<std::string, RequestedBounds> bounds = {}; ///< the user's bounds, by symbol
  std::vector<Variant> variants = {}; ///< the general variant, whose sizes are as imported, and then the others
  bool userFault = false;             ///< whether a phase says that its failure is not our bug

  /// Returns the general variant, whose info is that of the library.
  Variant &model() { return variants.front(); }
};

/// What a phase does with one variant, and reports in `report`.
using VariantPhase = mlir::LogicalResult (*)(State &state, Variant &variant, Result &report);

/// A part of what a phase does with one variant. ingot-opt runs each by itself: its name is that of a pass.
struct Step {
  const char *name, *sentence;
  VariantPhase run;
};

/// A step of the way of a model. `userFault` says whose fault a failure is when nothing else report.
struct Phase {
  const char *name, *sentence;
  mlir::LogicalResult (*run)(State &state);
  bool userFault;
  llvm::ArrayRef<Step> steps; ///< steps in their order; empty: the phase is about the model as a whole
};
llvm::ArrayRef<Phase> phaseTable();

/// Marks an imported model where its bits have to be the same on all machines.
void markReproducible(const Options &options, mlir::ModuleOp module);
/// Returns whether cycles of a run are estimated for the machine.
bool countsCycles(const State &state);
/// Refuses wait states where none are counted. Failure with a message.
mlir::LogicalResult checkWaitStates(State &state);
/// Refuses --symbols none where objects are of no microcontroller.
mlir::LogicalResult checkSymbols(State &state);
/// Sets what kernels may do with sums and products, as attributes of the module.
void setPolicies(const Options &options, mlir::ModuleOp module);

/// Writes other sizes in place of symbols, in the whole of an imported function.
void replaceSymbols(mlir::func::FuncOp function, llvm::function_ref<support::Size(support::Symbol)> symbol);

/// Makes axes of one name that may differ, which are symbols of their own (importer::ImportOptions::independentDims),
/// one symbol again where the model's operators need them to be equal.
void joinEqualAxes(State &state);

/// Copies the imported model for each combination of sizes that the user wants a variant for. Failure with a message.
mlir::LogicalResult makeVariants(State &state);

/// Copies the model and its variants for each of several machines. Everything before partitioning is the same for all,
/// and so are the forms of operators (chooseForms).
void makeLevels(State &state);

/// Returns a copy of each variant that runs, which takes its runs where the model's devices are missing.
std::vector<Variant> hostVariants(State &state);

/// Returns the policy for a variant: of such ones what the user says of targets that they do not have is left out.
partition::Policy policyOf(const State &state, const Variant &variant);

/// Returns the symbol of an imported model's batch, the first axis of its first input; empty where that is a number.
std::string batchOf(mlir::func::FuncOp function);
/// Whether a simplified model is so small that a variant for a batch of 1 pays (SmallModel.cpp).
bool deservesVariantForOne(mlir::func::FuncOp function, const std::string &batch);

/// Simplifies all variants, after which it is known whether the model gets one for a batch of 1, too.
mlir::LogicalResult simplifyVariants(State &state, VariantPhase simplify);

/// Notes in the description of a variant for which sizes there are others. Failure with a message.
mlir::LogicalResult describeVariants(State &state, Variant &variant);

/// Runs a phase on all variants that run, and on the general one where the phase is about the model's `description`.
mlir::LogicalResult onEachVariant(State &state, VariantPhase phase, bool description);

/// Gives products, convolutions and recurrences the forms that pay on their device (integer/MachineForms.h): when they
/// are placed, or before there are variants for several levels, which have the same.
mlir::LogicalResult chooseForms(State &state, Variant &variant, Result &report);

/// Gives each variant its entry (by `build`), makes one module of all, which is then the only variant's, and writes the
/// entry of the model.
void joinVariants(State &state, void (*build)(State &state, Variant &variant, Result &report));

/// Puts the ops of each block behind all that they need.
void sortBlocks(mlir::func::FuncOp function);

/// Returns the bytes behind the arena that are nobody's: vectors may be read past a tensor's end within its last block.
inline int64_t slackOf(const plan::ModelInfo &info) { return info.workspaceAlign; }

/// Returns the workspace of a planned model whose sizes are numbers.
inline int64_t workspaceFor(const plan::ModelInfo &info) {
  return info.arenaBytes ? info.arenaBytes + slackOf(info) : 0;
}

/// Divides the constants into those that runs read piece by piece (--weights stream) and those that have an address.
/// Failure with a message.
mlir::LogicalResult streamWeights(State &state);
/// Describes what a planned variant reads so, in its `info` and in the report.
void describeReads(State &state, Variant &variant, Result &report);

/// Describes a variant's memory plan, in its `info` and in the report.
void describeMemory(const memory::MemoryPlan &plan, Variant &variant, Result &report);

/// Describes names, types and sizes of the function's arguments and results, from its type and attributes.
void describe(mlir::func::FuncOp function, plan::ModelInfo &info);

/// Returns the nodes of the function as imported.
std::vector<GraphNode> describeNodes(mlir::func::FuncOp function);

/// Returns the function's kernel calls, on tensors; with `number`, each gets its number as the attribute plan.launch.
std::vector<GraphNode> describeLaunches(mlir::func::FuncOp function, bool number);

/// Returns the values that cross between memories, of the function on tensors; `merged` copies take several.
std::vector<Transfer> describeTransfers(mlir::func::FuncOp function, llvm::ArrayRef<partition::MergedTransfer> merged);

/// Returns the multiplications with accumulation that one run of the model takes, by the definitions of its operators.
support::Size countMacs(mlir::func::FuncOp function);

} // namespace ingot::pipeline
