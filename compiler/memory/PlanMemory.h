// Plans where every buffer of a run lies, in the arena or in what the caller passes, and writes the memory form.
#pragma once
#include "compiler/memory/ArenaPlanner.h"
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::memory {

/// The plan as reports show it. Where sizes depend on the model's symbols, the figures are those for symbols at their
/// bounds, or at `someSize` where they have none.
struct MemoryPlan {
  std::vector<BufferLifetime> buffers;
  std::vector<std::string> names;
  std::vector<int64_t> devices; ///< by buffer: the device in whose memory it lies
  std::vector<int64_t> traffic; ///< by buffer: bytes that a run reads and writes of it; 0 where there is one memory
  ArenaPlan arena; ///< its peak and bound are the host's; its offsets are those of all buffers, each in the arena of
                   ///< its device
  /// The memories in which the host's buffers lie, one part of the arena behind the other; empty: it is in one.
  std::vector<plan::MemoryInfo> memories;
  std::vector<size_t> memoryOf; ///< by buffer: the number of its memory, where there are several
  int64_t streamBytes = 0;      ///< that streamed weights take at one time, at most
  /// For each output the input in whose memory the caller may have it written, or -1.
  std::vector<int64_t> inPlaceOf;
  /// What the run asks its host for.
  std::vector<plan::AllocationInfo> allocations;
};

constexpr int64_t someSize = 128; ///< the value of a symbol without a bound in the figures of a plan

/// Writes the memory form of `function` (compiler/plan/MemoryForm.td) in its place. Where a buffer has no largest size
/// within the bounds of `symbols`, slots have no places, but lie above others.
///
/// The run asks its host for buffers that nothing bounds; that is an error unless it `mayAllocate`. All other buffers
/// begin at multiples of `alignment` bytes.
///
/// If there are several `memories`, the host's buffers are divided among them (DivideBuffers.h). The part in each
/// memory ends with `alignment` bytes that no buffer has, since vectors may be read past the end of a tensor. A part is
/// larger than its memory if no division was found that fits.
mlir::FailureOr<MemoryPlan> planMemory(mlir::func::FuncOp function, llvm::ArrayRef<plan::SymbolInfo> symbols = {},
                                       bool mayAllocate = true, int64_t alignment = 64,
                                       llvm::ArrayRef<plan::MemoryInfo> memories = {});

/// Returns the plan as `ingot inspect --memory` prints it: the arena (renderArenaPlan), or each memory's part.
std::string renderMemoryPlan(const MemoryPlan &plan);

} // namespace ingot::memory
