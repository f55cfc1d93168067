// Helpers for ops with regions.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

/// Calls f with every operand of the op and of the ops in its regions that is not defined inside of the op.
void eachOutsideOperand(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &)> f);

/// The first ONNX node that a location names; empty: none.
std::string nodeOf(mlir::Location loc);
/// Calls f with the name and the operator of each ONNX node that a location names.
void eachNode(mlir::Location loc, llvm::function_ref<void(llvm::StringRef node, llvm::StringRef op)> f);

/// Runs `f`, which may report errors. Returns the first one's text, located ("node 'x': text"), instead of letting it
/// out; empty when f succeeded.
std::string firstError(mlir::MLIRContext *context, llvm::function_ref<llvm::LogicalResult()> f);

/// Two sizes, of which none is found, when the condition says whether they are equal, or (second) whether they are not.
std::optional<std::pair<std::pair<Size, Size>, bool>> equalityOf(mlir::Value condition);

/// The onnx.Fail of a branch that cannot be computed, or null.
FailOp failureOf(mlir::Block &branch);
/// Makes a branch one that cannot be computed. `types` are those of its If's results.
void failInstead(mlir::Block &branch, llvm::StringRef why);

/// What two values that stand for one another (of two branches, of two iterations) have in common: equal axes, else
/// unknown ones. Null when the element types differ.
mlir::TensorType join(mlir::Type a, mlir::Type b);

/// Makes a loop of so many trips. From the iteration's number and the carried values, `body` gives the next carried
/// values and, behind them, a slice of each scan output, whose elements are `scans`.
LoopOp makeLoop(mlir::OpBuilder &b, mlir::Location loc, mlir::Value trips, mlir::ValueRange initial,
                llvm::ArrayRef<mlir::Type> scans,
                llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

/// An op like `loop` that has only the carried values and scan outputs for which `keep` (one a result) is true. Values
/// that are left out must have no uses but their own yield. Replaces the loop.
LoopOp narrowLoop(mlir::RewriterBase &rewriter, LoopOp loop, const llvm::BitVector &keep);

} // namespace ingot::onnx
