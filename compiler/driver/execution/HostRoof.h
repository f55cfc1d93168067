// What this machine can do at most, measured (target/Roof.h).
#pragma once
#include "compiler/driver/execution/LoadedModel.h"
#include "compiler/target/Roof.h"

namespace ingot::driver {

/// Of code for `machine` on so many threads of this host, measured in a quarter of a second; caches are the host's.
target::Roof measuredRoof(const target::MachineModel &machine, int threads);

/// Of a model that runs: measured, or where it runs on another machine (`here` is false) what the model of that says.
/// Nothing where nobody knows the machine. `level`: of a model with several, the one that runs.
std::optional<target::Roof> roofOf(const LoadedModel &model, bool here, int level, int threads);

} // namespace ingot::driver
