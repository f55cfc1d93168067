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
  bool userFault = false; ///< a phase says that what it failed at is not our bug

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

/// Names, types and sizes of the function's arguments and results, from its type and attributes.
void describe(mlir::func::FuncOp function, plan::ModelInfo &info);

/// A check of sizes for people: "a = b", "seq <= 512".
std::string requirementText(llvm::StringRef check);

/// The nodes of the function as imported.
std::vector<GraphNode> describeNodes(mlir::func::FuncOp function);

/// The function's kernel calls; with `number`, each gets its number as the attribute plan.launch.
std::vector<GraphNode> describeLaunches(mlir::func::FuncOp function, bool number);

/// Multiplications with accumulation that one run of the model takes, by the definitions of its operators.
support::Size countMacs(mlir::func::FuncOp function);

} // namespace ingot::pipeline
