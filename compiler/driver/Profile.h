// Time per kernel, of models compiled for profiling: a host whose `profile` function reads the clock.
#pragma once
#include "compiler/driver/LoadedModel.h"
#include "compiler/driver/LocalExecution.h"
#include "llvm/Support/JSON.h"
#include <chrono>

namespace ingot::driver {

class Profiler {
public:
  struct Time {
    int64_t calls = 0;           ///< in all runs
    double current = 0;          ///< seconds in the present run
    std::vector<double> seconds; ///< in each run
    double median() const;
  };

  /// `inner` does the work of threads and says the level. Measures runs on one thread at a time.
  explicit Profiler(const ingot_exec *inner) : inner(inner) {}
  Profiler(const Profiler &) = delete;

  /// Runs for about so long; the status of a failed run.
  int measure(LocalExecution &execution, double seconds);

  const ingot_exec *exec();
  int64_t runs() const { return int64_t(samples.size()); }
  double medianSeconds() const;
  /// By the number of the launch; shorter where the last ones never ran.
  const std::vector<Time> &times() const { return launches; }

private:
  static void note(void *self, int32_t launch, int32_t ended);

  using Clock = std::chrono::steady_clock;
  const ingot_exec *inner;
  ingot_exec own = {};
  std::vector<double> samples; ///< seconds of each run
  std::vector<Time> launches;
  std::vector<Clock::time_point> begun; ///< kernels in bodies of loops are not inside one another
};

/// A kernel's part of the time of a run.
struct KernelTime {
  int64_t launch = 0;
  double seconds = 0, calls = 0; ///< of one run: the median, the average
};

/// All kernels that ran, the slowest first; an error when the model was not compiled for profiling.
llvm::Expected<std::vector<KernelTime>> kernelTimes(const LoadedModel &model, const Profiler &profiler);

void printProfile(const LoadedModel &model, const std::vector<KernelTime> &times);
void writeProfile(llvm::json::OStream &json, const LoadedModel &model, const std::vector<KernelTime> &times);

} // namespace ingot::driver
