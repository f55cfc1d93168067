// Where every buffer of a run lies: in the arena, or in what the caller passes.
#pragma once
#include "compiler/memory/ArenaPlanner.h"
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::memory {

/// Where sizes depend on the model's symbols, the figures are those for symbols that are at their bounds, or
/// `someSize`.
struct MemoryPlan {
  std::vector<Buffer> buffers;
  std::vector<std::string> names;
  std::vector<int64_t> devices; ///< of the buffers
  ArenaPlan arena;              ///< of the host; its offsets are those of all buffers, each in the arena of its device
  /// For each output the input in whose memory the caller may have it written; -1: none.
  std::vector<int64_t> inPlaceOf;
  std::vector<plan::AllocationInfo> allocations;
};

constexpr int64_t someSize = 128; ///< of a symbol, where a plan for one size is drawn up

/// Writes the memory form of `function` (compiler/plan/MemoryForm.td) in its place. Where a buffer has no largest size
/// within the bounds of `symbols`, slots have no places, but lie above others.
///
/// Buffers that nothing bounds are memory that the run asks for: an error, unless it `mayAsk`. The others begin at
/// multiples of `alignment`.
mlir::FailureOr<MemoryPlan> planMemory(mlir::func::FuncOp function, llvm::ArrayRef<plan::SymbolInfo> symbols = {},
                                       bool mayAsk = true, int64_t alignment = 64);

} // namespace ingot::memory
