// Runs `ingot report`, which is one compilation; with --bench the object that it writes is loaded and measured, kernel
// by kernel.
#include "compiler/driver/ModelSource.h"
#include "compiler/driver/TemporaryFolder.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/commands/Outputs.h"
#include "compiler/driver/execution/Profile.h"
#include "compiler/report/Page.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {
namespace {

llvm::Error measure(const Invocation &invocation, const LoadedModel &model, report::PageFacts &facts) {
  RunThreads threads(invocation.threads);
  std::unique_ptr<Execution> execution = model.execution(threads);
  if (invocation.data.empty()) {
    if (llvm::Error error = execution->setRandomInputs({})) {
      return error;
    }
  } else {
    llvm::Expected<DataSet> data = readDataSet(invocation.data.front(), model.manifest().kinds());
    if (!data) {
      return data.takeError();
    }
    if (llvm::Error error = execution->setInputs(data->inputs, data->folder)) {
      return error;
    }
  }
  llvm::Expected<KernelRunTimes> samples = execution->profile(invocation.seconds);
  if (!samples) {
    return samples.takeError();
  }
  llvm::Expected<std::vector<KernelTime>> times = kernelTimes(model, *execution, *samples);
  if (!times) {
    return times.takeError();
  }
  for (const KernelTime &time : *times) {
    facts.kernels.push_back({time.launch, time.seconds, time.calls});
  }
  facts.medianSeconds = medianOf(samples->seconds);
  return llvm::Error::success();
}

/// Returns what is told of the variant that was measured, with its launches as the profile counts them.
const pipeline::Result &measured(const pipeline::Result &result, report::PageFacts &facts) {
  const pipeline::Result *ran = &result;
  for (const pipeline::Result &variant : result.variants) {
    int64_t first = facts.kernels.empty() ? -1 : facts.kernels.front().launch - variant.firstLaunch;
    if (first >= 0 && first < int64_t(variant.launches.size())) {
      ran = &variant;
    }
  }
  for (report::LaunchTime &time : facts.kernels) {
    time.launch -= ran->firstLaunch;
  }
  return *ran;
}

} // namespace

llvm::Error reportCommand(const Invocation &invocation) {
  llvm::Expected<std::vector<std::string>> read = filesRead(invocation);
  if (!read) {
    return read.takeError();
  }
  if (llvm::Error error = checkOutputs(Output{"-o", invocation.reportPath}, *read)) {
    return error;
  }
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) {
    return folder.takeError();
  }
  pipeline::Options options = invocation.model;
  options.account = true;
  options.profile = invocation.profile;
  options.outDir = folder->path();
  options.emit = {invocation.profile ? emit::Kind::Shared : emit::Kind::Obj};

  if (invocation.profile) {
    if (llvm::Error error = checkTargets(options.targets)) {
      return error;
    }
  }
  llvm::Expected<pipeline::Result> result = compileModel(invocation, options);
  if (!result) {
    return result.takeError();
  }
  report::PageFacts facts;
  for (const emit::Artifact &artifact : result->artifacts) {
    if (!isManifest(artifact.path)) {
      continue;
    }
    llvm::Expected<Manifest> manifest = readManifest(artifact.path);
    if (!manifest) {
      return manifest.takeError();
    }
    facts.model = manifest->name;
    facts.target = manifest->target;
    if (invocation.profile) {
      llvm::Expected<std::unique_ptr<LoadedModel>> model = LoadedModel::load(artifact.path);
      if (!model) {
        return model.takeError();
      }
      if (llvm::Error error = measure(invocation, **model, facts)) {
        return error;
      }
    }
  }
  const pipeline::Result &ran = measured(*result, facts);
  facts.variant = ran.variant;
  result->launches = ran.launches, result->buffers = ran.buffers, result->arenaBytes = ran.arenaBytes;
  std::string page = report::pageText(*result, facts);
  if (llvm::Error error = writeText(invocation.reportPath, page)) {
    return error;
  }
  llvm::outs() << invocation.reportPath << "  " << bytesText(int64_t(page.size())) << '\n';
  return llvm::Error::success();
}

} // namespace ingot::driver
