// Schedules that a table says for kernels (target/Schedules.h), instead of those that the model of the machine chooses.
#pragma once
#include "compiler/plan/Plan.h"
#include "compiler/target/Schedules.h"

namespace ingot::lower {

/// Attribute of a kernel, the text of the schedule that it is to have.
inline constexpr llvm::StringLiteral scheduleName = "plan.schedule";
/// Attribute of a launch whose kernel has several schedules: what a table calls the kernel.
inline constexpr llvm::StringLiteral kernelName = "plan.kernel_key";

/// What the table calls a kernel: its family, the sizes of its operands, and a hash of all that a builder may look at.
std::string keyOf(plan::KernelOp kernel, llvm::StringRef family);

/// What a kernel is to have, by its root or another op in it; empty: as the model of the machine says.
target::Schedule scheduleSaid(mlir::Operation *root);

/// Attribute of a launch: how its kernel is computed, and what else there was (Choice::text).
inline constexpr llvm::StringLiteral choiceName = "plan.choice";

/// What is asked of schedules while kernels are lowered, and what is told.
struct ScheduleRequest {
  const target::ScheduleTable *table = nullptr; ///< null: none
  bool explains = false;                        ///< remarks say which kernels the table has nothing for
  bool lists = false;                           ///< `choices` are wanted
  /// Remarks say how the kernels of these nodes are computed, "*" for all nodes.
  std::vector<std::string> remarks = {};
  /// By what a table calls a kernel: all schedules that it can have.
  std::map<std::string, target::ScheduleChoices> choices = {};
};

} // namespace ingot::lower
