// The sliding window of convolutions and pools: kernel, strides, dilations and padding in one form, whichever way the
// node said it.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Shapes.h"

namespace ingot::onnx {

/// One entry a spatial axis in each list. `before`, `after` and `out` are dynamic where the input's size is not known
/// yet.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, before, after, out;

  size_t rank() const { return kernel.size(); }
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  /// (before, after) of each axis.
  llvm::SmallVector<int64_t> pads() const;
};

/// Reads the attributes strides, dilations, pads, auto_pad (and ceil_mode) of `op`, whose window of `kernel` slides
/// over `spatial`. A contradiction is reported.
llvm::FailureOr<Window> windowOf(mlir::Operation *op, llvm::ArrayRef<int64_t> spatial, llvm::ArrayRef<int64_t> kernel);

/// The same for ConvTranspose, where `out` is what the window scatters into (output_padding and output_shape as well).
llvm::FailureOr<Window> transposedWindowOf(mlir::Operation *op, llvm::ArrayRef<int64_t> spatial,
                                           llvm::ArrayRef<int64_t> kernel);

/// `out` for sizes that may be expressions; those that are not known stay unknown. Not for transposed windows.
Sizes outSizes(const Window &window, mlir::Operation *op, llvm::ArrayRef<Size> spatial);

/// kernel_shape when given, else the dimensions of the weights behind their first two. Nothing when neither is known.
std::optional<llvm::SmallVector<int64_t>> kernelOf(mlir::Operation *op, mlir::Value weights);

/// Replaces auto_pad by the pads that it means; fails quietly when there is nothing to do or the pads are not known
/// yet.
llvm::LogicalResult explicitPads(mlir::Operation *op, const Window &window, mlir::PatternRewriter &rewriter);

/// The constant behind a value of the graph, or behind an argument of the region of a kernel, one to one with the
/// kernel's operands.
mlir::ElementsAttr constantThrough(mlir::Value v);

} // namespace ingot::onnx
