// Runs `ingot run`: all data sets are run before anything is written, so that a failure leaves no outputs behind.
#include "compiler/driver/ModelSource.h"
#include "compiler/driver/commands/Outputs.h"
#include "compiler/support/OutputFiles.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {

/// Returns an error if outputs cannot be written where they should go, or those of two runs would go to the same place.
static llvm::Error checkFolders(llvm::ArrayRef<std::string> folders) {
  for (auto [number, folder] : llvm::enumerate(folders)) {
    auto isSame = [path = folder](const std::string &other) { return support::isSameFile(path, other); };
    if (llvm::any_of(folders.take_front(number), isSame)) {
      return llvm::createStringError("--out " + folder + ": is given twice, and each --data needs one of its own");
    }
    if (llvm::Error error = checkFolder(folder)) {
      return error;
    }
  }
  return llvm::Error::success();
}

llvm::Error runCommand(const Invocation &invocation) {
  if (llvm::Error error = checkFolders(invocation.out)) {
    return error;
  }
  ModelSource source(invocation);
  llvm::Expected<int32_t> level = source.level();
  if (!level) {
    return level.takeError();
  }
  RunThreads threads(invocation.threads, *level, invocation.runner.empty());
  llvm::Expected<ValueKinds> kinds = source.kinds();
  if (!kinds) {
    return kinds.takeError();
  }
  std::vector<Recorded> results;
  for (const std::string &folder : invocation.data) {
    llvm::Expected<ModelSource::FolderRun> run = source.run(folder, *kinds, threads);
    if (!run) {
      return run.takeError();
    }
    llvm::Expected<Recorded> recorded = recordedOf(std::move(run->outputs), run->model->manifest().outputSequences);
    if (!recorded) {
      return recorded.takeError();
    }
    results.push_back(std::move(*recorded));
  }
  OutputWriter writer;
  for (size_t i = 0; i < results.size(); ++i) {
    if (llvm::Error error = writer.write(invocation.out[i], results[i])) {
      return error;
    }
  }
  if (llvm::Error error = writer.keep()) {
    return error;
  }
  if (invocation.json) {
    llvm::json::Array folders(invocation.out);
    llvm::outs() << llvm::json::Value(
                        llvm::json::Object{{"compile_seconds", source.compileSeconds}, {"out", std::move(folders)}})
                 << '\n';
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
