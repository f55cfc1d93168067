// Estimates how long an op takes: enough to decide where it runs, and to say why.
#pragma once
#include "compiler/target/Roof.h"

namespace ingot::target {

/// The work of an op in one run of the model.
struct Work {
  double multiplyAdds = 0; ///< multiply-adds of products and convolutions
  double operations = 0;   ///< operations on elements of all other ops
  double bytes = 0;        ///< bytes that are read and written
};

/// Returns the rates of the machine, or those that one core of a CPU with such vectors attains, where it says nothing.
inline MachineModel::Rates ratesOf(const MachineModel &machine) {
  if (machine.rates) {
    return *machine.rates;
  }
  // A vector of multiply-adds each cycle (half of what processors with two units can do, which is what
  // kernels reach in the mean over a network), and of other operations one in three cycles (a sum takes one or two, an
  // exponential sixteen). One core reads and writes some 10 GB/s beyond its caches. A kernel is a call.
  auto lanes = static_cast<double>(machine.lanes);
  return {usualHertz * lanes, usualHertz / 3 * lanes, 10e9, 0.1e-6};
}

/// Returns the seconds of some work. Arithmetic and memory keep one another waiting only a little: the longer of the
/// two counts.
inline double secondsFor(const Work &work, const MachineModel::Rates &rates) {
  double arithmetic = work.multiplyAdds / rates.multiplyAdds + work.operations / rates.operations;
  return std::max(arithmetic, work.bytes / rates.bytes);
}

} // namespace ingot::target
