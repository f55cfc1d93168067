// Builds the model's entry: a run in the memory form (plan/MemoryForm.td) becomes calls with addresses.
#pragma once
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::entry {

/// Replaces `function` by NAME_run(inputs..., outputs..., symbols..., workspace, exec) -> i32 over i8 memrefs (bare
/// pointers) and indices, and declares the external weights NAME_weights. Names of the nodes that a status may carry
/// are appended to `info.nodes`; numbers of launches count from `firstLaunch` on.
///
/// Where the workspace is in several memories (ModelInfo::memories), there is a parameter for each part of it.
///
/// One variant of several (BuildDispatch.h) has a suffix: its functions are called NAME SUFFIX _run and so on, are
/// private, and take all symbols of `info`, also those that are numbers in this variant.
///
/// A model with symbols also gets NAME_plan(symbols: memref<i64>, dims: memref<i64>, workspace: memref<1xi64>) -> i32.
/// It writes the dims of all outputs, one after the other, and the bytes of the workspace and, behind them, of each
/// device's, `slackBytes` included. For symbols that NAME_run would refuse it returns the status of that.
///
/// Calls that a device runs, or several threads, carry attributes for the back ends; see emit/Emit.h.
void buildEntry(mlir::func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes,
                int64_t firstLaunch, plan::ModelInfo &info, llvm::StringRef suffix = "");

} // namespace ingot::entry
