#include "compiler/driver/execution/Profile.h"
#include "compiler/driver/ModelFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {

double medianOf(std::vector<double> values) {
  llvm::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

llvm::Expected<std::vector<KernelTime>> kernelTimes(const LoadedModel &model, const Execution &execution,
                                                    const KernelRunTimes &samples) {
  std::vector<KernelTime> times;
  for (auto [number, launch] : llvm::enumerate(samples.launches)) {
    if (launch.calls > 0) {
      double runs = double(samples.seconds.size());
      times.push_back({int64_t(number), medianOf(launch.seconds), double(launch.calls) / runs});
    }
  }
  const std::vector<plan::LaunchInfo> &launches = model.manifest().launches;
  if (samples.launches.size() > launches.size() || (times.empty() && !launches.empty())) {
    return llvm::createStringError("model '" + model.manifest().name +
                                   "' says nothing of its kernels: it was compiled without --profile");
  }
  for (KernelTime &time : times) {
    const plan::LaunchInfo &launch = launches[size_t(time.launch)];
    time.macs = time.calls * double(execution.evaluate(launch.macs));
    time.bytes = time.calls * double(execution.evaluate(launch.bytes));
    double weights = double(execution.evaluate(launch.weightBytes));
    time.traffic = {time.calls * double(execution.evaluate(launch.ownMacs)), time.calls * weights,
                    time.bytes - time.calls * weights, double(model.manifest().weightBytes)};
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

/// Returns a rate in GB/s or GFLOP/s.
static std::string giga(double rate) { return llvm::formatv("{0:f0}", rate * 1e-9).str(); }

static void printRoof(const Profile &profile) {
  const target::Roof &roof = *profile.roof;
  llvm::outs() << "the least time is by " << giga(2 * roof.multiplyAdds) << " GFLOP/s (float32)";
  for (const target::Roof::Level &level : roof.levels) {
    llvm::outs() << ", " << level.name << " " << giga(level.bytes);
  }
  llvm::outs() << " GB/s, "
               << (roof.measured ? "measured here with " + std::to_string(profile.threads) +
                                       (profile.threads == 1 ? " thread" : " threads")
                                 : "by the model of one core at " + giga(target::usualHertz) + " GHz")
               << '\n';
}

void printProfile(const LoadedModel &model, const Profile &profile) {
  llvm::outs() << "      us  share  calls  GFLOP/s   GB/s     least us  reached  by          kernel: nodes\n";
  double sum = total(profile.times);
  for (const KernelTime &time : profile.times) {
    const plan::LaunchInfo &launch = model.manifest().launches[size_t(time.launch)];
    llvm::outs() << llvm::format("%8.2f %5.1f%% %6.4g ", time.seconds * 1e6, 100 * time.seconds / sum, time.calls);
    if (time.macs > 0) {
      llvm::outs() << llvm::format("%8.1f", time.flopRate() * 1e-9);
    } else {
      llvm::outs() << "       -";
    }
    llvm::outs() << llvm::format(" %6.1f  ", time.byteRate() * 1e-9);
    if (profile.roof) {
      target::Expectation least(time.traffic, *profile.roof);
      llvm::outs() << llvm::format("%11.2f %7.0f%%  %-10s  ", least.seconds() * 1e6,
                                   100 * least.seconds() / std::max(time.seconds, 1e-12), least.bound(time.traffic));
    } else {
      llvm::outs() << "          -        -  -           ";
    }
    llvm::outs() << launch.kernel << ": ";
    llvm::interleaveComma(launch.nodes, llvm::outs(), [](const std::string &node) { llvm::outs() << plainName(node); });
    llvm::outs() << '\n';
    if (!launch.choice.empty()) {
      llvm::outs() << "         chosen: " << launch.choice << '\n';
    }
  }
  if (profile.roof) {
    printRoof(profile);
  }
}

static void writeLeast(llvm::json::OStream &json, const KernelTime &time, const target::Roof &roof) {
  target::Expectation least(time.traffic, roof);
  json.attributeObject("least", [&] {
    json.attribute("us", least.seconds() * 1e6);
    json.attribute("reached", time.seconds > 0 ? least.seconds() / time.seconds : 0);
    json.attribute("by", least.bound(time.traffic));
    json.attribute("flops", 2 * time.traffic.multiplyAdds);
    json.attribute("arithmetic_us", least.arithmetic * 1e6);
    json.attribute("memory_us", least.memory * 1e6);
    json.attribute("weight_bytes", time.traffic.weights);
    json.attribute("weights_from", least.weightsFrom->name);
    json.attribute("tensor_bytes", time.traffic.tensors);
    json.attribute("tensors_from", least.tensorsFrom->name);
  });
}

static void writeRoof(llvm::json::OStream &json, const target::Roof &roof) {
  json.attributeObject("roof", [&] {
    json.attribute("measured", roof.measured);
    json.attribute("gflops", 2e-9 * roof.multiplyAdds);
    json.attributeArray("levels", [&] {
      for (const target::Roof::Level &level : roof.levels) {
        json.object([&] {
          json.attribute("name", level.name);
          json.attribute("gbytes_per_second", 1e-9 * level.bytes);
        });
      }
    });
  });
}

void writeProfile(llvm::json::OStream &json, const LoadedModel &model, const Profile &profile) {
  double sum = total(profile.times);
  json.attributeArray("profile", [&] {
    for (const KernelTime &time : profile.times) {
      const plan::LaunchInfo &launch = model.manifest().launches[size_t(time.launch)];
      json.object([&] {
        json.attribute("launch", time.launch);
        json.attribute("kernel", launch.kernel);
        json.attribute("nodes", llvm::json::Array(launch.nodes));
        json.attribute("us", time.seconds * 1e6);
        json.attribute("share", time.seconds / sum);
        json.attribute("calls", time.calls);
        json.attribute("gflops", time.flopRate() * 1e-9);
        json.attribute("gbytes_per_second", time.byteRate() * 1e-9);
        if (!launch.choice.empty()) {
          json.attribute("chosen", llvm::json::fixUTF8(launch.choice));
        }
        if (profile.roof) {
          writeLeast(json, time, *profile.roof);
        }
      });
    }
  });
  if (profile.roof) {
    writeRoof(json, *profile.roof);
  }
}

} // namespace ingot::driver
