// Reads the sliding window of convolutions and pools: kernel, strides, dilations and padding in one form, in whichever
// way the node says it.
#pragma once
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

/// A window, with an entry for each spatial axis in each list. `before`, `after` and `out` are unknown where the
/// input's size is not known.
struct Window {
  llvm::SmallVector<int64_t> kernel; ///< dynamic where only the run knows it
  Sizes taps;                        ///< the kernel as sizes
  llvm::SmallVector<int64_t> strides, dilations;
  Sizes before, after, out;

  size_t rank() const { return kernel.size(); }
  /// Returns how far the first tap is from the last one, both included, along an axis of a kernel that is known.
  int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  Size openReach(size_t i) const { return (taps[i] - 1) * Size(dilations[i]) + 1; }
};

/// Reads the attributes strides, dilations, pads, auto_pad (and ceil_mode) of `op`, whose window of `kernel` slides
/// over `spatial`. A contradiction is reported; `op` requires of the symbols what the window needs to fit.
llvm::FailureOr<Window> windowOf(mlir::Operation *op, llvm::ArrayRef<Size> spatial, llvm::ArrayRef<Size> kernel);

/// Reads the window of a ConvTranspose, where `out` is what the window scatters into (output_padding and output_shape
/// as well).
llvm::FailureOr<Window> transposedWindowOf(mlir::Operation *op, llvm::ArrayRef<Size> spatial,
                                           llvm::ArrayRef<Size> kernel);

/// Returns kernel_shape when it is given, else the dimensions of the weights behind their first two. Nothing when
/// neither is known.
std::optional<Sizes> kernelOf(mlir::Operation *op, mlir::Value weights);

/// Returns why loops over windows cannot compute a convolution, which is then written as products of gathered pixels;
/// empty: they can.
std::string whyGathered(mlir::Operation *convolution);

/// Replaces auto_pad by the pads that it means; fails quietly when there is nothing to do or the pads are not known
/// yet.
llvm::LogicalResult explicitPads(mlir::Operation *op, const Window &window, mlir::PatternRewriter &rewriter);

/// Returns the constant behind a value of the graph, or behind an argument of the region of a kernel, whose arguments
/// are one to one with the kernel's operands; the kernel may be in a kernel itself.
mlir::ElementsAttr constantThrough(mlir::Value v);

} // namespace ingot::onnx
