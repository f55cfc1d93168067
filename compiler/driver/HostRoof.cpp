// Multiplications: twelve sums that do not depend on each other, so that the latency of a multiply-add is hidden.
// Bytes: sums over an array that takes half of a level, in eight streams. Each figure is the best of many short turns:
// what others on the machine take away is not counted. Several threads measure at the same time, and their rates are
// added.
#include "compiler/driver/HostRoof.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <numeric>
#include <thread>

namespace ingot::driver {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr int sums = 12, streams = 8;
constexpr double secondsOfFigure = 0.04;
volatile float kept; ///< what would otherwise not be computed

template <int width> struct Register {
  typedef float Type __attribute__((vector_size(width))); // NOLINT(modernize-use-using): of a dependent size
};

/// Multiply-adds in `turns` of the loop.
template <int width, bool fused> [[gnu::always_inline]] inline void multiply(int64_t turns) {
  using Vector = typename Register<width>::Type;
  Vector sum[sums], a = {}, b = {};
  a += 0.999F + kept, b += 1e-6F;
  for (int i = 0; i < sums; ++i) {
    sum[i] = b * static_cast<float>(i);
  }
  for (int64_t turn = 0; turn < turns; ++turn) {
#pragma clang loop unroll(full)
    for (int i = 0; i < sums; ++i) { // NOLINT(modernize-loop-convert): unrolled
      if constexpr (fused) {
        sum[i] = __builtin_elementwise_fma(sum[i], a, b);
      } else {
        sum[i] = sum[i] * a + b;
      }
    }
    __asm__ volatile("" ::: "memory");
  }
  Vector all = sum[0];
  for (int i = 1; i < sums; ++i) {
    all += sum[i];
  }
  kept = all[0] * 0;
}

/// Reads the array once.
template <int width> [[gnu::always_inline]] inline void read(const char *memory, size_t bytes) {
  using Vector = typename Register<width>::Type;
  Vector sum[streams] = {};
  size_t part = bytes / streams / width * width;
  for (size_t at = 0; at < part; at += width) {
#pragma clang loop unroll(full)
    for (int i = 0; i < streams; ++i) {
      sum[i] += *reinterpret_cast<const Vector *>(memory + size_t(i) * part + at);
    }
  }
  __asm__ volatile("" ::: "memory");
  Vector all = sum[0];
  for (int i = 1; i < streams; ++i) {
    all += sum[i];
  }
  kept = all[0] * 0;
}

/// The loops for vectors of one length.
struct Loops {
  int64_t lanes;
  void (*multiply)(int64_t turns);
  void (*read)(const char *memory, size_t bytes);
};

// The features are those that the machine model of such code has; whoever asks has found that the host has them.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiply64(int64_t turns) { multiply<64, true>(turns); }
__attribute__((target("avx512f"))) void read64(const char *memory, size_t bytes) { read<64>(memory, bytes); }
__attribute__((target("avx2,fma"))) void multiply32(int64_t turns) { multiply<32, true>(turns); }
__attribute__((target("avx2,fma"))) void read32(const char *memory, size_t bytes) { read<32>(memory, bytes); }
constexpr Loops allLoops[] = {
    {16, multiply64, read64}, {8, multiply32, read32}, {4, multiply<16, false>, read<16>}};
#else
constexpr Loops allLoops[] = {{4, multiply<16, true>, read<16>}};
#endif

/// The best rate of many turns, each of which does `work`.
template <typename Turn> double rateOf(double work, Turn turn) {
  double best = std::numeric_limits<double>::infinity(), end = now() + secondsOfFigure;
  while (now() < end) {
    double begin = now();
    turn();
    best = std::min(best, now() - begin);
  }
  return work / best;
}

/// The sum of what all threads reach at the same time.
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

} // namespace

target::Roof measuredRoof(const target::MachineModel &machine, int threads) {
  const Loops &loops = *std::find_if(std::begin(allLoops), std::end(allLoops) - 1,
                                     [&](const Loops &row) { return row.lanes <= machine.lanes; });
  target::MachineModel host = machine;
  if (llvm::Expected<target::MachineModel> native = target::resolveMachine("native")) {
    host.l1Bytes = native->l1Bytes, host.l2Bytes = native->l2Bytes, host.l3Bytes = native->l3Bytes;
  } else {
    llvm::consumeError(native.takeError());
  }
  target::Roof roof = target::roofOf(host);
  roof.measured = true;
  constexpr int64_t turns = 10000;
  roof.multiplyAdds = onThreads(threads, [&] {
    return rateOf(double(loops.lanes * sums * turns), [&] { loops.multiply(turns); });
  });
  const int64_t most = std::max<int64_t>(int64_t(64) << 20, 4 * host.l3Bytes);
  const int64_t halves[] = {host.l1Bytes / 2, host.l2Bytes / 2, host.l3Bytes / 2, most};
  for (auto [level, bytes] : llvm::zip_equal(roof.levels, halves)) {
    level.bytes = onThreads(threads, [&, bytes = size_t(bytes)] {
      std::vector<char> memory(bytes + 64); // touched now
      const char *aligned = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
      size_t repeats = (size_t(1) << 20) / std::max<size_t>(1, bytes) + 1;
      return rateOf(double(bytes * repeats), [&] {
        for (size_t i = 0; i < repeats; ++i) {
          loops.read(aligned, bytes);
        }
      });
    });
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
    if (!model.manifest().hasLevels || machine->level == level) {
      return here ? measuredRoof(*machine, threads) : target::roofOf(*machine);
    }
  }
  return std::nullopt;
}

} // namespace ingot::driver
