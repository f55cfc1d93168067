// Chooses between code that is fast and code that is soon made, where it is known how often a model runs.
#pragma once

namespace ingot::pipeline {

struct State;

/// Marks the module where slower code takes less time in all runs than LLVM takes for better code.
void markQuickCode(State &s);

} // namespace ingot::pipeline
