// How long an op takes, by estimate: enough to decide where it runs, and to say why.
#pragma once
#include "compiler/target/MachineModel.h"

namespace ingot::target {

/// What an op does in one run of the model.
struct Work {
  double multiplyAdds = 0; ///< of products and convolutions
  double operations = 0;   ///< on elements, of everything else
  double bytes = 0;        ///< read and written
};

/// What the machine says or, where it says nothing, what one core of a CPU with such vectors attains.
MachineModel::Rates ratesOf(const MachineModel &machine);

/// Arithmetic and memory keep one another waiting only a little: the longer of the two.
double secondsFor(const Work &work, const MachineModel::Rates &rates);

} // namespace ingot::target
