// Describes ops that only move elements as boxes of the result and where their elements come from: constants
// (evaluateMovement) and the kernel family Move use the same description.
#pragma once
#include "compiler/support/Size.h"
#include "compiler/support/Strided.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace ingot::onnx {

/// A box of the result.
struct MovedBox {
  static constexpr int fill = -1;
  support::Sizes start, sizes; ///< the place and size of the box in Movement::shape
  int operand = 0;             ///< the operand that it is copied from; `fill`: it is copied from none
  /// The operand's elements over the box's axes, in elements of the row-major operand.
  support::Strided<support::Size> source;
};

struct Movement {
  support::Sizes shape; ///< the result's shape, in which an axis may be split into several
  llvm::SmallVector<MovedBox, 1> boxes;
  int fillOperand = -1;            ///< the operand that fills boxes without a source; -1: they are zero
  llvm::SmallVector<int64_t> axes; ///< for each entry of `shape` the result's axis; empty: they are the same
};

llvm::LogicalResult evaluateMovement(mlir::Operation *op, const Movement &movement,
                                     llvm::ArrayRef<mlir::ElementsAttr> operands,
                                     llvm::SmallVectorImpl<mlir::ElementsAttr> &results);

/// Returns the movement that puts tensors of some shapes one behind the other along an axis; `shape` is the result's.
Movement joined(llvm::ArrayRef<support::Sizes> operands, int64_t axis, support::Sizes shape);

/// Returns the element of operand 0 where the result of a Mover begins, when its elements lie there one behind the
/// other.
std::optional<support::Size> contiguousOffset(mlir::Operation *op);
/// Returns the operand, none of whose elements is missing, that the first box of a movement puts at the result's
/// beginning.
std::optional<int64_t> extendedOperand(const Movement &movement);

} // namespace ingot::onnx
