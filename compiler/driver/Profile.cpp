#include "compiler/driver/Profile.h"
#include "compiler/driver/ModelFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {

double medianOf(std::vector<double> values) {
  llvm::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

llvm::Expected<std::vector<KernelTime>> kernelTimes(const LoadedModel &model, const Execution &execution,
                                                    const KernelSamples &samples) {
  std::vector<KernelTime> times;
  for (auto [number, launch] : llvm::enumerate(samples.launches)) {
    if (launch.calls > 0) {
      double runs = double(samples.seconds.size());
      times.push_back({int64_t(number), medianOf(launch.seconds), double(launch.calls) / runs});
    }
  }
  const std::vector<Manifest::Launch> &launches = model.manifest().launches;
  if (samples.launches.size() > launches.size() || (times.empty() && !launches.empty())) {
    return llvm::createStringError("model '" + model.manifest().name +
                                   "' says nothing of its kernels: it was compiled without --profile");
  }
  for (KernelTime &time : times) {
    const Manifest::Launch &launch = launches[size_t(time.launch)];
    time.macs = time.calls * double(execution.evaluate(launch.macs));
    time.bytes = time.calls * double(execution.evaluate(launch.bytes));
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
  llvm::outs() << "      us  share  calls  GFLOP/s   GB/s  kernel: nodes\n";
  double sum = total(times);
  for (const KernelTime &time : times) {
    const Manifest::Launch &launch = model.manifest().launches[size_t(time.launch)];
    llvm::outs() << llvm::format("%8.2f %5.1f%% %6.4g ", time.seconds * 1e6, 100 * time.seconds / sum, time.calls);
    if (time.macs > 0) {
      llvm::outs() << llvm::format("%8.1f", time.flopRate() * 1e-9);
    } else {
      llvm::outs() << "       -";
    }
    llvm::outs() << llvm::format(" %6.1f  ", time.byteRate() * 1e-9) << launch.kernel << ": ";
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
        json.attribute("gflops", time.flopRate() * 1e-9);
        json.attribute("gbytes_per_second", time.byteRate() * 1e-9);
      });
    }
  });
}

} // namespace ingot::driver
