// One entry for several bodies: functions that do the same for other sizes, or on other machines.
#pragma once
#include "compiler/plan/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace ingot::entry {

/// A body that buildEntry() wrote with this suffix; the sizes that it is for, one a symbol, none for any; and what a
/// machine must have for it (0: the model is for one machine).
struct BodySizes {
  std::string suffix;
  std::vector<std::optional<int64_t>> sizes;
  int32_t level = 0;
};

/// Writes NAME_run and NAME_plan, which hand each run to the first body that is for its sizes and that the machine can
/// run (highest level first). Other sizes, and machines below all levels, are refused. The workspace is enough for any
/// level, as a run may be told to take a lower one.
void buildDispatch(mlir::ModuleOp module, const plan::ModelInfo &info, llvm::ArrayRef<BodySizes> bodies);

} // namespace ingot::entry
