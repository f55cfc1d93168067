#include "compiler/driver/Profile.h"
#include "compiler/driver/ModelFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {

const ingot_exec *Profiler::exec() {
  own.context = this;
  own.profile = note;
  own.level = inner->level;
  if (inner->parallel_for) {
    own.threads = [](void *self) {
      const ingot_exec *host = static_cast<Profiler *>(self)->inner;
      return host->threads(host->context);
    };
    own.parallel_for = [](void *self, int (*body)(void *, int64_t, int64_t), void *args, int64_t items) {
      const ingot_exec *host = static_cast<Profiler *>(self)->inner;
      return host->parallel_for(host->context, body, args, items);
    };
  }
  return &own;
}

void Profiler::note(void *self, int32_t launch, int32_t ended) {
  auto &profiler = *static_cast<Profiler *>(self);
  Clock::time_point now = Clock::now();
  if (size_t(launch) >= profiler.launches.size()) {
    profiler.launches.resize(size_t(launch) + 1);
    profiler.begun.resize(size_t(launch) + 1);
  }
  if (!ended) {
    profiler.begun[size_t(launch)] = Clock::now();
    return;
  }
  Time &time = profiler.launches[size_t(launch)];
  ++time.calls;
  time.current += std::chrono::duration<double>(now - profiler.begun[size_t(launch)]).count();
}

int Profiler::measure(LocalExecution &execution, double seconds) {
  if (int status = execution.run()) { // warm, and the vectors have their sizes
    return status;
  }
  launches.assign(launches.size(), {});
  constexpr size_t least = 3, most = 10000;
  for (double total = 0; samples.size() < least || (total < seconds && samples.size() < most);) {
    Clock::time_point begin = Clock::now();
    if (int status = execution.run()) {
      return status;
    }
    samples.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    total += samples.back();
    for (Time &time : launches) {
      time.seconds.push_back(std::exchange(time.current, 0));
    }
  }
  return 0;
}

static double medianOf(std::vector<double> values) {
  llvm::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

double Profiler::medianSeconds() const { return medianOf(samples); }
double Profiler::Time::median() const { return medianOf(seconds); }

llvm::Expected<std::vector<KernelTime>> kernelTimes(const LoadedModel &model, const Profiler &profiler) {
  std::vector<KernelTime> times;
  for (auto [number, time] : llvm::enumerate(profiler.times())) {
    if (time.calls > 0) {
      double runs = double(profiler.runs());
      times.push_back({int64_t(number), time.median(), double(time.calls) / runs});
    }
  }
  const std::vector<Manifest::Launch> &launches = model.manifest().launches;
  if (profiler.times().size() > launches.size() || (times.empty() && !launches.empty())) {
    return llvm::createStringError("model '" + model.manifest().name +
                                   "' says nothing of its kernels: it was compiled without --profile");
  }
  llvm::sort(times, [](const KernelTime &a, const KernelTime &b) {
    return std::pair(-a.seconds, a.launch) < std::pair(-b.seconds, b.launch);
  });
  return times;
}

static double total(const std::vector<KernelTime> &times) {
  double sum = 0;
  for (const KernelTime &time : times) {
    sum += time.seconds;
  }
  return sum > 0 ? sum : 1;
}

void printProfile(const LoadedModel &model, const std::vector<KernelTime> &times) {
  llvm::outs() << "      us  share  calls  kernel: nodes\n";
  double sum = total(times);
  for (const KernelTime &time : times) {
    const Manifest::Launch &launch = model.manifest().launches[size_t(time.launch)];
    llvm::outs() << llvm::format("%8.2f %5.1f%% %6.4g  ", time.seconds * 1e6, 100 * time.seconds / sum, time.calls)
                 << launch.kernel << ": ";
    llvm::interleaveComma(launch.nodes, llvm::outs(), [](const std::string &node) { llvm::outs() << plainName(node); });
    llvm::outs() << '\n';
  }
}

void writeProfile(llvm::json::OStream &json, const LoadedModel &model, const std::vector<KernelTime> &times) {
  double sum = total(times);
  json.attributeArray("profile", [&] {
    for (const KernelTime &time : times) {
      const Manifest::Launch &launch = model.manifest().launches[size_t(time.launch)];
      json.object([&] {
        json.attribute("launch", time.launch);
        json.attribute("kernel", launch.kernel);
        json.attribute("nodes", llvm::json::Array(launch.nodes));
        json.attribute("us", time.seconds * 1e6);
        json.attribute("share", time.seconds / sum);
        json.attribute("calls", time.calls);
      });
    }
  });
}

} // namespace ingot::driver
