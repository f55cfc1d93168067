// Gives kernels the schedules that a table has for them (target/Schedules.h), instead of those that the model of the
// machine chooses.
#pragma once
#include "compiler/plan/Plan.h"
#include "compiler/target/Schedules.h"

namespace ingot::lower {

/// Holds, on a kernel, the text of the schedule that it is to have.
inline constexpr llvm::StringLiteral scheduleName = "plan.schedule";
/// Holds, on a launch whose kernel has several schedules, the name that a table has for the kernel.
inline constexpr llvm::StringLiteral kernelName = "plan.kernel_key";

/// Returns the name that a table has for a kernel: its family, the sizes of its operands, and a hash of all that a
/// builder may look at.
std::string keyOf(plan::KernelOp kernel, llvm::StringRef family);

/// Returns the schedule that a kernel is to have, given its root or another op in it. It is empty where the model of
/// the machine decides.
target::Schedule requestedSchedule(mlir::Operation *root);

/// Holds, on a launch, how its kernel is computed, and what else there was (Choice::text).
inline constexpr llvm::StringLiteral choiceName = "plan.choice";

/// What is asked about schedules while kernels are lowered, and the answers.
struct ScheduleRequest {
  const target::ScheduleTable *table = nullptr; ///< the schedules to use; null: there is no table
  bool explains = false;                        ///< whether remarks say for which kernels the table has nothing
  bool lists = false;                           ///< whether `choices` are wanted
  /// The nodes of whose kernels remarks say how they are computed; "*" for all nodes.
  std::vector<std::string> remarks = {};
  /// By the name that a table has for a kernel, all schedules that it can have.
  std::map<std::string, target::ScheduleChoices> choices = {};
};

} // namespace ingot::lower
