// `ingot bench`: the time of single runs, after a warm-up. Runs that are too short for the clock are timed in batches,
// and a batch counts with its mean.
#include "compiler/driver/Crash.h"
#include "compiler/driver/ModelSource.h"
#include "compiler/driver/Profile.h"
#include "compiler/driver/Text.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <numeric>

namespace ingot::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShortestSample = 5e-6;
constexpr size_t kMostSamples = 4 << 20;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Figures {
  int64_t runs = 0;
  double min = 0, median = 0, p99 = 0, mean = 0; ///< seconds
  int64_t macs = 0, arenaBytes = 0;              ///< of one run
  int level = 0;                                 ///< of those of the model, the one that ran; 0: it is for one machine
  double gflops() const { return median > 0 ? 2e-9 * double(macs) / median : 0; }
};

double percentile(const std::vector<double> &sorted, double part) {
  return sorted[size_t(part * double(sorted.size() - 1) + 0.5)];
}

/// At least three runs and a tenth of the time; the time of one run when warm, or the status of a failed one.
double warmUp(Execution &execution, double seconds, int &status) {
  Clock::time_point start = Clock::now();
  double shortest = 1e30;
  for (int runs = 0; runs < 3 || secondsSince(start) < seconds / 10; ++runs) {
    Clock::time_point begin = Clock::now();
    status = execution.run();
    if (status) {
      return 0;
    }
    shortest = std::min(shortest, secondsSince(begin));
  }
  return shortest;
}

Figures measure(Execution &execution, double seconds, double oneRun) {
  int batch = std::clamp(int(kShortestSample / std::max(oneRun, 1e-9)), 1, 1000);
  std::vector<double> samples;
  double total = 0;
  while (samples.size() < kMostSamples && (total < seconds || samples.size() < 5)) {
    Clock::time_point begin = Clock::now();
    for (int i = 0; i < batch; ++i) {
      execution.run();
    }
    double sample = secondsSince(begin);
    total += sample;
    samples.push_back(sample / batch);
  }
  std::sort(samples.begin(), samples.end());
  Figures figures;
  figures.runs = int64_t(samples.size()) * batch;
  figures.min = samples.front();
  figures.median = percentile(samples, 0.5);
  figures.p99 = percentile(samples, 0.99);
  figures.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
  return figures;
}

void printJson(const LoadedModel &model, int threads, const Figures &figures, double compileSeconds,
               const std::vector<KernelTime> *profile) {
  llvm::json::OStream json(llvm::outs());
  const Manifest &manifest = model.manifest();
  json.object([&] {
    json.attribute("model", manifest.name);
    json.attribute("target", model.model().target);
    if (figures.level > 0) {
      json.attribute("level", figures.level);
    }
    json.attribute("threads", threads);
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

void printText(const LoadedModel &model, int threads, const Figures &figures, const std::vector<KernelTime> *profile) {
  const Manifest &manifest = model.manifest();
  llvm::outs() << manifest.name << " on " << model.model().target
               << (figures.level > 0 ? " (level " + std::to_string(figures.level) + " runs)" : "") << ", " << threads
               << (threads == 1 ? " thread" : " threads") << '\n'
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

} // namespace

llvm::Error benchCommand(const Invocation &invocation) {
  std::optional<DataSet> data;
  if (!invocation.data.empty()) {
    llvm::Expected<DataSet> read = readDataSet(invocation.data.front());
    if (!read) {
      return read.takeError();
    }
    data = std::move(*read);
  }
  ModelSource source(invocation);
  llvm::Expected<const LoadedModel *> model = source.get(data ? &*data : nullptr);
  if (!model) {
    return model.takeError();
  }
  llvm::Expected<int32_t> level = source.level();
  if (!level) {
    return level.takeError();
  }
  Threads threads(invocation.threads, *level);
  Profiler profiler(threads.exec());
  Execution execution(**model, invocation.profile ? profiler.exec() : threads.exec());
  GivenSizes given;
  if (givesRunSizes(invocation)) {
    given = {invocation.model.dims, invocation.model.shapes};
  }
  if (llvm::Error error = data ? execution.setInputs(data->inputs, data->folder) : execution.setRandomInputs(given)) {
    return error;
  }
  setCrashContext("in the compiled model");
  int status = 0;
  double oneRun = warmUp(execution, invocation.seconds, status);
  if (llvm::Error error = execution.check(status)) {
    return error;
  }
  Figures figures = measure(execution, invocation.seconds, oneRun);
  std::optional<std::vector<KernelTime>> profile;
  if (invocation.profile) {
    if (llvm::Error error = execution.check(profiler.measure(execution, invocation.seconds))) {
      return error;
    }
    llvm::Expected<std::vector<KernelTime>> times = kernelTimes(**model, profiler);
    if (!times) {
      return times.takeError();
    }
    profile = std::move(*times);
  }
  setCrashContext("");
  const Manifest &manifest = (*model)->manifest();
  figures.level = ingot_model_level(&(*model)->model(), threads.exec());
  figures.macs = execution.evaluate(manifest.macs);
  figures.arenaBytes = manifest.arenaBytes < 0 ? execution.workspaceBytes() : manifest.arenaBytes;
  if (invocation.json) {
    printJson(**model, threads.count(), figures, source.compileSeconds, profile ? &*profile : nullptr);
  } else {
    printText(**model, threads.count(), figures, profile ? &*profile : nullptr);
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
