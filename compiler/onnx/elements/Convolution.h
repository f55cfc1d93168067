// Has what the standard's convolutions and those of the kernels' formats (Formats.h) have in common.
#pragma once
#include "compiler/onnx/elements/Window.h"

namespace ingot::onnx {

/// A convolution, or the adjoint of one.
struct Convolution {
  mlir::Operation *op;
  mlir::Value x, w;
  int64_t group;
  bool transposed;

  template <typename Op>
  explicit Convolution(Op op, bool transposed = false)
      : op(op), x(op.getX()), w(op.getW()), group(static_cast<int64_t>(op.getGroup())), transposed(transposed) {}

  /// Infers the type of the result, and checks the operands, as far as their shapes are known. `bias` is null where the
  /// op has none.
  llvm::LogicalResult inferTypes(llvm::SmallVectorImpl<mlir::Type> &types, mlir::Value bias, mlir::Type element) const;

  /// Returns the window of an op whose types have been inferred; failure where something is dynamic.
  llvm::FailureOr<Window> window() const;

  /// Returns the sums as products of gathered pixels, where no kernel can be made (whyGathered). `padding` lies around
  /// the image; null: zeros do. A third operand of the standard's ops is the bias.
  mlir::Value gathered(mlir::PatternRewriter &rewriter, const Window &window, mlir::Value padding = {}) const;

private:
  llvm::LogicalResult check(mlir::RankedTensorType x, mlir::RankedTensorType w, mlir::Value bias) const;
};

} // namespace ingot::onnx
