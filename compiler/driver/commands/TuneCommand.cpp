// `ingot tune`: which schedules of a model's kernels are the fastest on this machine. The model is compiled as the
// machine model says, and then again and again, each time with another schedule for every kernel that has one left to
// try; both run in turns, so that what else the machine does slows both, and a kernel's gain is the ratio of its two
// times. What says more than a schedule that was much slower is not tried. At last the best ones are measured together,
// and those that are not faster again are left out. With --list, what there is to try is printed, and nothing is run.
#include "compiler/driver/Crash.h"
#include "compiler/driver/Driver.h"
#include "compiler/driver/TemporaryFolder.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/commands/Outputs.h"
#include "compiler/driver/execution/Execution.h"
#include "compiler/driver/execution/LoadedModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace ingot::driver {
namespace {

using target::Schedule;

/// Shares of a kernel's time: a schedule that is faster by less than this is noise, and one that is slower by more is
/// not looked into. Kernels that take less than the last share of a run are left alone.
constexpr double leastGain = 0.97, confirmedGain = 0.97, hopeless = 1.3, leastShare = 0.002;
/// The turns of each model in a round, and how long one lasts.
constexpr int runsOfRound = 3;
constexpr double secondsOfTurn = 0.06;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The model as compiled once, with inputs.
struct Compiled {
  pipeline::Result result;
  std::unique_ptr<LoadedModel> model;
  std::unique_ptr<Execution> execution;
};

/// All launches of a kernel.
struct Kernel {
  std::vector<Schedule> untried;
  std::vector<std::pair<Schedule, double>> tried; ///< each with the ratio of its time to that of the machine model's
  Schedule best;
  double ratio = 1, seconds = 0; ///< the ratio of the best one, and the seconds of the machine model's in a run

  /// Returns the next one to measure; empty: there is none.
  Schedule next() {
    while (!untried.empty()) {
      Schedule schedule = untried.front();
      untried.erase(untried.begin());
      auto rulesOut = [&](const auto &other) { return other.second > hopeless && schedule.includes(other.first); };
      if (llvm::none_of(tried, rulesOut)) {
        return schedule;
      }
    }
    return {};
  }
};

/// Times by the kernels' names: for each run of a turn the sum over the launches of the kernel.
using Times = std::map<std::string, std::vector<double>>;

/// Returns the time that is undercut in one of four runs only.
double quartile(std::vector<double> values) {
  llvm::sort(values);
  return values.empty() ? 0 : values[values.size() / 4];
}

/// The model with the schedules of a table, and what the compiler says of it.
struct Library {
  TemporaryFolder folder;
  pipeline::Result result;
  std::string manifest; ///< the path of its manifest

  static llvm::Expected<Library> make(const Invocation &invocation, target::ScheduleTable table);
};

llvm::Expected<Library> Library::make(const Invocation &invocation, target::ScheduleTable table) {
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) {
    return folder.takeError();
  }
  pipeline::Options options = invocation.model;
  options.schedules = std::move(table);
  options.listsSchedules = true;
  options.profile = !invocation.listsSchedules;
  options.outDir = folder->path();
  options.emit = {invocation.listsSchedules ? emit::Kind::Obj : emit::Kind::Shared};
  llvm::Expected<pipeline::Result> result = compileModel(invocation, options);
  if (!result) {
    return result.takeError();
  }
  for (const emit::Artifact &artifact : result->artifacts) {
    if (isManifest(artifact.path)) {
      return Library{std::move(*folder), std::move(*result), artifact.path};
    }
  }
  return llvm::make_error<ExitError>(2, "internal error: the compiler wrote no manifest");
}

class Tuner {
public:
  Tuner(const Invocation &invocation, const RunThreads &threads) : invocation(invocation), threads(threads) {}

  llvm::Error run();

private:
  const Invocation &invocation;
  const RunThreads &threads;
  Compiled model; ///< the model as the machine model says
  std::string machine;
  std::map<std::string, Kernel> kernels;
  int rounds = 0;
  double begun = now(), slowest = 0; ///< when the search began, and the seconds of the slowest round
  double before = 0, after = 0;      ///< seconds of a run

  llvm::Expected<Compiled> compile(target::ScheduleTable table);
  llvm::Error findKernels();
  llvm::Expected<bool> round();
  llvm::Error confirm();
  llvm::Expected<Times> compare(Compiled &other, int turns, Times &times);
  llvm::Error take(Compiled &compiled, Times &times) const;
  target::ScheduleTable best() const;
  llvm::Error write() const;
  void say() const;
};

llvm::Expected<Compiled> Tuner::compile(target::ScheduleTable table) {
  llvm::Expected<Library> library = Library::make(invocation, std::move(table));
  if (!library) {
    return library.takeError();
  }
  Compiled compiled{std::move(library->result), nullptr, nullptr};
  llvm::Expected<std::unique_ptr<LoadedModel>> loaded = LoadedModel::load(library->manifest);
  if (!loaded) {
    return loaded.takeError();
  }
  compiled.model = std::move(*loaded);
  compiled.execution = compiled.model->execution(threads);
  if (invocation.data.empty()) {
    if (llvm::Error error = compiled.execution->setRandomInputs({})) {
      return error;
    }
    return compiled;
  }
  llvm::Expected<DataSet> data = readDataSet(invocation.data.front(), compiled.model->manifest().kinds());
  if (!data) {
    return data.takeError();
  }
  if (llvm::Error error = compiled.execution->setInputs(data->inputs, data->folder)) {
    return error;
  }
  return compiled;
}

/// Runs the model for a turn; its kernels' times are added, those of whole runs under the empty name.
llvm::Error Tuner::take(Compiled &compiled, Times &times) const {
  setCrashContext("in the compiled model");
  llvm::Expected<KernelRunTimes> samples = compiled.execution->profile(secondsOfTurn);
  setCrashContext("");
  if (!samples) {
    return samples.takeError();
  }
  std::map<std::string, std::vector<double>> sums;
  for (auto [number, launch] : llvm::enumerate(samples->launches)) {
    const std::string &key = compiled.result.launchKeys[number];
    std::vector<double> &sum = sums[key];
    sum.resize(samples->seconds.size(), 0);
    for (size_t run = 0; run < launch.seconds.size() && !key.empty(); ++run) {
      sum[run] += launch.seconds[run];
    }
  }
  sums[""] = samples->seconds;
  for (auto &[key, sum] : sums) {
    llvm::append_range(times[key], sum);
  }
  return llvm::Error::success();
}

/// Runs both models in turns; returns the times of the other one, and adds to `times` those of the machine model's.
llvm::Expected<Times> Tuner::compare(Compiled &other, int turns, Times &times) {
  Times others;
  for (int turn = 0; turn < turns; ++turn) {
    if (llvm::Error error = take(model, times)) {
      return error;
    }
    if (llvm::Error error = take(other, others)) {
      return error;
    }
  }
  return others;
}

llvm::Error Tuner::findKernels() {
  Times times;
  if (llvm::Error error = take(model, times)) {
    return error;
  }
  before = after = quartile(times[""]);
  for (const auto &[key, choices] : model.result.choices) {
    double seconds = quartile(times[key]);
    if (seconds >= leastShare * before) {
      kernels[key] = {choices.others, {}, {}, 1, seconds};
    }
  }
  return llvm::Error::success();
}

/// Measures a round. Returns false when nothing is left to try.
llvm::Expected<bool> Tuner::round() {
  double start = now();
  target::ScheduleTable table;
  std::map<std::string, Schedule> trials;
  for (auto &[key, kernel] : kernels) {
    if (Schedule next = kernel.next(); !next.empty()) {
      table.set(machine, key, next);
      trials.emplace(key, std::move(next));
    }
  }
  if (trials.empty()) {
    return false;
  }
  llvm::Expected<Compiled> other = compile(std::move(table));
  if (!other) {
    return other.takeError();
  }
  Times times;
  llvm::Expected<Times> others = compare(*other, runsOfRound, times);
  if (!others) {
    return others.takeError();
  }
  for (auto &[key, schedule] : trials) {
    Kernel &kernel = kernels[key];
    double ratio = quartile((*others)[key]) / std::max(quartile(times[key]), 1e-12);
    kernel.tried.push_back({schedule, ratio});
    if (ratio < std::min(leastGain, kernel.ratio)) {
      kernel.best = schedule, kernel.ratio = ratio;
    }
    if (invocation.model.verbose) {
      llvm::errs() << llvm::format("%6.3f  ", ratio) << key << ": " << schedule.text() << '\n';
    }
  }
  ++rounds;
  slowest = std::max(slowest, now() - start);
  return true;
}

target::ScheduleTable Tuner::best() const {
  target::ScheduleTable table;
  for (const auto &[key, kernel] : kernels) {
    if (!kernel.best.empty()) {
      auto remark =
          llvm::formatv("{0:f1} us instead of {1:f1} us", kernel.seconds * kernel.ratio * 1e6, kernel.seconds * 1e6);
      table.set(machine, key, kernel.best, remark.str());
    }
  }
  return table;
}

llvm::Error Tuner::confirm() {
  target::ScheduleTable table = best();
  if (table.size() == 0) {
    return llvm::Error::success();
  }
  llvm::Expected<Compiled> other = compile(std::move(table));
  if (!other) {
    return other.takeError();
  }
  Times times;
  llvm::Expected<Times> others = compare(*other, 2 * runsOfRound, times);
  if (!others) {
    return others.takeError();
  }
  before = quartile(times[""]), after = quartile((*others)[""]);
  for (auto &[key, kernel] : kernels) {
    kernel.seconds = quartile(times[key]);
    kernel.ratio = quartile((*others)[key]) / std::max(kernel.seconds, 1e-12);
    if (kernel.ratio > confirmedGain) {
      kernel.best = {};
    }
  }
  return llvm::Error::success();
}

/// Writes the schedules into the file, beside what it says of other kernels and machines.
llvm::Error Tuner::write() const {
  const std::string &path = invocation.tuningOutput;
  target::ScheduleTable table;
  if (llvm::sys::fs::exists(path)) {
    llvm::Expected<target::ScheduleTable> read = target::ScheduleTable::read(path);
    if (!read) {
      return read.takeError();
    }
    table = std::move(*read);
  }
  for (const auto &[key, kernel] : kernels) {
    table.erase(machine, key);
  }
  table.add(best());
  return writeText(path, table.text());
}

void Tuner::say() const {
  target::ScheduleTable table = best();
  if (invocation.json) {
    llvm::json::OStream json(llvm::outs());
    json.object([&] {
      json.attribute("file", invocation.tuningOutput);
      json.attribute("target", machine);
      json.attribute("kernels", int64_t(kernels.size()));
      json.attribute("rounds", rounds);
      json.attribute("seconds", now() - begun);
      json.attribute("model_us", before * 1e6);
      json.attribute("tuned_us", after * 1e6);
      json.attributeArray("schedules", [&] {
        for (const auto &[key, kernel] : kernels) {
          if (!kernel.best.empty()) {
            json.object([&] {
              json.attribute("kernel", key);
              json.attribute("schedule", kernel.best.text());
              json.attribute("model_us", kernel.seconds * 1e6);
              json.attribute("tuned_us", kernel.seconds * kernel.ratio * 1e6);
            });
          }
        }
      });
    });
    llvm::outs() << '\n';
    return;
  }
  llvm::outs() << invocation.tuningOutput << ": schedules for " << table.size() << " of " << kernels.size()
               << " kernels on " << machine << ", by " << rounds << " rounds in "
               << llvm::format("%.1f s\n", now() - begun);
  for (const auto &[key, kernel] : kernels) {
    if (!kernel.best.empty()) {
      llvm::outs() << llvm::format("%10.2f us instead of %10.2f us  ", kernel.seconds * kernel.ratio * 1e6,
                                   kernel.seconds * 1e6)
                   << key << ": " << kernel.best.text() << '\n';
    }
  }
  llvm::outs() << llvm::format("%10.2f us instead of %10.2f us  a run\n", after * 1e6, before * 1e6);
}

llvm::Error Tuner::run() {
  llvm::Expected<Compiled> compiled = compile({});
  if (!compiled) {
    return compiled.takeError();
  }
  model = std::move(*compiled);
  machine = model.model->manifest().target;
  if (llvm::Error error = findKernels()) {
    return error;
  }
  bool more = true;
  while (more && now() - begun + 2 * slowest < invocation.seconds) { // the last round is to confirm
    llvm::Expected<bool> measured = round();
    if (!measured) {
      return measured.takeError();
    }
    more = *measured;
  }
  if (llvm::Error error = confirm()) {
    return error;
  }
  if (llvm::Error error = write()) {
    return error;
  }
  say();
  return llvm::Error::success();
}

/// Prints all schedules that the kernels can have, as lines of a table: first the one that the machine model chooses.
llvm::Error listSchedules(const Invocation &invocation) {
  llvm::Expected<Library> library = Library::make(invocation, {});
  if (!library) {
    return library.takeError();
  }
  llvm::Expected<Manifest> manifest = readManifest(library->manifest);
  if (!manifest) {
    return manifest.takeError();
  }
  llvm::outs() << target::ScheduleTable().text();
  for (const auto &[key, choices] : library->result.choices) {
    std::string kernel = manifest->target + " " + key + ": ";
    llvm::outs() << (choices.chosen.empty() ? "# " + kernel : kernel + choices.chosen.text() + " # ")
                 << "chosen: " << choices.why << '\n';
    for (const Schedule &schedule : choices.others) {
      llvm::outs() << kernel << schedule.text() << '\n';
    }
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error tuneCommand(const Invocation &invocation) {
  if (invocation.listsSchedules) {
    return listSchedules(invocation);
  }
  if (llvm::Error error = checkTargets(invocation.model.targets)) {
    return error;
  }
  llvm::Expected<std::vector<std::string>> files = filesRead(invocation);
  if (!files) {
    return files.takeError();
  }
  if (llvm::Error error = checkOutputs(Output{"-o", invocation.tuningOutput}, *files)) {
    return error;
  }
  if (llvm::sys::fs::exists(invocation.tuningOutput)) { // a file that is no table is an error before minutes have gone
    llvm::Expected<target::ScheduleTable> read = target::ScheduleTable::read(invocation.tuningOutput);
    if (!read) {
      return read.takeError();
    }
  }
  RunThreads threads(invocation.threads);
  return Tuner(invocation, threads).run();
}

} // namespace ingot::driver
