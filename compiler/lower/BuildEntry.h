// The model's entry: a run in the memory form (plan/MemoryForm.td) becomes calls with addresses.
#pragma once
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::lower {

constexpr int64_t nullErrorKind = 1;   ///< INGOT_ERROR_NULL: the host gives no memory
constexpr int64_t memoryErrorKind = 9; ///< INGOT_ERROR_MEMORY: it gave none to a node
constexpr int64_t indexErrorKind = 5;  ///< INGOT_ERROR_INDEX of ingot.h: the status of a checked kernel that failed
constexpr int64_t sizeErrorKind = 12; ///< INGOT_ERROR_SIZE: the model's symbols are such that no tensor can have a size
constexpr int64_t mostUnbounded = int64_t(1) << 40; ///< the largest size that a run takes from data without a bound
constexpr int64_t absentErrorKind = 14; ///< INGOT_ERROR_ABSENT: a node needs an optional input that was left out
constexpr int64_t targetErrorKind = 16; ///< INGOT_ERROR_TARGET: the machine has none of the model's levels

/// Replaces `function` by NAME_run(inputs..., outputs..., symbols..., workspace, exec) -> i32 over i8 memrefs (bare
/// pointers) and indices, and declares the external weights NAME_weights. Names of the nodes that a status may carry
/// are appended to `info.nodes`; numbers of launches count from `firstLaunch` on.
/// One body of several (see BuildDispatch.h) has a suffix: its functions are called NAME SUFFIX _run and so on, are
/// private, and take all symbols of `info`, those that are numbers in this body included.
///
/// A model with symbols also gets NAME_plan(symbols: memref<i64>, dims: memref<i64>, workspace: memref<1xi64>) -> i32:
/// the dims of all outputs, one after the other, and the bytes of the workspace and, behind them, of each device's,
/// `slackBytes` included; or the status for which NAME_run would refuse such symbols.
///
/// Calls that a device runs, or several threads, carry attributes for the exits; see emit/Emit.h.
void buildEntry(mlir::func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes,
                int64_t firstLaunch, plan::ModelInfo &info, llvm::StringRef suffix = "");

} // namespace ingot::lower
