// Flags that concern the model, bound once, so that every subcommand that compiles one has the same.
#pragma once
#include "compiler/driver/commands/CommandLine.h"
#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the library's own
class App;
class Option;
} // namespace CLI

namespace ingot::driver {

/// The model's path, and how it is compiled.
void addModelFlags(CLI::App &app, Invocation &invocation, const char *modelHelp);
void addLoadTarget(CLI::App &app, Invocation &invocation);
/// Those flags on the command line that a compiled model cannot obey any more.
std::vector<std::string> givenCompileFlags(const CLI::App &app);

/// An option that takes one value each time it is given (CLI11 would take all that follow).
CLI::Option *repeated(CLI::Option *option);

} // namespace ingot::driver
