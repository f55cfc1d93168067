// Budgets of `ingot compile --budget flash=256K,ram=64K,stack=2K,cycles=20M@cortex-m4`: how much a model may take
// before its files are refused, and the table of what takes it. The head of emit/BuildInfo.h defines what counts as
// flash, RAM and stack, and emit/CycleEstimate.h what a cycle is.
#pragma once
#include "compiler/pipeline/Pipeline.h"
#include <optional>
#include <string>

namespace ingot::driver {

/// Bytes, or cycles, that a model may take of each kind; nothing: any number.
struct Budget {
  std::optional<int64_t> flash, ram, stack, cycles;
  std::string core = {}; ///< the target that the cycles are for: others are refused; empty: any
  bool isGiven() const { return flash || ram || stack || cycles; }
};

/// Reads a number that may end in K or M, which stand for `thousand` and its square; nothing: it is none.
std::optional<int64_t> parseAmount(llvm::StringRef text, int64_t thousand);

/// Adds "flash=256K,ram=65536" to a budget, and returns what is wrong with the text; nothing where it is right.
std::string parseBudget(const std::string &text, Budget &budget);

/// Returns why the budget does not hold, or a memory of --memories has no room for its part of the workspace, with a
/// table of what takes most; nothing where all is kept.
std::string exceeds(const Budget &budget, const pipeline::Options &options, const pipeline::Result &result,
                    const plan::ModelInfo &model, const emit::BuildSizes &sizes);

} // namespace ingot::driver
