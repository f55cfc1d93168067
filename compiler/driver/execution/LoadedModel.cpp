#include "compiler/driver/execution/LoadedModel.h"
#include "compiler/driver/Crash.h"
#include "compiler/driver/execution/BoardModel.h"
#include "compiler/driver/execution/LocalExecution.h"
#include "compiler/driver/execution/Runner.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <dlfcn.h>

namespace ingot::driver {

std::string hostLacks(const std::string &spec) {
  const target::Target *target = target::findTarget(spec);
  if (!target) {
    return "";
  }
  llvm::Expected<target::MachineModel> machine = target->machine(spec);
  if (!machine) { // the compilation for it says so
    llvm::consumeError(machine.takeError());
    return "";
  }
  return target->hostLacks(*machine);
}

llvm::Error checkTargets(llvm::ArrayRef<std::string> specs) {
  for (const std::string &spec : specs) {
    if (std::string lacking = hostLacks(spec); !lacking.empty()) {
      return llvm::createStringError("--target " + spec + ": this host cannot run it, it lacks " + lacking +
                                     "; compile makes code for other machines, and --runner runs it on one");
    }
  }
  return llvm::Error::success();
}

/// Returns what this host lacks to load a model. Of several levels a run takes one that the machine has, or says that
/// it has none, but none of another architecture can be loaded.
static std::string hostLacks(const Manifest &facts) {
  bool foreign = !facts.triple.empty() && // nobody says for which processor C++ source was built
                 llvm::Triple(facts.triple).getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch();
  llvm::SmallVector<llvm::StringRef> machines;
  llvm::StringRef(facts.target).split(machines, ',');
  machines.resize(!facts.levels.empty() ? (foreign ? 1 : 0) : machines.size());
  for (llvm::StringRef machine : machines) {
    if (std::string lacking = hostLacks(machine.str()); !lacking.empty()) {
      return lacking;
    }
  }
  return "";
}

LoadedModel::LoadedModel() = default;

llvm::Error LoadedModel::open(llvm::StringRef path) {
  library = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return llvm::createStringError(path + ": error: cannot be loaded: " + dlerror());
  }
  std::string symbol = facts.name + "_model";
  auto *function = reinterpret_cast<const ingot_model *(*)()>(dlsym(library, symbol.c_str()));
  entry = function ? function() : nullptr;
  if (!entry) {
    return llvm::createStringError(path + ": error: has no function " + symbol);
  }
  if (entry->abi != INGOT_ABI) {
    return llvm::createStringError(path + ": error: was compiled by another version of ingot (ABI " +
                                   llvm::Twine(entry->abi) + ", this one has " + llvm::Twine(INGOT_ABI) + ")");
  }
  std::string weightsPath = (path.drop_back(3) + ".weights").str();
  if (int status = ingot_weights_load(entry, weightsPath.c_str(), &mapped)) {
    return llvm::createStringError(weightsPath + ": error: " + ingot_error_kind_text(status));
  }
  forRuns = ingot_weights_for(entry, &mapped, &reader);
  ownDevices = std::make_unique<Devices>(*entry);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<LoadedModel>> LoadedModel::load(const std::string &manifestPath, const Runner *runner) {
  llvm::Expected<Manifest> manifest = readManifest(manifestPath);
  if (!manifest) {
    return manifest.takeError();
  }
  std::unique_ptr<LoadedModel> loaded(new LoadedModel());
  loaded->facts = std::move(*manifest);
  if (std::string lacking = runner ? "" : hostLacks(loaded->facts); !lacking.empty()) {
    return llvm::createStringError(manifestPath + ": error: model '" + loaded->facts.name + "' is compiled for " +
                                   loaded->facts.target + ", which this host cannot run: it lacks " + lacking +
                                   "; --runner runs it on another");
  }
  if (runner && !loaded->facts.devices.empty()) {
    auto specs = llvm::map_range(loaded->facts.devices, [](const plan::DeviceInfo &device) { return device.spec; });
    return llvm::createStringError(manifestPath + ": error: model '" + loaded->facts.name + "' runs on devices ('" +
                                   llvm::join(specs, "', '") + "'), which --runner does not reach");
  }
  llvm::SmallString<128> path(manifestPath);
  llvm::sys::path::remove_filename(path);
  bool onBoard = runner && runner->board();
  llvm::sys::path::append(path, loaded->facts.name + (onBoard ? ".o" : ".so"));
  llvm::sys::fs::make_absolute(path); // a name without a slash would be searched for in the system's folders
  if (!llvm::sys::fs::exists(path)) {
    return llvm::createStringError(path + ": error: not found beside the manifest; compile with --emit " +
                                   (onBoard ? "obj" : "shared"));
  }
  if (!runner) {
    if (llvm::Error error = loaded->open(path)) {
      return error;
    }
    return loaded;
  }
  if (onBoard) {
    llvm::Expected<std::unique_ptr<BoardModel>> there = BoardModel::load(*runner, loaded->facts, std::string(path));
    if (!there) {
      return there.takeError();
    }
    loaded->elsewhere = std::move(*there);
  } else {
    llvm::Expected<std::unique_ptr<RemoteModel>> remote = RemoteModel::load(*runner, loaded->facts, std::string(path));
    if (!remote) {
      return remote.takeError();
    }
    loaded->elsewhere = std::move(*remote);
  }
  loaded->entry = &loaded->elsewhere->model();
  return loaded;
}

LoadedModel::~LoadedModel() {
  ownDevices.reset(); // which have the model's code and weights
  ingot_weights_unmap(&mapped);
  if (library) {
    dlclose(library);
  }
}

std::unique_ptr<Execution> LoadedModel::execution(const RunThreads &threads) const {
  if (elsewhere) {
    return elsewhere->execution(threads.requested(), threads.level());
  }
  return std::make_unique<LocalExecution>(*this, threads.exec());
}

std::optional<BoardRun> LoadedModel::lastBoardRun() const { return elsewhere ? elsewhere->lastRun() : std::nullopt; }

RunThreads::RunThreads(int count, int32_t level, bool here)
    : pool(here && count != 1 ? ingot_pool_create(count) : nullptr), wanted(count) {
  if (pool) {
    host = *ingot_pool_exec(pool);
  }
  host.level = level;
}

llvm::Expected<std::vector<HostTensor>> runOnce(const LoadedModel &model, const RunThreads &threads,
                                                const DataSet &data) {
  std::unique_ptr<Execution> execution = model.execution(threads);
  if (llvm::Error error = execution->setInputs(data.inputs, data.folder)) {
    return error;
  }
  setCrashContext("in the compiled model, on " + data.folder);
  llvm::Error failed = execution->runChecked();
  setCrashContext("");
  if (failed) {
    return failed;
  }
  std::vector<HostTensor> outputs = execution->outputs();
  for (auto [output, facts] : llvm::zip(outputs, model.manifest().outputs)) {
    output.mapKeys = facts.mapKeys;
    output.hasStringKeys = facts.hasStringKeys;
  }
  return outputs;
}

} // namespace ingot::driver
