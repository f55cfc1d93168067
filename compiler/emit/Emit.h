// The last phase: loop IR becomes files that a program links.
//
//   NAME.o, NAME.a, NAME.so: code, descriptor and weights; undefined symbols are only ingot_* (the .so holds them too),
//     or none at all (--symbols none)
//   NAME.h: C prototypes, sizes, and a C++ class
//   NAME.json: the manifest
//   NAME.weights: the weights, where they are not to be in the object
//   NAME.cpp, NAME.weights.S: C++ source (compiler/emit/cpp)
//   NAME.s, NAME.ll, NAME.d: assembly, LLVM IR, dependencies for make
//
// Loop IR here: public @NAME_run(inputs..., outputs..., symbols as index..., workspace..., exec) -> i32, private
// kernels, all memrefs static and one-dimensional; when there are symbols, @NAME_plan(symbols, dims of the outputs,
// bytes of the workspace and of each device's) -> i32 of three memrefs of i64, which reads the first and writes the
// others. What a run has of its caller are operations of plan/Run.td. Weights in the object are the declaration
// `memref.global "private" @NAME_weights : memref<Nxi8>`. The same input gives the same bytes: no path, no time, no
// order of a hash table reaches a file.
#pragma once
#include "compiler/emit/BuildInfo.h"
#include "compiler/emit/Kinds.h"
#include "compiler/plan/Model.h"
#include "compiler/target/MachineModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <string>
#include <vector>

namespace ingot::emit {

/// Takes a piece of the weights section's bytes. The source calls it with all pieces in order, which may have any size
/// and are the same in each stream.
using WeightsSink = std::function<void(llvm::ArrayRef<char>)>;
using WeightsSource = std::function<void(const WeightsSink &sink)>;

struct Options {
  std::string dir; ///< where files go; made if absent
  std::vector<Kind> kinds = {Kind::Lib};
  unsigned jobs = 0; ///< threads that make code; 0: one for each processor
  bool depfile = false;
  int64_t arithmeticVersion = 0; ///< BuildInfo::arithmeticVersion
  int64_t flashWaitStates = 0;   ///< of the estimate of cycles
  Optimize optimize = Optimize::Balanced;
  Symbols symbols = Symbols::Libraries;
  int64_t patches = 0;                                ///< BuildInfo::patches
  std::vector<std::string> dependencies;              ///< what the depfile names: the model, its external data
  std::vector<const target::MachineModel *> devices;  ///< the machines of ModelInfo::devices, in their order
  std::vector<const target::MachineModel *> machines; ///< all machines that functions may be for
  WeightsSource streamed = {}; ///< the bytes that a run reads piece by piece (ModelInfo::streamedBytes)
  /// A function that says why the files are not to be written, once everything is known of them; no text: they are. It
  /// may be absent.
  std::function<std::string(const plan::ModelInfo &model, const BuildSizes &sizes)> refuses = {};
};

struct Result {
  std::vector<Artifact> artifacts;
  BuildSizes sizes;
  bool writing = false; ///< whether files are being written, or refused, so that a failure is no bug
};

/// Whether the kinds need code of the machine itself.
bool needsMachineCode(llvm::ArrayRef<Kind> kinds);

/// Returns the machine as kernels for these kinds may use it: without the instructions that C++ source has no name for.
target::MachineModel machineFor(llvm::ArrayRef<Kind> kinds, target::MachineModel machine);

/// Writes the files of a model and consumes `module`. Sets the hash of weights that are not in the object. Errors are
/// diagnostics at the module; files of the model that could not be written whole are not there afterwards.
mlir::LogicalResult emitModel(mlir::ModuleOp module, const target::MachineModel &machine, plan::ModelInfo &model,
                              const WeightsSource &weights, const Options &options, Result &result);

} // namespace ingot::emit
