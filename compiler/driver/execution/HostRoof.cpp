// Measures with arrays that take half of a level, since other data is there, too. Each figure is the best of many short
// turns: what others on the machine take away is not counted. Several threads measure at the same time, and their rates
// are added.
#include "compiler/driver/execution/HostRoof.h"
#include "compiler/target/Target.h"
#include "runtime_support/runner/roof.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <numeric>
#include <thread>

namespace ingot::driver {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr double secondsOfFigure = 0.04;

/// Returns the best rate of many turns, each of which does `work`.
template <typename Iteration> double rateOf(double work, Iteration turn) {
  double best = std::numeric_limits<double>::infinity(), end = now() + secondsOfFigure;
  while (now() < end) {
    double begin = now();
    turn();
    best = std::min(best, now() - begin);
  }
  return work / best;
}

/// Returns the sum of what all threads reach at the same time.
template <typename Measure> double onThreads(int threads, Measure measure) {
  std::vector<double> rates(size_t(threads), 0);
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&, i] { rates[size_t(i)] = measure(); });
  }
  rates[0] = measure();
  llvm::for_each(others, [](std::thread &thread) { thread.join(); });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// Returns the bytes a second that come from an array with `bytes` bytes.
double readingRate(const ingot_roof_loops &loops, size_t bytes) {
  constexpr size_t alignment = 64, bytesOfIteration = 1 << 20;
  std::vector<char> memory(bytes + alignment); // this touches all of it
  const char *aligned = memory.data() + (alignment - reinterpret_cast<uintptr_t>(memory.data()) % alignment);
  size_t repeats = bytesOfIteration / std::max<size_t>(1, bytes) + 1;
  return rateOf(double(bytes * repeats), [&] {
    for (size_t i = 0; i < repeats; ++i) {
      loops.read(aligned, bytes);
    }
  });
}

} // namespace

target::Roof measuredRoof(const target::MachineModel &machine, int threads) {
  const ingot_roof_loops &loops = *ingot_roof_loops_for(machine.lanes);
  target::MachineModel host = machine;
  if (std::optional<target::MachineModel> native = target::hostMachine()) {
    host.l1Bytes = native->l1Bytes, host.l2Bytes = native->l2Bytes, host.l3Bytes = native->l3Bytes;
  }
  target::Roof roof = target::roofOf(host);
  roof.measured = true;
  constexpr int64_t iterations = 10000;
  roof.multiplyAdds = onThreads(threads, [&] {
    return rateOf(double(loops.lanes * ingot_roof_sums * iterations), [&] { loops.multiply(iterations); });
  });
  const int64_t beyondCaches = std::max<int64_t>(int64_t(64) << 20, 4 * host.l3Bytes);
  const int64_t arrays[] = {host.l1Bytes / 2, host.l2Bytes / 2, host.l3Bytes / 2, beyondCaches};
  for (auto [level, bytes] : llvm::zip_equal(roof.levels, arrays)) {
    level.bytes = onThreads(threads, [&, bytes = size_t(bytes)] { return readingRate(loops, bytes); });
  }
  return roof;
}

std::optional<target::Roof> roofOf(const LoadedModel &model, bool here, int level, int threads) {
  llvm::SmallVector<llvm::StringRef> specs;
  llvm::StringRef(model.manifest().target).split(specs, ',');
  for (llvm::StringRef spec : specs) {
    llvm::Expected<target::MachineModel> machine = target::resolveMachine(spec.str());
    if (!machine) {
      llvm::consumeError(machine.takeError());
      return std::nullopt;
    }
    if (model.manifest().levels.empty() || machine->level == level) {
      return here ? measuredRoof(*machine, threads) : target::roofOf(*machine);
    }
  }
  return std::nullopt;
}

} // namespace ingot::driver
