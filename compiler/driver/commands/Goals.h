// Names of sets of flags (--goal): what each stands for is a table, which help and documentation print.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <CLI/CLI.hpp>
#include <string>

namespace ingot::driver {

/// Adds --goal, whose word goes into `goal`.
void addGoal(CLI::App &app, std::string &goal);

/// Sets the flags that the goal stands for, but for those that the user gives.
void applyGoal(CLI::App &app, llvm::StringRef goal);

} // namespace ingot::driver
