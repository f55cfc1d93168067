// What the phases hand to one another.
#pragma once
#include "compiler/importer/Import.h"
#include "compiler/partition/FormKernels.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ingot::pipeline {

/// A copy of the model for some sizes, one machine, or both, on its way beside the general one: a body of its own
/// behind the same entry.
struct Body {
  std::string suffix; ///< "_seq64_x86_64_v3"
  std::map<std::string, int64_t> sizes;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  plan::ModelInfo info;
  std::vector<partition::Device> devices;
  unsigned level = 0; ///< a number in ModelInfo::levels
  Result result = {}; ///< what phases tell of it
};

struct State {
  const Options &options;
  Result &result;
  mlir::MLIRContext &context;
  std::string name; ///< of the model, a C identifier
  std::vector<partition::Device> devices;

  std::unique_ptr<importer::ModelFile> file; ///< constants of the module point into it
  mlir::OwningOpRef<mlir::ModuleOp> module;
  plan::WeightTable weights;
  plan::ModelInfo info;
  std::string importProblems;
  std::map<std::string, Choice> choices = {}; ///< the user's, and what small models get without being asked
  std::vector<Body> bodies = {};              ///< for --dim seq=64,128
  bool generalBody = true; ///< the model itself runs all other sizes; false: it only tells names and types
  bool userFault = false;  ///< a phase says that what it failed at is not our bug

  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  const target::MachineModel &machineOf(llvm::StringRef spec) const;
};

/// A step of the way of a model. `userFault` says whose fault a failure is when nothing else tells.
struct Phase {
  const char *name, *sentence;
  mlir::LogicalResult (*run)(State &state);
  bool userFault;
};
llvm::ArrayRef<Phase> phaseTable();

/// Copies the imported model for each combination of sizes that the user wants a body for. Failure with a message.
mlir::LogicalResult makeBodies(State &state);

/// Copies the model and its bodies for each of several machines. Everything before partitioning is the same for all.
void makeLevels(State &state);

/// The symbol of an imported model's batch, the first axis of its first input; empty where that is a number.
std::string batchOf(mlir::func::FuncOp function);
/// Whether a simplified model is so small that a body for a batch of 1 pays (SmallModel.cpp).
bool deservesBodyForOne(mlir::func::FuncOp function, const std::string &batch);

/// Runs a phase on the model and its bodies, after which it is known whether it gets one for a batch of 1, too.
mlir::LogicalResult simplifyBodies(State &state, mlir::LogicalResult (*simplify)(State &state));

/// Notes in the description of the model for which sizes there are bodies. Failure with a message.
mlir::LogicalResult tellBodies(State &state);

/// Runs a phase on the model, where it is one of the bodies or the phase is about its `description`, and on all bodies.
mlir::LogicalResult onEachBody(State &state, mlir::LogicalResult (*phase)(State &state), bool description);

/// Gives each body its entry (by `build`, with its suffix), makes one module of all, and writes the entry of the model.
void joinBodies(State &state, void (*build)(State &state, llvm::StringRef suffix));

/// Names, types and sizes of the function's arguments and results, from its type and attributes.
void describe(mlir::func::FuncOp function, plan::ModelInfo &info);

/// A check of sizes for people: "a = b", "seq <= 512".
std::string requirementText(llvm::StringRef check);

/// The nodes of the function as imported.
std::vector<GraphNode> describeNodes(mlir::func::FuncOp function);

/// The function's kernel calls; with `number`, each gets its number, from `first` on, as the attribute
/// plan.launch.
std::vector<GraphNode> describeLaunches(mlir::func::FuncOp function, bool number, int64_t first = 0);

/// Multiplications with accumulation that one run of the model takes, by the definitions of its operators.
support::Size countMacs(mlir::func::FuncOp function);

} // namespace ingot::pipeline
