#include "compiler/driver/ModelSource.h"
#include "compiler/driver/TemporaryFolder.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

namespace ingot::driver {

llvm::Expected<std::unique_ptr<LoadedModel>> ModelSource::compileInto(const std::string &folder,
                                                                      pipeline::Options options) {
  options.outDir = folder;
  options.emit = {runner && runner->board() ? emit::Kind::Obj : emit::Kind::Shared};
  options.profile = invocation.profile;
  options.depfile = false;
  llvm::Expected<pipeline::Result> result = compileModel(invocation, options);
  if (!result) {
    return result.takeError();
  }
  compileSeconds += result->seconds;
  for (const emit::Artifact &artifact : result->artifacts) {
    if (isManifest(artifact.path)) {
      return LoadedModel::load(artifact.path, runner.get());
    }
  }
  return llvm::make_error<ExitError>(2, "internal error: the compiler wrote no manifest");
}

llvm::Expected<std::unique_ptr<LoadedModel>> ModelSource::compile(pipeline::Options options) {
  if (runner && runner->board()) {
    llvm::Expected<std::string> target = boardTarget(*runner->board(), options.targets);
    if (!target) {
      return target.takeError();
    }
    options.targets = {*target};
  }
  if (runner) { // each run reads the library anew
    return compileInto(runner->path("model" + std::to_string(models.size())), std::move(options));
  }
  if (llvm::Error error = checkTargets(options.targets)) {
    return error;
  }
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) {
    return folder.takeError();
  }
  return compileInto(folder->path(), std::move(options)); // a loaded library needs its file no more
}

llvm::Error ModelSource::readFacts() {
  if (!facts) {
    llvm::Expected<ModelFacts> read = readModelFacts(invocation.model.modelPath);
    if (!read) {
      return llvm::make_error<ExitError>(1, withShownPath(invocation, llvm::toString(read.takeError())));
    }
    facts = std::move(*read);
  }
  return llvm::Error::success();
}

llvm::Expected<ValueKinds> ModelSource::kinds() {
  if (isManifest(invocation.model.modelPath)) {
    llvm::Expected<Manifest> manifest = readManifest(invocation.model.modelPath);
    return manifest ? llvm::Expected<ValueKinds>(manifest->kinds()) : manifest.takeError();
  }
  if (llvm::Error error = readFacts()) {
    return error;
  }
  return kindsOf(*facts);
}

llvm::Expected<const LoadedModel *> ModelSource::get(const DataSet *data) {
  if (!invocation.runner.empty() && !runner) {
    llvm::Expected<std::unique_ptr<Runner>> created = Runner::create(invocation.runner);
    if (!created) {
      return created.takeError();
    }
    runner = std::move(*created);
  }
  pipeline::Options options = invocation.model;
  bool compiled = isManifest(options.modelPath);
  if (!compiled && data) {
    if (llvm::Error error = readFacts()) {
      return error;
    }
    if (llvm::Error error = fixShapes(*facts, *data, options)) {
      return error;
    }
  }
  std::unique_ptr<LoadedModel> &model = models[{options.shapes, options.sequences}];
  if (!model) {
    llvm::Expected<std::unique_ptr<LoadedModel>> loaded =
        compiled ? LoadedModel::load(options.modelPath, runner.get()) : compile(std::move(options));
    if (!loaded) {
      return loaded.takeError();
    }
    model = std::move(*loaded);
  }
  if (!invocation.as.empty() && model->model().level_count == 0) {
    return llvm::createStringError("--as " + invocation.as + ": model '" + model->manifest().name +
                                   "' is compiled for " + model->model().target + " alone, without --levels");
  }
  return model.get();
}

llvm::Expected<ModelSource::FolderRun> ModelSource::run(const std::string &folder, const ValueKinds &kinds,
                                                        const RunThreads &threads) {
  llvm::Expected<DataSet> data = readDataSet(folder, kinds);
  if (!data) {
    return data.takeError();
  }
  llvm::Expected<const LoadedModel *> model = get(&*data);
  if (!model) {
    return model.takeError();
  }
  llvm::Expected<std::vector<HostTensor>> outputs = runOnce(**model, threads, *data);
  if (!outputs) {
    return outputs.takeError();
  }
  return FolderRun{*model, std::move(*outputs)};
}

llvm::Expected<int32_t> ModelSource::level() const {
  if (invocation.as.empty()) { // a host that INGOT_HOST cuts down has a lower level than its processor reports
    return invocation.runner.empty() ? target::hostLevel() : 0;
  }
  llvm::Expected<target::MachineModel> machine = target::resolveMachine(invocation.as);
  if (!machine) {
    return llvm::createStringError("--as " + invocation.as + ": " + llvm::toString(machine.takeError()));
  }
  if (std::string lacking = invocation.runner.empty() ? hostLacks(invocation.as) : ""; !lacking.empty()) {
    return llvm::createStringError("--as " + invocation.as + ": this host cannot run it, it lacks " + lacking);
  }
  if (machine->level == 0) {
    return llvm::createStringError("--as " + invocation.as + ": is no level that a program can ask its machine for");
  }
  return machine->level;
}

} // namespace ingot::driver
