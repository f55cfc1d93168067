// Checks whether the flags of a command line go together.
#pragma once
#include "compiler/driver/commands/CommandLine.h"
#include <functional>
#include <string>

namespace ingot::driver {

/// Returns why the flags of an invocation cannot all be obeyed, naming the first one that cannot; empty if they can.
/// `isGiven` tells whether a flag of the subcommand is on the command line.
std::string checkFlags(const Invocation &invocation, const std::function<bool(const char *flag)> &isGiven);

} // namespace ingot::driver
