// Estimates the cycles of a run on a core that executes instructions in order, from the model's optimized LLVM IR and
// the target's table of cycles (target::MachineModel::InstructionCycles).
//
// Each instruction counts as often as its loops run, whose lengths are numbers in the IR of a model of fixed sizes; of
// a loop whose length depends on data its most iterations count, and of a branch both sides. Caches and what waits for
// its operands do not count.
//
// If reads of the flash wait, the estimate assumes that code and constants are in it, and that there is no prefetch.
// Constants are read in their order, so a line of the flash makes a run wait once. Code waits once for each line, too,
// and again at each branch and call. A core that keeps code in a cache does not wait for code. Weights whose place only
// the caller knows (--weights extern) do not wait.
#pragma once
#include "compiler/emit/BuildInfo.h"
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace ingot::emit {

/// Returns what a call of the function takes, with all that it calls, where a read of the flash waits so many cycles.
CycleEstimate estimateCycles(llvm::Module &ir, llvm::TargetMachine &target, llvm::StringRef function,
                             const target::MachineModel::InstructionCycles &cycles, int64_t flashWaitStates);

} // namespace ingot::emit
