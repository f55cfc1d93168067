// One entry for several bodies: functions that do the same for other sizes.
#pragma once
#include "compiler/plan/Model.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace ingot::lower {

/// A body that buildEntry() wrote with this suffix, and the sizes that it is for: one a symbol, none for any.
struct BodySizes {
  std::string suffix;
  std::vector<std::optional<int64_t>> sizes;
};

/// Writes NAME_run and NAME_plan, which hand each run to the first body that is for its sizes. Other sizes are refused.
void buildDispatch(mlir::ModuleOp module, const plan::ModelInfo &info, llvm::ArrayRef<BodySizes> bodies);

} // namespace ingot::lower
