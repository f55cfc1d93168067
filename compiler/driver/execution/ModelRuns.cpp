#include "compiler/driver/execution/ModelRuns.h"
#include "compiler/driver/Driver.h"
#include "compiler/driver/execution/Execution.h"
#include "compiler/driver/execution/Profile.h"

namespace ingot::driver {

static Invocation invocationOf(const Invocation &invocation, const std::string &modelPath, const std::string &shown) {
  Invocation own = invocation;
  own.model.modelPath = modelPath;
  own.shownPath = shown;
  return own;
}

ModelRuns::ModelRuns(const Invocation &given, const std::string &modelPath, const std::string &shown)
    : invocation(invocationOf(given, modelPath, shown)), source(invocation), threads(given.threads) {}

llvm::Error ModelRuns::check() {
  pipeline::Options options = invocation.model;
  options.importsOnly = true;
  return compileModel(invocation, options).takeError();
}

llvm::Expected<std::vector<HostTensor>> ModelRuns::outputs(const DataSet &data) {
  llvm::Expected<const LoadedModel *> model = source.get(&data);
  return model ? runOnce(**model, threads, data) : model.takeError();
}

llvm::Expected<ModelRuns::Times> ModelRuns::times(const DataSet &data, double seconds) {
  llvm::Expected<const LoadedModel *> model = source.get(&data);
  if (!model) {
    return model.takeError();
  }
  std::unique_ptr<Execution> execution = (*model)->execution(threads);
  if (llvm::Error error = execution->setInputs(data.inputs, data.folder)) {
    return error;
  }
  llvm::Expected<RunTimes> samples = execution->measure(seconds);
  if (!samples) {
    return samples.takeError();
  }
  Times times{medianOf(samples->seconds), {}};
  llvm::Expected<KernelRunTimes> profiled = execution->profile(seconds);
  if (!profiled) {
    return profiled.takeError();
  }
  llvm::Expected<std::vector<KernelTime>> kernels = kernelTimes(**model, *execution, *profiled);
  if (!kernels) {
    return kernels.takeError();
  }
  for (const KernelTime &kernel : *kernels) {
    for (const std::string &node : (*model)->manifest().launches[size_t(kernel.launch)].nodes) {
      times.nodes[node] += kernel.seconds;
    }
  }
  return times;
}

} // namespace ingot::driver
