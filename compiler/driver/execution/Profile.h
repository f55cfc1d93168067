// Tells the time of each kernel.
#pragma once
#include "compiler/driver/execution/Execution.h"
#include "compiler/driver/execution/LoadedModel.h"
#include "compiler/target/Roof.h"
#include "llvm/Support/JSON.h"

namespace ingot::driver {

/// A kernel's part of the time of a run.
struct KernelTime {
  int64_t launch = 0;
  double seconds = 0, calls = 0; ///< seconds of one run (the median), and calls (the average)
  double macs = 0, bytes = 0;    ///< multiplications with accumulation, and bytes of operands and results, of one run
  target::Traffic traffic = {};  ///< the traffic of one run

  /// Return rates a second. Bytes are what the kernel has to read and write once, wherever that lies; reading it again
  /// is not counted.
  double flopRate() const { return seconds > 0 ? 2 * macs / seconds : 0; }
  double byteRate() const { return seconds > 0 ? bytes / seconds : 0; }
};

/// Returns all kernels that ran, the slowest first; an error when the model was not compiled for profiling. `execution`
/// has had the inputs that were measured.
llvm::Expected<std::vector<KernelTime>> kernelTimes(const LoadedModel &model, const Execution &execution,
                                                    const KernelRunTimes &samples);

double medianOf(std::vector<double> values);

/// Times, and those that the machine would need at least (nothing: not known).
struct Profile {
  std::vector<KernelTime> times;
  std::optional<target::Roof> roof;
  int threads = 1;
};
void printProfile(const LoadedModel &model, const Profile &profile);
void writeProfile(llvm::json::OStream &json, const LoadedModel &model, const Profile &profile);

} // namespace ingot::driver
