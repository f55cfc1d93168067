// Gets compiled models for `run`, `verify` and `bench`: they are compiled here into a temporary folder (more than once
// only where an input has no rank but that of its data), or were compiled before and are given by their manifest.
#pragma once
#include "compiler/driver/Driver.h"
#include "compiler/driver/execution/LoadedModel.h"
#include "compiler/driver/execution/Runner.h"

namespace ingot::driver {

class ModelSource {
public:
  explicit ModelSource(const Invocation &invocation) : invocation(invocation) {}

  /// Returns the model for this data's shapes; null: for the shapes that the flags give. It is valid as long as this
  /// object.
  llvm::Expected<const LoadedModel *> get(const DataSet *data);

  /// Returns which of the model's inputs and outputs are sequences, to read its data with.
  llvm::Expected<ValueKinds> kinds();

  /// What the model gave for the data set of a folder; `model` is valid as long as this object.
  struct FolderRun {
    const LoadedModel *model;
    std::vector<HostTensor> outputs;
  };
  /// Runs the model on the data set of a folder, whose recorded outputs are not read. `kinds` is what kinds() gives.
  llvm::Expected<FolderRun> run(const std::string &folder, const ValueKinds &kinds, const RunThreads &threads);

  /// Returns what --as says, for ingot_exec; 0 without it.
  llvm::Expected<int32_t> level() const;

  double compileSeconds = 0; ///< seconds of all compilations together

private:
  llvm::Expected<std::unique_ptr<LoadedModel>> compile(pipeline::Options options);
  llvm::Expected<std::unique_ptr<LoadedModel>> compileInto(const std::string &folder, pipeline::Options options);

  using Shapes = std::pair<std::map<std::string, std::vector<int64_t>>, std::map<std::string, int64_t>>;
  llvm::Error readFacts();
  const Invocation &invocation;
  std::optional<ModelFacts> facts;
  std::unique_ptr<Runner> runner;                        ///< null: models run in this process
  std::map<Shapes, std::unique_ptr<LoadedModel>> models; ///< models by shapes and lengths of sequences
};

} // namespace ingot::driver
