// Ops that only move elements, described once as boxes of the result and where their elements come from: the
// description serves constants (evaluateMovement) and the kernel family Move.
#pragma once
#include "compiler/support/Size.h"
#include "compiler/support/Strided.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace ingot::onnx {

/// A box of the result.
struct Piece {
  static constexpr int fill = -1;
  support::Sizes start, sizes;            ///< over Movement::shape
  int operand = 0;                        ///< which operand it is copied from; fill: none
  support::Strided<support::Size> source; ///< over the box's axes, in elements of the row-major operand
};

struct Movement {
  support::Sizes shape; ///< the result's, an axis possibly split into several
  llvm::SmallVector<Piece, 1> pieces;
  int fillOperand = -1;            ///< what fills boxes without a source; -1: zero
  llvm::SmallVector<int64_t> axes; ///< of each entry of `shape` the result's axis; empty: one to one
};

llvm::LogicalResult evaluateMovement(mlir::Operation *op, const Movement &movement,
                                     llvm::ArrayRef<mlir::ElementsAttr> operands,
                                     llvm::SmallVectorImpl<mlir::ElementsAttr> &results);

/// Tensors of some shapes one behind the other along an axis; `shape` is the result's.
Movement joined(llvm::ArrayRef<support::Sizes> operands, int64_t axis, support::Sizes shape);

/// The element of operand 0 where the result of a Mover begins, when its elements lie there one behind the other.
std::optional<support::Size> contiguousOffset(mlir::Operation *op);
/// The operand, none of whose elements is missing, that the first piece of a movement puts at the result's beginning.
std::optional<int64_t> extendedOperand(const Movement &movement);

} // namespace ingot::onnx
