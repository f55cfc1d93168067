// Runs `ingot bench`: measures the time of single runs (runtime_support/runner/measure.h), and says what it comes to.
#include "compiler/driver/Crash.h"
#include "compiler/driver/ModelSource.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/execution/HostRoof.h"
#include "compiler/driver/execution/Profile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>

namespace ingot::driver {
namespace {

struct Figures {
  int64_t runs = 0;
  double min = 0, median = 0, p99 = 0, mean = 0; ///< seconds
  int64_t macs = 0, arenaBytes = 0;              ///< of one run
  int level = 0;                                 ///< the level of the model that ran; 0: the model is for one machine
  int threads = 1;
  double gflops() const { return median > 0 ? 2e-9 * double(macs) / median : 0; }
};

double percentile(const std::vector<double> &sorted, double part) {
  return sorted[size_t(part * double(sorted.size() - 1) + 0.5)];
}

Figures figuresOf(const RunTimes &measured) {
  std::vector<double> samples = measured.seconds;
  std::sort(samples.begin(), samples.end());
  Figures figures;
  figures.runs = int64_t(samples.size()) * measured.batch;
  figures.min = samples.front();
  figures.median = percentile(samples, 0.5);
  figures.p99 = percentile(samples, 0.99);
  figures.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
  figures.level = measured.level;
  figures.threads = measured.threads;
  return figures;
}

void printJson(const LoadedModel &model, const Figures &figures, double compileSeconds, const Profile *profile) {
  llvm::json::OStream json(llvm::outs());
  const Manifest &manifest = model.manifest();
  json.object([&] {
    json.attribute("model", manifest.name);
    json.attribute("target", model.model().target);
    if (figures.level > 0) {
      json.attribute("level", figures.level);
    }
    json.attribute("threads", figures.threads);
    json.attribute("runs", figures.runs);
    json.attribute("min_us", figures.min * 1e6);
    json.attribute("median_us", figures.median * 1e6);
    json.attribute("p99_us", figures.p99 * 1e6);
    json.attribute("mean_us", figures.mean * 1e6);
    json.attribute("macs", figures.macs);
    json.attribute("gflops", figures.gflops());
    json.attribute("arena_bytes", figures.arenaBytes);
    json.attribute("weight_bytes", manifest.weightBytes);
    json.attribute("code_bytes", manifest.codeBytes);
    json.attribute("compile_seconds", compileSeconds);
    if (profile) {
      writeProfile(json, model, *profile);
    }
  });
  llvm::outs() << '\n';
}

void printText(const LoadedModel &model, const Figures &figures, const Profile *profile) {
  const Manifest &manifest = model.manifest();
  llvm::outs() << manifest.name << " on " << model.model().target
               << (figures.level > 0 ? " (level " + std::to_string(figures.level) + " runs)" : "") << ", "
               << figures.threads << (figures.threads == 1 ? " thread" : " threads") << '\n'
               << llvm::format("median %.2f us, min %.2f, mean %.2f, p99 %.2f; ", figures.median * 1e6,
                               figures.min * 1e6, figures.mean * 1e6, figures.p99 * 1e6)
               << countText(figures.runs) << " runs\n"
               << llvm::format("%.2f GFLOP/s, ", figures.gflops()) << countText(figures.macs) << " multiply-adds\n"
               << "arena " << bytesText(figures.arenaBytes) << ", weights " << bytesText(manifest.weightBytes)
               << ", code " << bytesText(manifest.codeBytes) << '\n';
  if (profile) {
    printProfile(model, *profile);
  }
}

/// Sets inputs from data, or random ones of the sizes that the flags say.
llvm::Error setInputs(const Invocation &invocation, const std::optional<DataSet> &data, Execution &execution) {
  GivenSizes given;
  if (givesRunSizes(invocation)) {
    given = {invocation.model.dims, invocation.model.shapes};
  }
  return data ? execution.setInputs(data->inputs, data->folder) : execution.setRandomInputs(given);
}

} // namespace

llvm::Error benchCommand(const Invocation &invocation) {
  ModelSource source(invocation);
  std::optional<DataSet> data;
  if (!invocation.data.empty()) {
    llvm::Expected<ValueKinds> kinds = source.kinds();
    if (!kinds) {
      return kinds.takeError();
    }
    llvm::Expected<DataSet> read = readDataSet(invocation.data.front(), *kinds);
    if (!read) {
      return read.takeError();
    }
    data = std::move(*read);
  }
  llvm::Expected<const LoadedModel *> model = source.get(data ? &*data : nullptr);
  if (!model) {
    return model.takeError();
  }
  llvm::Expected<int32_t> level = source.level();
  if (!level) {
    return level.takeError();
  }
  RunThreads threads(invocation.threads, *level, invocation.runner.empty());
  std::unique_ptr<Execution> execution = (*model)->execution(threads);
  if (llvm::Error error = setInputs(invocation, data, *execution)) {
    return error;
  }
  setCrashContext("in the compiled model");
  llvm::Expected<RunTimes> samples = execution->measure(invocation.seconds);
  if (!samples) {
    return samples.takeError();
  }
  std::optional<Profile> profile;
  if (invocation.profile) {
    llvm::Expected<KernelRunTimes> profiled = execution->profile(invocation.seconds);
    if (!profiled) {
      return profiled.takeError();
    }
    llvm::Expected<std::vector<KernelTime>> found = kernelTimes(**model, *execution, *profiled);
    if (!found) {
      return found.takeError();
    }
    profile = {std::move(*found), roofOf(**model, /*here=*/invocation.runner.empty(), samples->level, samples->threads),
               samples->threads};
  }
  setCrashContext("");
  const Manifest &manifest = (*model)->manifest();
  Figures figures = figuresOf(*samples);
  figures.macs = execution->evaluate(manifest.macs);
  figures.arenaBytes = manifest.arenaBytes < 0 ? execution->workspaceBytes() : manifest.arenaBytes;
  if (invocation.json) {
    printJson(**model, figures, source.compileSeconds, profile ? &*profile : nullptr);
  } else {
    printText(**model, figures, profile ? &*profile : nullptr);
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
