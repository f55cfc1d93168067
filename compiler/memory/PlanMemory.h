// Where every buffer of a run lies: in the arena, or in what the caller passes.
#pragma once
#include "compiler/memory/ArenaPlanner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::memory {

struct MemoryPlan {
  std::vector<Buffer> buffers;
  std::vector<std::string> names;
  ArenaPlan arena;
};

/// Gives each plan.launch its places: `plan.places` is (where, byte offset) for each result and, when it has one, the
/// scratch. `where` is -1 for the arena, else the number of the function result that is written directly.
mlir::FailureOr<MemoryPlan> planMemory(mlir::func::FuncOp function);

} // namespace ingot::memory
