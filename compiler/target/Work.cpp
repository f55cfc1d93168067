#include "compiler/target/Work.h"
#include "compiler/target/Target.h"

namespace ingot::target {

MachineModel::Rates ratesOf(const MachineModel &machine) {
  if (machine.rates) {
    return *machine.rates;
  }
  // Of 3 GHz: a vector of multiply-adds each cycle (half of what processors with two units can do, which is what
  // kernels reach in the mean over a network), and of other operations one in three cycles (a sum takes one or two, an
  // exponential sixteen). One core reads and writes some 10 GB/s beyond its caches. A kernel is a call.
  constexpr double hertz = 3e9;
  auto lanes = static_cast<double>(machine.lanes);
  return {hertz * lanes, hertz / 3 * lanes, 10e9, 0.1e-6};
}

double secondsFor(const Work &work, const MachineModel::Rates &rates) {
  double arithmetic = work.multiplyAdds / rates.multiplyAdds + work.operations / rates.operations;
  return std::max(arithmetic, work.bytes / rates.bytes);
}

double Target::seconds(mlir::Operation *, const Work &work, const MachineModel &machine) const {
  return secondsFor(work, ratesOf(machine));
}

} // namespace ingot::target
