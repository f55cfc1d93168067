// Makes what reproduces a failure: of a compilation, `ingot compile` with the model and all that it was told; of a run,
// the command line with its data.
#pragma once
#include "compiler/driver/Crash.h"
#include "compiler/driver/commands/CommandLine.h"

namespace ingot::driver {

/// `external`: the model's files of external data, by the names that it gives them.
Reproduction reproductionOf(const pipeline::Options &options, const std::map<std::string, std::string> &external);

/// Reproduces the command line, with the files that it names in one folder.
Reproduction reproductionOf(const Invocation &invocation, int argc, const char *const *argv);

} // namespace ingot::driver
