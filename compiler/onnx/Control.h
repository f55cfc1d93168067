// Helps with ops that have regions.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

/// Calls `f` with every operand of the op, and of the ops in its regions, that is not defined inside of the op.
void eachOutsideOperand(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &)> f);

/// Returns the first ONNX node that a location names; empty: it names none.
std::string nodeOf(mlir::Location loc);
/// Calls f with the name and the operator of each ONNX node that a location names.
void eachNode(mlir::Location loc, llvm::function_ref<void(llvm::StringRef node, llvm::StringRef op)> f);

/// Runs `f`, which may report errors. Returns the first one's text, located ("node 'x': text"), instead of letting it
/// out; empty when f succeeded.
std::string firstError(mlir::MLIRContext *context, llvm::function_ref<llvm::LogicalResult()> f);

/// Returns two sizes, none of which is found, when the condition says whether they are equal, or (second) whether they
/// are not.
std::optional<std::pair<std::pair<Size, Size>, bool>> equalityOf(mlir::Value condition);

/// Returns the onnx.Fail of a branch that cannot be computed, or null.
FailOp failureOf(mlir::Block &branch);
/// Makes a branch one that cannot be computed. `types` are those of its If's results.
void failInstead(mlir::Block &branch, llvm::StringRef why);

/// Returns the type that two values have in common which stand for one another (in two branches, in two iterations):
/// equal axes, else unknown ones. Null when the element types differ.
mlir::TensorType join(mlir::Type a, mlir::Type b);

/// Returns the trip count of a loop where it is a constant.
std::optional<int64_t> constantTrips(LoopOp loop);

/// Makes a loop of `trips` iterations. From the iteration's number and the carried values, `body` gives the next
/// carried values and, behind them, a slice of each scan output, whose elements are `scans`.
LoopOp makeLoop(mlir::OpBuilder &b, mlir::Location loc, mlir::Value trips, mlir::ValueRange initial,
                llvm::ArrayRef<mlir::Type> scans,
                llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

/// Replaces the loop by one that has only the carried values and scan outputs for which `keep` (one a result) is true.
/// Values that are left out must have no uses but their own yield.
LoopOp narrowLoop(mlir::RewriterBase &rewriter, LoopOp loop, const llvm::BitVector &keep);

} // namespace ingot::onnx
