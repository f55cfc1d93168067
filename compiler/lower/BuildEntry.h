// The model's entry: plan.launch ops become calls with the addresses that the memory phase chose. No tensor is left.
#pragma once
#include "compiler/plan/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::lower {

constexpr int64_t indexErrorKind = 5; ///< INGOT_ERROR_INDEX of ingot.h: the status of a checked kernel that failed

/// Replaces `function` by NAME_run(inputs..., outputs..., workspace, exec) -> i32 over i8 memrefs (bare pointers), and
/// declares the external weights NAME_weights. Names of the nodes that checked kernels may report are appended to
/// `info.nodes`.
void buildEntry(mlir::func::FuncOp function, int64_t workspaceBytes, int64_t weightBytes, plan::ModelInfo &info);

} // namespace ingot::lower
