// Writes one entry for several variants: functions that do the same for other sizes, or on other machines.
#pragma once
#include "compiler/plan/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace ingot::entry {

/// A variant that buildEntry() wrote.
struct VariantSizes {
  /// What is behind the model's name in the names of the variant's functions.
  std::string suffix;
  /// The size of each symbol that the variant is for; nothing for any size.
  std::vector<std::optional<int64_t>> sizes;
  /// The level (ingot_machine_level) that a machine must have to run the variant; 0: the model is for one machine.
  int32_t level = 0;
  /// Whether it takes the runs without the model's devices. Where some variant does, the others take runs with them.
  bool onHost = false;
};

/// Writes NAME_run and NAME_plan. NAME_run hands each run to the first variant that is for its sizes and that the
/// machine can run, of which those of the highest level come first. Other sizes, and machines below all levels, are
/// refused. NAME_plan gives a workspace that is enough for any level, as a run may be told to take a lower one, and
/// with devices or without them.
void buildDispatch(mlir::ModuleOp module, const plan::ModelInfo &info, llvm::ArrayRef<VariantSizes> variants);

} // namespace ingot::entry
