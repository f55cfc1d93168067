// What is told of the time of each kernel.
#pragma once
#include "compiler/driver/execution/Execution.h"
#include "compiler/driver/execution/LoadedModel.h"
#include "compiler/target/Roof.h"
#include "llvm/Support/JSON.h"

namespace ingot::driver {

/// A kernel's part of the time of a run.
struct KernelTime {
  int64_t launch = 0;
  double seconds = 0, calls = 0; ///< of one run: the median, the average
  double macs = 0, bytes = 0;    ///< of one run: multiplications with accumulation; of operands and results
  target::Traffic traffic = {};  ///< of one run

  /// A second. Bytes are what the kernel has to read and write once, wherever that lies; reading it again is not
  /// counted.
  double flopRate() const { return seconds > 0 ? 2 * macs / seconds : 0; }
  double byteRate() const { return seconds > 0 ? bytes / seconds : 0; }
};

/// All kernels that ran, the slowest first; an error when the model was not compiled for profiling.
/// `execution` has had the inputs that were measured.
llvm::Expected<std::vector<KernelTime>> kernelTimes(const LoadedModel &model, const Execution &execution,
                                                    const KernelSamples &samples);

double medianOf(std::vector<double> values);

/// Times, and what the machine would need at least (nothing: not known).
struct Profile {
  std::vector<KernelTime> times;
  std::optional<target::Roof> roof;
  int threads = 1;
};
void printProfile(const LoadedModel &model, const Profile &profile);
void writeProfile(llvm::json::OStream &json, const LoadedModel &model, const Profile &profile);

} // namespace ingot::driver
