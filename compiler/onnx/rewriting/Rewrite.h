// Greedy rewriting of a function by patterns, as the rooms that rewrite the graph do it.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::onnx {

/// On an op: the number of the device that computes it, once devices have been chosen (partition/PlaceNodes.h).
constexpr llvm::StringLiteral placeName = "ingot.place";

/// Gives what is written in place of an op the device of that op.
class PlaceListener : public mlir::RewriterBase::Listener {
public:
  /// From here on, ops are written in place of this one.
  void replacing(mlir::Operation *op) { place = op->getAttr(placeName); }
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

private:
  mlir::Attribute place; ///< null: the op has none
};

/// Applies patterns until none matches. Patterns with one of the labels in `without` are left out. A pattern that
/// changes the function and then fails would be tried on what it made for ever: that ends the compiler and names the
/// pattern. `changed` becomes true if one matched.
mlir::LogicalResult rewrite(mlir::func::FuncOp function, mlir::RewritePatternSet patterns,
                            llvm::ArrayRef<std::string> without = {}, bool *changed = nullptr);

} // namespace ingot::onnx
