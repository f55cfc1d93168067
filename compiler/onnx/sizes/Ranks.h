// How many axes a result has where its sizes are not known. graph::resolve needs that of what it puts into sequences,
// scans and loops, long before the sizes are read.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include <optional>

namespace ingot::onnx {

class ShapeOp;
/// Returns the sizes that a Shape gives; its operand's sizes must be known.
Sizes sizesGiven(ShapeOp op);

/// A tensor of so many axes of any size; where the number is not known, one of any.
mlir::Type typeOfRank(std::optional<int64_t> rank, mlir::Type element);
/// Checks a rank that comes from the length of a list, too: `op` fails with a message if no tensor has so many axes.
mlir::FailureOr<mlir::Type> typeOfRank(mlir::Operation *op, std::optional<int64_t> rank, mlir::Type element);
/// Adds a type that may have failed.
mlir::LogicalResult push(llvm::SmallVectorImpl<mlir::Type> &types, const mlir::FailureOr<mlir::Type> &type);

/// The rank of a value; nothing where it is not known.
std::optional<int64_t> knownRank(mlir::Value v);
/// The rank of the first of the values, all of which must have the same, that is known.
std::optional<int64_t> commonRank(mlir::ValueRange values);
/// How many entries a list (a tensor of one dimension: axes, pads, a shape) has; nothing where only the run knows.
std::optional<int64_t> entriesOf(mlir::Value list);

} // namespace ingot::onnx
