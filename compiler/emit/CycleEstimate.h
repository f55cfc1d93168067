// Estimates the cycles of a run on a core that executes instructions in order, from the model's optimized LLVM IR and
// the target's table of cycles (target::MachineModel::InstructionCycles).
//
// Each instruction counts as often as its loops run, whose lengths are numbers in the IR of a model of fixed sizes; of
// a loop whose length depends on data its most iterations count, and of a branch both sides. Caches, wait states of the
// flash and what waits for its operands do not count.
#pragma once
#include "compiler/emit/BuildInfo.h"
#include "compiler/target/MachineModel.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace ingot::emit {

/// Returns what a call of the function takes, with all that it calls.
CycleEstimate estimateCycles(llvm::Module &ir, llvm::TargetMachine &target, llvm::StringRef function,
                             const target::MachineModel::InstructionCycles &cycles);

} // namespace ingot::emit
