// Computes what a core can do at most, and how long a kernel takes at least: multiplications from registers, and bytes
// from the cache in which they lie. Schedules weigh one thing against another by it, and `bench --profile` says how
// near to it each kernel is.
#pragma once
#include "compiler/target/MachineModel.h"
#include <array>
#include <string>

namespace ingot::target {

/// The clock of a core of which nothing is known.
constexpr double usualHertz = 3e9;

/// The part of a cache that data which is read again and again may take: something else is always there, too.
constexpr double cacheShare = 0.75;

/// The rates of a machine, all a second.
struct Roof {
  struct Level {
    const char *name;
    double holds; ///< bytes that stay in the level
    double bytes; ///< bytes a second that come from there
  };
  double multiplyAdds = 0; ///< multiply-adds of float32 a second
  std::array<Level, 4> levels;
  /// Whether the rates are measured; false: they follow from the machine model, at the usual clock.
  bool measured = false;

  /// Returns the level in which that many bytes stay that are used again and again.
  const Level &levelOf(double bytes) const {
    const auto *fits = std::find_if(levels.begin(), levels.end() - 1, [&](const Level &l) { return bytes <= l.holds; });
    return *fits;
  }
};

/// Returns the roof of one core by the machine model.
inline Roof roofOf(const MachineModel &machine) {
  auto holds = [](int64_t bytes) { return cacheShare * static_cast<double>(bytes); };
  auto vectorBytes = static_cast<double>(4 * machine.lanes);
  Roof roof;
  // Two vectors a cycle are multiplied, or loaded.
  roof.multiplyAdds = usualHertz * 2 * static_cast<double>(machine.lanes) / (machine.fusedMultiplyAdd ? 1 : 2);
  roof.levels = {{{"L1", holds(machine.l1Bytes), usualHertz * 2 * vectorBytes},
                  {"L2", holds(machine.l2Bytes), usualHertz * machine.l2Rate},
                  {"L3", holds(machine.l3Bytes), usualHertz * machine.l3Rate},
                  {"memory", std::numeric_limits<double>::infinity(), usualHertz * machine.memoryRate}}};
  return roof;
}

/// The work of a kernel in one run.
struct Traffic {
  /// Its own multiply-adds, of which Winograd's algorithm has fewer than the convolution, as the number of those in
  /// float32 that take as long.
  double multiplyAdds = 0;
  double weights = 0;    ///< bytes of constants
  double tensors = 0;    ///< bytes of other operands and of results
  double allWeights = 0; ///< bytes of the constants of the whole model, which each run reads
};

/// The least time in which a machine can do that: weights come from where those of the whole model stay from one run
/// to the next, other operands from where the kernel before left them.
struct Expectation {
  double arithmetic = 0, memory = 0; ///< seconds
  const Roof::Level *weightsFrom = nullptr, *tensorsFrom = nullptr;

  Expectation(const Traffic &traffic, const Roof &roof)
      : arithmetic(traffic.multiplyAdds / roof.multiplyAdds), weightsFrom(&roof.levelOf(traffic.allWeights)),
        tensorsFrom(&roof.levelOf(traffic.tensors)) {
    memory = traffic.weights / weightsFrom->bytes + traffic.tensors / tensorsFrom->bytes;
  }
  double seconds() const { return std::max(arithmetic, memory); }
  bool isByMemory() const { return memory > arithmetic; }
  /// Returns what bounds it: "arithmetic", or the level that gives most of the bytes' time.
  const char *bound(const Traffic &traffic) const {
    bool ofWeights = traffic.weights / weightsFrom->bytes > traffic.tensors / tensorsFrom->bytes;
    return !isByMemory() ? "arithmetic" : (ofWeights ? weightsFrom : tensorsFrom)->name;
  }
};

} // namespace ingot::target
