// Rewrites a function greedily by patterns, as the rooms that rewrite the graph do it.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::onnx {

/// The name of an op's attribute with the number of the device that computes it, once devices have been chosen
/// (partition/PlaceNodes.h).
constexpr llvm::StringLiteral placeName = "ingot.place";

/// Gives ops that are written in place of an op the device of that op.
class PlaceListener : public mlir::RewriterBase::Listener {
public:
  /// Tells that ops are written in place of this one from here on.
  void replacing(mlir::Operation *op) { place = op->getAttr(placeName); }
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

private:
  mlir::Attribute place; ///< the device of the op that is replaced; null: it has none
};

/// Applies patterns until none matches. Patterns with one of the labels in `without` are left out. A pattern that
/// changes the function and then fails would be tried on its own result for ever: that ends the compiler and names the
/// pattern. `changed` becomes true if one matched.
mlir::LogicalResult rewrite(mlir::func::FuncOp function, mlir::RewritePatternSet patterns,
                            llvm::ArrayRef<std::string> without = {}, bool *changed = nullptr);

} // namespace ingot::onnx
