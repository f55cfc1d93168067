// Where every buffer of a run lies: in the arena, or in what the caller passes.
#pragma once
#include "compiler/memory/ArenaPlanner.h"
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::memory {

struct MemoryPlan {
  std::vector<Buffer> buffers;
  std::vector<std::string> names;
  ArenaPlan arena;
  /// For each output the input in whose memory the caller may have it written; -1: none.
  std::vector<int64_t> inPlaceOf;
  std::vector<int64_t> asked; ///< memory that the run asks for: the output that it is, or -1
  std::vector<plan::AllocationInfo> allocations;
  bool open = false; ///< offsets depend on the model's symbols: the figures are those for symbols that are at their
                     ///< bounds, or `someSize`
};

constexpr int64_t someSize = 128; ///< of a symbol, where a plan for one size is drawn up

/// Gives each plan.launch its places: `plan.places` is a #plan.place for each result and, when it has one, the scratch.
/// Control ops get them too, an onnx.Loop one more for the iteration's number, where the body reads it; in offsets
/// within its body the loop's `plan.number` ("#0") stands for that number. Where a buffer has no largest size within
/// the bounds of `symbols`, the function gets `plan.buffers`: for each buffer its bytes (a size) and the numbers of
/// those below it, all before it in the list. Its offset is the largest end of these, ends being rounded up to 64
/// bytes.
///
/// Buffers that nothing bounds are memory that the run asks for (an error, unless it `mayAsk`): the function lists them
/// in `plan.asked`, by the model's output that each is, or -1. `plan.asks` of an op lists what it needs there
/// (#plan.ask), `plan.releases` what is given back behind it.
mlir::FailureOr<MemoryPlan> planMemory(mlir::func::FuncOp function, llvm::ArrayRef<plan::SymbolInfo> symbols = {},
                                       bool mayAsk = true);

} // namespace ingot::memory
